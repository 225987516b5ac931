//! How a run ends.

use std::process::ExitCode;

/// How a run ends, as the exit status of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Ended {
    Completed = 0,
    Failed = 1,
    Refused = 2,
    Interrupted = 3,
    Unrecorded = 4,
}

impl From<Ended> for ExitCode {
    fn from(ended: Ended) -> Self {
        Self::from(ended as u8)
    }
}
