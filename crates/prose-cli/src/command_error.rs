//! Errors of commands.

use std::io::{self, Write};

use prose_cluster::ClusterError;
use prose_project::FileError;
use prose_state::StateError;

use crate::status::Status;
use crate::terminal::{ERROR, Terminal, one_line};

/// The error of a command.
pub(crate) enum CommandError {
    /// The output cannot be written.
    Output(io::Error),
    /// Any other error, with a message for the user.
    Message(String),
}

impl CommandError {
    /// Writes the message and returns the exit status.
    pub(crate) fn status(done: Result<(), Self>, terminal: &Terminal) -> io::Result<Status> {
        match done {
            Ok(()) => Ok(Status::Clean),
            Err(Self::Output(error)) => Err(error),
            Err(Self::Message(message)) => {
                writeln!(terminal.stderr(), "{ERROR}error{ERROR:#}: {}", one_line(&message))?;
                Ok(Status::Trouble)
            }
        }
    }
}

impl From<io::Error> for CommandError {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

impl From<FileError> for CommandError {
    fn from(error: FileError) -> Self {
        Self::Message(error.to_string())
    }
}

impl From<StateError> for CommandError {
    fn from(error: StateError) -> Self {
        Self::Message(error.to_string())
    }
}

impl From<ClusterError> for CommandError {
    fn from(error: ClusterError) -> Self {
        Self::Message(error.to_string())
    }
}
