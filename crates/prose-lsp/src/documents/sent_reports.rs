//! What clients that ask for the diagnostics of the workspace have received.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// The programs that the last answer about the workspace had findings for. Not every client names a deleted file among the reports that it has,
/// although it still shows them.
#[derive(Debug, Default)]
pub(crate) struct SentReports(Mutex<BTreeSet<String>>);

impl SentReports {
    /// The programs of the last answer.
    pub(crate) fn last(&self) -> BTreeSet<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Remembers the programs of a new answer.
    pub(crate) fn set(&self, programs: BTreeSet<String>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = programs;
    }
}
