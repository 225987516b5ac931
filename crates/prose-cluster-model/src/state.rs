//! The states of a cluster.

use stateright::Representative;

use crate::server::Server;
use crate::{Claim, Effect, Epoch, Leader, Memory, Worker};

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
    /// How often a person may still stop the run.
    pub stops: u8,
}

impl State {
    /// Counts a fault. There is none if all have happened.
    pub(crate) fn fault(&mut self) -> Option<()> {
        self.faults = self.faults.checked_sub(1)?;
        Some(())
    }

    /// Counts a stop. There is none if all have come.
    pub(crate) fn stop(&mut self) -> Option<()> {
        self.stops = self.stops.checked_sub(1)?;
        Some(())
    }

    /// What a leader knows of the run.
    pub(crate) fn memory(&mut self, leader: usize) -> Option<&mut Memory> {
        match &mut self.leaders[leader] {
            Leader::Leads { memory, .. } => memory.as_mut(),
            Leader::Waits { .. } | Leader::Down => None,
        }
    }

    /// The epoch of a leader whose program can continue, and what it knows.
    pub(crate) fn executing(&self, leader: usize) -> Option<(Epoch, Memory)> {
        match self.leaders[leader] {
            Leader::Leads { epoch, memory: Some(memory) } if !memory.is_unsure && !memory.is_ending => {
                Some((epoch, memory))
            }
            Leader::Leads { .. } | Leader::Waits { .. } | Leader::Down => None,
        }
    }

    /// Whether a process leads in the current epoch.
    pub(crate) fn is_led(&self) -> bool {
        self.leaders.iter().any(|leader| leader.epoch() == Some(self.server.run.epoch))
    }

    /// Whether a worker has the current claim of an effect.
    pub(crate) fn is_worked_on(&self, effect: Effect) -> bool {
        let current = self.server.effects[effect].claim;
        let is_current = |worker: &Worker| matches!(worker, Worker::Works { claim, .. } if *claim == current);
        self.workers.iter().any(is_current)
    }

    /// Numbers the claims in the order in which they occur: only whether two of them are the same matters.
    fn number_claims(&mut self) {
        let mut found: Vec<Claim> = Vec::new();
        let mut number = |claim: &mut Claim| {
            if *claim > 0 {
                let place = found.iter().position(|earlier| earlier == claim).unwrap_or_else(|| {
                    found.push(*claim);
                    found.len() - 1
                });
                *claim = place as Claim + 1;
            }
        };
        let Server { effects, journal, accepted, .. } = &mut self.server;
        for row in effects {
            number(&mut row.claim);
            row.outcome.iter_mut().for_each(&mut number);
        }
        journal.iter_mut().for_each(|entry| number(&mut entry.outcome));
        accepted.iter_mut().flatten().for_each(&mut number);
        for worker in &mut self.workers {
            if let Worker::Works { claim, .. } = worker {
                number(claim);
            }
        }
        for leader in &mut self.leaders {
            match leader {
                Leader::Leads { memory: Some(memory), .. } => {
                    memory.journal.iter_mut().chain(&mut memory.taken).flatten().for_each(&mut number);
                }
                Leader::Waits { replayed: Some(replayed) } => {
                    replayed.iter_mut().flatten().for_each(&mut number);
                }
                Leader::Leads { .. } | Leader::Waits { .. } | Leader::Down => {}
            }
        }
        self.server.last_claim = found.len() as Claim;
    }
}

impl Representative for State {
    /// The same state with its processes in order, since rows have no names of processes, and with the lowest numbers of claims.
    fn representative(&self) -> Self {
        let mut state = self.clone();
        state.leaders.sort_unstable();
        state.workers.sort_unstable();
        state.number_claims();
        state
    }
}
