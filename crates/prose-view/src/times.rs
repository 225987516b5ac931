//! Work, waiting for people, and stopped time, told apart.
//!
//! All times of a view are on a clock that stops while the run is stopped and while it only waits for a person: while an input or a permission is asked for and nothing
//! else is at work. So a bar or a duration is work, whether the answer came at once or on the next day.

use serde::Serialize;

/// What the time of a run was taken up by, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Times {
    /// Work.
    pub work: u64,
    /// Waiting for people, with nothing else at work.
    pub waiting: u64,
    /// Lying there between a stop or a crash and the resumption.
    pub stopped: u64,
}

/// How long the run has waited for people.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Waits {
    /// While its process ran.
    pub(crate) attended: u64,
    /// After its process had ended to wait.
    pub(crate) unattended: u64,
    /// Since when it waits, on the clock of [`prose_vm::event::Event::active_at`].
    pub(crate) since: Option<u64>,
}
