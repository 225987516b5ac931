//! The steps between the states of a cluster.

use stateright::{Model, Property};

use crate::server::{EffectState, RunState, Server};
use crate::state::State;
use crate::{EFFECTS, Effect, Leader, Memory, Mutation, Outcomes, Worker, properties};

/// A cluster that executes one run.
#[derive(Debug, Clone, Copy)]
pub struct Cluster {
    /// How many processes may lead the run.
    pub leaders: usize,
    /// How many workers there are.
    pub workers: usize,
    /// How many crashes, pauses and lost connections there are at most.
    pub faults: u8,
    /// How often a person pauses or stops the run at most.
    pub requests: u8,
    /// What is left out of the protocol.
    pub mutation: Option<Mutation>,
}

/// What a process learns of its transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply {
    /// The reply.
    Received,
    /// Nothing: the connection was lost after the commit.
    LostAfterCommit,
    /// Nothing: the connection was lost before the commit.
    LostBeforeCommit,
}

/// A step of a process, a person or the time. The first number of a step is that of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "they are the transactions of `Server`, and what the names say")]
pub enum Action {
    Lead(usize, Reply),
    Renew(usize),
    Replay(usize),
    Collect(usize),
    Settle(usize, Reply),
    /// The second transaction of [`Mutation::SettleInTwoTransactions`].
    Mark(usize),
    Claim(usize, Effect, Reply),
    Heartbeat(usize),
    Complete(usize, Reply),
    Pause,
    Resume,
    Cancel,
    EndLease,
    EndClaim(Effect),
    LeaderRestarts(usize),
    LeaderGoesDown(usize),
    WorkerRestarts(usize),
    WorkerGoesDown(usize),
}

impl Cluster {
    fn lead(&self, state: &mut State, leader: usize, reply: Reply) -> Option<()> {
        let Leader::Waits { replayed } = state.leaders[leader] else { return None };
        if self.mutation == Some(Mutation::ReplayBeforeLead) && replayed.is_none() {
            return None;
        }
        if !state.server.can_lead() {
            let is_fast = self.mutation == Some(Mutation::LeadByOwnClock);
            if !is_fast || !state.server.run.state.is_active() {
                return None;
            }
            state.fault()?;
        }
        let epoch = state.server.lead();
        state.leaders[leader] = match reply {
            Reply::Received => Leader::Leads { epoch, memory: replayed.map(Memory::of) },
            Reply::LostAfterCommit => Leader::STARTED,
            Reply::LostBeforeCommit => return None,
        };
        Some(())
    }

    fn replay(&self, state: &mut State, leader: usize) -> Option<()> {
        let journal = state.server.replay();
        match &mut state.leaders[leader] {
            Leader::Leads { memory: memory @ None, .. } => *memory = Some(Memory::of(journal)),
            Leader::Waits { replayed } if self.mutation == Some(Mutation::ReplayBeforeLead) => {
                *replayed = Some(journal);
            }
            Leader::Leads { .. } | Leader::Waits { .. } | Leader::Down => return None,
        }
        Some(())
    }

    fn settle(&self, state: &mut State, leader: usize, reply: Reply) -> Option<()> {
        let Leader::Leads { epoch, memory: Some(memory) } = state.leaders[leader] else { return None };
        let is_needed = memory.collected != Outcomes::default() || !memory.has_asked;
        if !is_needed || memory.unmarked != Outcomes::default() {
            return None;
        }
        let after = match reply {
            Reply::LostBeforeCommit => None,
            Reply::Received | Reply::LostAfterCommit => state.server.settle(epoch, &memory, self.mutation),
        };
        state.leaders[leader] = match (reply, after) {
            (Reply::Received, Some(after)) if after.is_active() => {
                let mut next = Memory { has_asked: true, ..Memory::of(memory.settled()) };
                if self.mutation == Some(Mutation::SettleInTwoTransactions) {
                    next.unmarked = memory.collected;
                }
                Leader::Leads { epoch, memory: Some(next) }
            }
            (Reply::Received, _) => Leader::STARTED,
            _ if self.mutation == Some(Mutation::SettleAgain) => {
                Leader::Leads { epoch, memory: Some(memory) }
            }
            _ => Leader::Leads { epoch, memory: None },
        };
        Some(())
    }

    fn claim(&self, state: &mut State, worker: usize, effect: Effect, reply: Reply) -> Option<()> {
        if state.workers[worker] != Worker::Waits {
            return None;
        }
        if !state.server.can_claim(effect, self.mutation) {
            let is_claimed = state.server.effects[effect].state == EffectState::Claimed;
            let is_running = state.server.run.state == RunState::Running;
            if self.mutation != Some(Mutation::ClaimByOwnClock) || !is_claimed || !is_running {
                return None;
            }
            state.fault()?;
        }
        let attempt = state.server.claim(effect);
        match reply {
            Reply::Received => state.workers[worker] = Worker::Works { effect, attempt },
            Reply::LostAfterCommit => {}
            Reply::LostBeforeCommit => return None,
        }
        Some(())
    }

    fn complete(&self, state: &mut State, worker: usize, reply: Reply) -> Option<()> {
        let Worker::Works { effect, attempt } = state.workers[worker] else { return None };
        let is_accepted = state.server.complete(effect, attempt, self.mutation);
        match reply {
            Reply::Received => state.workers[worker] = Worker::Waits,
            // The worker sends the outcome again.
            Reply::LostAfterCommit if is_accepted => {}
            Reply::LostAfterCommit | Reply::LostBeforeCommit => return None,
        }
        Some(())
    }

