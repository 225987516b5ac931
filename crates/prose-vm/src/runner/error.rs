//! The reasons why a run cannot continue.

use std::fmt;
use std::io;

use crate::event::{Event, EventKind, RunEnd};
use crate::place::Site;

/// The reason why a run cannot continue, other than an error of its program.
#[derive(Debug)]
pub enum RunError {
    /// The state cannot be recorded.
    Store {
        /// The error of the store.
        error: io::Error,
        /// The part of the program that the last event belongs to.
        site: Option<Site>,
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
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Store { error, site } => {
                f.write_str("cannot record the state of the run")?;
                match site {
                    Some(Site { program: 0, line, .. }) => write!(f, " from line {line}")?,
                    Some(Site { line, .. }) => write!(f, " from line {line} of an imported program")?,
                    None => {}
                }
                write!(f, ": {error}")
            }
            RunError::Unrecorded { error, .. } => {
                write!(f, "the program has completed, but its end cannot be recorded: {error}")
            }
            RunError::Diverged(divergence) => {
                let Divergence { expected, found } = divergence.as_ref();
                let line = |event: &Event| event.site.map_or(0, |site| site.line);
                write!(
                    f,
                    "the run differs from its recording at event {}: `{}` at line {} was recorded, but `{}` at line {} happened",
                    expected.seq,
                    name(&expected.kind),
                    line(expected),
                    name(&found.kind),
                    line(found)
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
        RunError::Store { error, site: None }
    }
}
