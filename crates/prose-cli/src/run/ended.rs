//! How a run ends.

use std::io::{self, Write};
use std::process::ExitCode;

use super::printed;
use crate::terminal::{ERROR, Terminal};

/// How a run ends, as the exit status of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Ended {
    Completed = 0,
    Failed = 1,
    Refused = 2,
    Interrupted = 3,
    Unrecorded = 4,
    Waiting = 5,
    NotRecorded = 6,
}

impl From<Ended> for ExitCode {
    fn from(ended: Ended) -> Self {
        Self::from(ended as u8)
    }
}

/// Writes why a run does not start.
pub(crate) fn refuse(terminal: &Terminal, message: &str) -> io::Result<Ended> {
    writeln!(terminal.stderr(), "{ERROR}error{ERROR:#}: {}", printed::shown(message))?;
    Ok(Ended::Refused)
}