    /// Changes a state by a step; `None` if the step is not possible.
    fn step(&self, state: &mut State, action: Action) -> Option<()> {
        if let Action::Lead(_, reply)
        | Action::Settle(_, reply)
        | Action::Claim(_, _, reply)
        | Action::Complete(_, reply) = action
            && reply != Reply::Received
        {
            state.fault()?;
        }
        match action {
            Action::Lead(leader, reply) => self.lead(state, leader, reply)?,
            Action::Renew(leader) => {
                let epoch = state.leaders[leader].epoch()?;
                if !state.server.renew(epoch) {
                    state.leaders[leader] = Leader::STARTED;
                }
            }
            Action::Replay(leader) => self.replay(state, leader)?,
            Action::Collect(leader) => {
                let collected = state.server.collect();
                let memory = state.memory(leader)?;
                if memory.unmarked != Outcomes::default() {
                    return None;
                }
                memory.collected = collected;
            }
            Action::Settle(leader, reply) => self.settle(state, leader, reply)?,
            Action::Mark(leader) => {
                let unmarked = std::mem::take(&mut state.memory(leader)?.unmarked);
                for effect in (0..EFFECTS).filter(|&effect| unmarked[effect].is_some()) {
                    state.server.mark(effect);
                }
            }
            Action::Claim(worker, effect, reply) => self.claim(state, worker, effect, reply)?,
            Action::Heartbeat(worker) => {
                let Worker::Works { effect, attempt } = state.workers[worker] else { return None };
                if !state.server.heartbeat(effect, attempt, self.mutation) {
                    state.workers[worker] = Worker::Waits;
                }
            }
            Action::Complete(worker, reply) => self.complete(state, worker, reply)?,
            Action::Pause if state.server.run.state == RunState::Running => {
                state.request()?;
                state.server.pause();
            }
            Action::Resume if state.server.run.state == RunState::Paused => state.server.resume(),
            Action::Cancel if state.server.run.state.is_active() => {
                state.request()?;
                state.server.cancel();
            }
            Action::EndLease if state.server.run.state.is_active() => {
                // Without a process that leads, time alone ends the lease.
                if state.is_led() {
                    state.fault()?;
                }
                state.server.run.is_over = true;
            }
            Action::EndClaim(effect) if state.server.effects[effect].state == EffectState::Claimed => {
                if state.is_worked_on(effect) {
                    state.fault()?;
                }
                state.server.effects[effect].is_over = true;
            }
            Action::LeaderRestarts(leader) => {
                state.leaders[leader].epoch()?;
                state.fault()?;
                state.leaders[leader] = Leader::STARTED;
            }
            Action::LeaderGoesDown(leader) => {
                state.leaders[leader].epoch()?;
                state.fault()?;
                state.leaders[leader] = Leader::Down;
                state.leaders.iter().find(|leader| **leader != Leader::Down)?;
            }
            Action::WorkerRestarts(worker) | Action::WorkerGoesDown(worker) => {
                let Worker::Works { .. } = state.workers[worker] else { return None };
                state.fault()?;
                let restarts = action == Action::WorkerRestarts(worker);
                state.workers[worker] = if restarts { Worker::Waits } else { Worker::Down };
                state.workers.iter().find(|worker| **worker != Worker::Down)?;
            }
            Action::Pause | Action::Resume | Action::Cancel | Action::EndLease | Action::EndClaim(_) => {
                return None;
            }
        }
        Some(())
    }
}

impl Model for Cluster {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![State {
            server: Server::new(),
            leaders: vec![Leader::STARTED; self.leaders],
            workers: vec![Worker::Waits; self.workers],
            faults: self.faults,
            requests: self.requests,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        const COMMITTED: [Reply; 2] = [Reply::Received, Reply::LostAfterCommit];
        for (number, leader) in state.leaders.iter().enumerate() {
            match leader {
                Leader::Waits { .. } => {
                    actions.push(Action::Replay(number));
                    actions.extend(COMMITTED.map(|reply| Action::Lead(number, reply)));
                }
                Leader::Leads { .. } => {
                    let replies = [Reply::Received, Reply::LostAfterCommit, Reply::LostBeforeCommit];
                    actions.extend(replies.map(|reply| Action::Settle(number, reply)));
                    actions.extend([
                        Action::Replay(number),
                        Action::Renew(number),
                        Action::Collect(number),
                        Action::Mark(number),
                        Action::LeaderRestarts(number),
                        Action::LeaderGoesDown(number),
                    ]);
                }
                Leader::Down => {}
            }
        }
        for (number, worker) in state.workers.iter().enumerate() {
            match worker {
                Worker::Waits => {
                    let claims = (0..EFFECTS)
                        .flat_map(|effect| COMMITTED.map(|reply| Action::Claim(number, effect, reply)));
                    actions.extend(claims);
                }
                Worker::Works { .. } => {
                    actions.extend(COMMITTED.map(|reply| Action::Complete(number, reply)));
                    actions.extend([
                        Action::Heartbeat(number),
                        Action::WorkerRestarts(number),
                        Action::WorkerGoesDown(number),
                    ]);
                }
                Worker::Down => {}
            }
        }
        actions.extend([Action::Pause, Action::Resume, Action::Cancel, Action::EndLease]);
        actions.extend((0..EFFECTS).map(Action::EndClaim));
    }

    /// The state after a step. Steps that change nothing are left out, such as renewing a lease that is valid.
    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut next = last.clone();
        self.step(&mut next, action)?;
        (next != *last).then_some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        properties::all()
    }
}
