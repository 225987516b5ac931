//! The time that a run was stopped.

use crate::event::Event;

/// Computes how long a run was stopped before this execution.
pub(super) struct RunClock {
    /// The start of this execution.
    started: u64,
    /// The time and the pauses of the last recorded event.
    replayed: Option<(u64, u64)>,
    /// The total pauses before this execution, once computed.
    paused: Option<u64>,
}

impl RunClock {
    pub(super) fn start(started: u64) -> Self {
        Self { started, replayed: None, paused: None }
    }

    pub(super) fn replay(&mut self, event: &Event) {
        self.replayed = Some((event.at, event.paused));
    }

    /// The time that the run was stopped before and between its executions. `stopped` comes from an event that is not executed again.
    pub(super) fn paused(&mut self, stopped: impl FnOnce() -> Option<(u64, u64)>) -> u64 {
        *self.paused.get_or_insert_with(|| {
            // A run without recorded events starts at this execution.
            let last = self.replayed.map(|replayed| stopped().unwrap_or(replayed));
            last.map_or(0, |(at, paused)| paused + self.started.saturating_sub(at))
        })
    }
}
