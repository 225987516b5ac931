//! Why a report is not written.

use std::fmt;
use std::io;

use prose_state::StateError;

/// Why a report is not written.
#[derive(Debug)]
pub enum ReportError {
    /// A run cannot be read or redacted.
    Run(StateError),
    /// There is no place for a temporary file.
    Temporary(io::Error),
    /// The report cannot be written.
    Write(io::Error),
}

impl fmt::Display for ReportError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Run(error) => error.fmt(formatter),
            Self::Temporary(error) => {
                write!(formatter, "cannot create a file in `{}`: {error}", std::env::temp_dir().display())
            }
            Self::Write(error) => write!(formatter, "cannot write the report: {error}"),
        }
    }
}

impl std::error::Error for ReportError {}

impl From<StateError> for ReportError {
    fn from(error: StateError) -> Self {
        Self::Run(error)
    }
}
