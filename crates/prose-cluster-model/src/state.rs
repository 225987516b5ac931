//! The states of a cluster.

use stateright::Representative;

use crate::server::Server;
use crate::{Effect, Leader, Memory, Worker};

/// The rows of the server and what the processes remember.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct State {
    /// The server.
    pub server: Server,
    /// The processes that may lead the run.
    pub leaders: Vec<Leader>,
    /// The workers.
    pub workers: Vec<Worker>,
    /// How many faults may still happen.
    pub faults: u8,
    /// How many requests of a person may still come.
    pub requests: u8,
}

impl State {
    /// Counts a fault. There is none if all have happened.
    pub(crate) fn fault(&mut self) -> Option<()> {
        self.faults = self.faults.checked_sub(1)?;
        Some(())
    }

    /// Counts a request of a person. There is none if all have come.
    pub(crate) fn request(&mut self) -> Option<()> {
        self.requests = self.requests.checked_sub(1)?;
        Some(())
    }

    /// What a leader knows of the run.
    pub(crate) fn memory(&mut self, leader: usize) -> Option<&mut Memory> {
        match &mut self.leaders[leader] {
            Leader::Leads { memory, .. } => memory.as_mut(),
            Leader::Waits { .. } | Leader::Down => None,
        }
    }

    /// Whether a process leads in the current epoch.
    pub(crate) fn is_led(&self) -> bool {
        self.leaders.iter().any(|leader| leader.epoch() == Some(self.server.run.epoch))
    }

    /// Whether a worker performs the current attempt of an effect.
    pub(crate) fn is_worked_on(&self, effect: Effect) -> bool {
        let attempt = self.server.effects[effect].attempt;
        self.workers.contains(&Worker::Works { effect, attempt })
    }
}

impl Representative for State {
    /// The same state with its processes in order, since rows have no names of processes.
    fn representative(&self) -> Self {
        let mut state = self.clone();
        state.leaders.sort_unstable();
        state.workers.sort_unstable();
        state
    }
}
