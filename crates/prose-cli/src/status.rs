//! The exit status of a command.

use std::process::ExitCode;

/// How a command ends; the number is the exit status of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    /// Nothing is wrong.
    Clean = 0,
    /// The programs have errors; the command did its work.
    ErrorsFound = 1,
    /// The command could not do its work: wrong usage, or something that cannot be read or written.
    Trouble = 2,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        Self::from(status as u8)
    }
}
