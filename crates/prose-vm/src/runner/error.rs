//! The reasons why a run cannot continue.

use std::fmt;
use std::io;

use crate::event::{Event, EventKind, RunEnd};
use crate::place::NamedLine;

/// The reason why a run cannot continue, other than an error of its program.
#[derive(Debug)]
pub enum RunError {
    /// The state cannot be recorded.
    Store {
        /// The error of the store.
        error: io::Error,
        /// The line of the statement that the last event belongs to.
        line: Option<NamedLine>,
    },
    /// The program has ended, but the end cannot be recorded.
    Unrecorded {
        /// The end.
        end: Box<RunEnd>,
        /// The error of the store.
        error: io::Error,
    },
    /// The run differs from its recording.
    Diverged(Box<Divergence>),
}

/// The place where a run differs from its recording.
#[derive(Debug)]
pub struct Divergence {
    /// The recorded event.
    pub expected: Event,
    /// The event of this execution.
    pub found: Event,
    /// Their lines, in this order.
    pub lines: [Option<NamedLine>; 2],
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Store { error, line } => {
                f.write_str("cannot record the state of the run")?;
                if let Some(line) = line {
                    write!(f, " from {line}")?;
                }
                write!(f, ": {error}")
            }
            RunError::Unrecorded { error, .. } => {
                write!(f, "the program has completed, but its end cannot be recorded: {error}")
            }
            RunError::Diverged(divergence) => {
                let Divergence { expected, found, lines } = divergence.as_ref();
                let [at_expected, at_found] = lines
                    .each_ref()
                    .map(|line| line.as_ref().map_or(String::new(), |line| format!(" at {line}")));
                write!(
                    f,
                    "the run differs from its recording at event {}: `{}`{at_expected} was recorded, but `{}`{at_found} happened",
                    expected.seq,
                    name(&expected.kind),
                    name(&found.kind),
                )
            }
        }
    }
}

impl std::error::Error for RunError {}

fn name(kind: &EventKind) -> String {
    let json = serde_json::to_value(kind).unwrap_or_default();
    json.get("event").and_then(|event| event.as_str()).unwrap_or("?").to_owned()
}

impl From<io::Error> for RunError {
    fn from(error: io::Error) -> Self {
        RunError::Store { error, line: None }
    }
}
