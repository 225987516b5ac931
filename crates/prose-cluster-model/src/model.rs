//! The steps between the states of a cluster.

use stateright::{Model, Property};

use crate::server::{EffectState, RunState, Server};
use crate::state::State;
use crate::{EFFECTS, Effect, Leader, Memory, Mutation, Program, Worker, properties};

/// A cluster that executes one run.
#[derive(Debug, Clone, Copy)]
pub struct Cluster {
    /// The program of the run.
    pub program: Program,
    /// How many processes may lead the run.
    pub leaders: usize,
    /// How many workers there are.
    pub workers: usize,
    /// How many crashes, pauses and lost connections there are at most.
    pub faults: u8,
    /// How often a person stops the run at most.
    pub stops: u8,
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
    Request(usize, Reply),
    Take(usize, Reply),
    TakeNamed(usize),
    Settle(usize, Reply),
    /// Reads where the journal ends, after a `settle` without a reply.
    Look(usize),
    Cancel(usize, Reply),
    End(usize, Reply),
    HandOver(usize),
    Again,
    Claim(usize, Effect, Reply),
    Heartbeat(usize),
    Complete(usize, Reply),
    Release(usize),
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
            if !is_fast || state.server.run.state != RunState::Active {
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

    fn renew(&self, state: &mut State, leader: usize) -> Option<()> {
        let Leader::Leads { epoch, memory } = state.leaders[leader] else { return None };
        if state.server.renew(epoch) {
            return Some(());
        }
        if let Some(memory) = memory
            && self.mutation == Some(Mutation::CancelWithoutFence)
        {
            for effect in memory.waited_for(self.program) {
                state.server.cancel(epoch, effect, self.mutation);
            }
        }
        state.leaders[leader] = Leader::STARTED;
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

    fn request(&self, state: &mut State, leader: usize, reply: Reply) -> Option<()> {
        let (epoch, mut memory) = state.executing(leader)?;
        let wanted: Vec<Effect> = memory.wanted(self.program).collect();
        if wanted.is_empty() {
            return None;
        }
        if self.mutation == Some(Mutation::RequestWithoutLock) && !memory.is_checked {
            memory.is_checked = state.server.fence(epoch);
            state.leaders[leader] = Leader::Leads { epoch, memory: Some(memory) };
            return Some(());
        }
        memory.is_checked = false;
        if reply != Reply::LostBeforeCommit {
            state.server.request(epoch, wanted.iter().copied(), self.mutation);
        }
        match reply {
            Reply::Received => wanted.into_iter().for_each(|effect| memory.requested[effect] = true),
            Reply::LostAfterCommit | Reply::LostBeforeCommit => memory.reconnect(self.program),
        }
        state.leaders[leader] = Leader::Leads { epoch, memory: Some(memory) };
        Some(())
    }

    fn take(&self, state: &mut State, leader: usize, reply: Reply) -> Option<()> {
        let Leader::Leads { epoch, memory } = state.leaders[leader] else { return None };
        if memory.is_some_and(|memory| memory.is_unsure || memory.is_ending || memory.is_half_settled) {
            return None;
        }
        let mut is_waited_for = [false; EFFECTS];
        for effect in memory.iter().flat_map(|memory| memory.waited_for(self.program)) {
            is_waited_for[effect] = true;
        }
        // What a process that leads no more marks without waiting for it is only taken twice by the one that leads.
        let is_seen = |effect: Effect| epoch == state.server.run.epoch || is_waited_for[effect];
        let mut server = state.server.clone();
        let outcomes = server.take(epoch, is_seen, self.mutation);
        state.server = server;
        if let Leader::Leads { memory: Some(memory), .. } = &mut state.leaders[leader] {
            match reply {
                Reply::Received => {
                    for effect in (0..EFFECTS).filter(|&effect| is_waited_for[effect]) {
                        memory.taken[effect] = outcomes[effect];
                    }
                }
                Reply::LostAfterCommit | Reply::LostBeforeCommit => memory.reconnect(self.program),
            }
        }
        Some(())
    }

    /// A reply that is lost leaves the leader where it was: it takes all outcomes after it has connected again.
    fn take_named(&self, state: &mut State, leader: usize) -> Option<()> {
        let Leader::Leads { memory: Some(memory), .. } = &mut state.leaders[leader] else { return None };
        if memory.is_unsure || memory.is_ending || memory.is_half_settled {
            return None;
        }
        let mut is_named = [false; EFFECTS];
        for effect in memory.waited_for(self.program) {
            is_named[effect] = true;
        }
        let outcomes = state.server.take_named(|effect| is_named[effect]);
        for effect in (0..EFFECTS).filter(|&effect| is_named[effect]) {
            memory.taken[effect] = outcomes[effect];
        }
        Some(())
    }

    fn settle(&self, state: &mut State, leader: usize, reply: Reply) -> Option<()> {
        let (epoch, mut memory) = state.executing(leader)?;
        let settling = memory.settling(self.program);
        if settling.iter().all(Option::is_none) {
            return None;
        }
        if self.mutation == Some(Mutation::SettleInTwoTransactions) && !memory.is_half_settled {
            if state.server.fence(epoch) {
                state.server.delete_settled(&settling, self.mutation);
            }
            memory.is_half_settled = true;
            state.leaders[leader] = Leader::Leads { epoch, memory: Some(memory) };
            return Some(());
        }
        let is_settled =
            reply == Reply::LostBeforeCommit || state.server.settle(epoch, &settling, self.mutation);
        state.leaders[leader] = match reply {
            Reply::Received if is_settled => {
                Leader::Leads { epoch, memory: Some(memory.settled(self.program)) }
            }
            Reply::Received => Leader::STARTED,
            Reply::LostAfterCommit | Reply::LostBeforeCommit => {
                memory.is_unsure = self.mutation != Some(Mutation::SettleAgain);
                Leader::Leads { epoch, memory: Some(memory) }
            }
        };
        Some(())
    }

    fn look(&self, state: &mut State, leader: usize) -> Option<()> {
        let journal = state.server.replay();
        let memory = state.memory(leader).filter(|memory| memory.is_unsure)?;
        let settled = memory.settled(self.program);
        if settled.journal == journal {
            *memory = settled;
        } else {
            memory.is_unsure = false;
        }
        Some(())
    }

    fn cancel(&self, state: &mut State, leader: usize, reply: Reply) -> Option<()> {
        let (epoch, mut memory) = state.executing(leader)?;
        let effect = memory.unneeded(self.program).next()?;
        if reply != Reply::LostBeforeCommit {
            state.server.cancel(epoch, effect, self.mutation);
        }
        match reply {
            Reply::Received => memory.requested[effect] = false,
            Reply::LostAfterCommit | Reply::LostBeforeCommit => memory.reconnect(self.program),
        }
        state.leaders[leader] = Leader::Leads { epoch, memory: Some(memory) };
        Some(())
    }

    fn end(&self, state: &mut State, leader: usize, reply: Reply) -> Option<()> {
        let Leader::Leads { epoch, memory: Some(mut memory) } = state.leaders[leader] else { return None };
        if memory.is_unsure {
            return None;
        }
        let is_finished = self.program.open_effects(&memory.journal).next().is_none();
        if !is_finished && !memory.is_ending {
            state.stop()?;
        }
        if reply != Reply::LostBeforeCommit {
            let ended = if is_finished { RunState::Finished } else { RunState::Stopped };
            state.server.end(epoch, ended, self.mutation);
        }
        state.leaders[leader] = match reply {
            Reply::Received => Leader::STARTED,
            Reply::LostAfterCommit | Reply::LostBeforeCommit => {
                memory.is_ending = true;
                Leader::Leads { epoch, memory: Some(memory) }
            }
        };
        Some(())
    }

    fn claim(&self, state: &mut State, worker: usize, effect: Effect, reply: Reply) -> Option<()> {
        if state.workers[worker] != Worker::Waits {
            return None;
        }
        if !state.server.can_claim(effect, self.mutation) {
            let is_claimed = state.server.effects[effect].state == EffectState::Claimed;
            if self.mutation != Some(Mutation::ClaimByOwnClock) || !is_claimed {
                return None;
            }
            state.fault()?;
        }
        let (claim, attempt) = state.server.claim(effect, self.mutation);
        match reply {
            Reply::Received => state.workers[worker] = Worker::Works { effect, claim, attempt },
            Reply::LostAfterCommit => {}
            Reply::LostBeforeCommit => return None,
        }
        Some(())
    }

    fn complete(&self, state: &mut State, worker: usize, reply: Reply) -> Option<()> {
        let Worker::Works { effect, claim, attempt } = state.workers[worker] else { return None };
        let is_accepted = state.server.complete(effect, (claim, attempt), self.mutation);
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
        | Action::Request(_, reply)
        | Action::Take(_, reply)
        | Action::Settle(_, reply)
        | Action::Cancel(_, reply)
        | Action::End(_, reply)
        | Action::Claim(_, _, reply)
        | Action::Complete(_, reply) = action
            && reply != Reply::Received
        {
            state.fault()?;
        }
        match action {
            Action::Lead(leader, reply) => self.lead(state, leader, reply)?,
            Action::Renew(leader) => self.renew(state, leader)?,
            Action::Replay(leader) => self.replay(state, leader)?,
            Action::Request(leader, reply) => self.request(state, leader, reply)?,
            Action::Take(leader, reply) => self.take(state, leader, reply)?,
            Action::TakeNamed(leader) => self.take_named(state, leader)?,
            Action::Settle(leader, reply) => self.settle(state, leader, reply)?,
            Action::Look(leader) => self.look(state, leader)?,
            Action::Cancel(leader, reply) => self.cancel(state, leader, reply)?,
            Action::End(leader, reply) => self.end(state, leader, reply)?,
            Action::HandOver(leader) => {
                let epoch = state.leaders[leader].epoch()?;
                state.fault()?;
                state.server.hand_over(epoch, self.mutation);
                state.leaders[leader] = Leader::STARTED;
            }
            Action::Again if state.server.run.state == RunState::Stopped => state.server.again(),
            Action::Claim(worker, effect, reply) => self.claim(state, worker, effect, reply)?,
            Action::Heartbeat(worker) => {
                let Worker::Works { effect, claim, attempt } = state.workers[worker] else { return None };
                if !state.server.heartbeat(effect, (claim, attempt), self.mutation) {
                    state.workers[worker] = Worker::Waits;
                }
            }
            Action::Complete(worker, reply) => self.complete(state, worker, reply)?,
            Action::Release(worker) => {
                let Worker::Works { effect, claim, attempt } = state.workers[worker] else { return None };
                state.fault()?;
                state.server.release(effect, (claim, attempt), self.mutation);
                state.workers[worker] = Worker::Waits;
            }
            Action::EndLease if state.server.run.state == RunState::Active => {
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
            Action::Again | Action::EndLease | Action::EndClaim(_) => return None,
        }
        Some(())
    }
}

impl properties::Executes for Cluster {
    fn program(&self) -> Program {
        self.program
    }
}

impl Model for Cluster {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![State {
            server: Server::submit(),
            leaders: vec![Leader::STARTED; self.leaders],
            workers: vec![Worker::Waits; self.workers],
            faults: self.faults,
            stops: self.stops,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        const COMMITTED: [Reply; 2] = [Reply::Received, Reply::LostAfterCommit];
        const ALL: [Reply; 3] = [Reply::Received, Reply::LostAfterCommit, Reply::LostBeforeCommit];
        for (number, leader) in state.leaders.iter().enumerate() {
            match leader {
                Leader::Waits { .. } => {
                    actions.push(Action::Replay(number));
                    actions.extend(COMMITTED.map(|reply| Action::Lead(number, reply)));
                }
                Leader::Leads { .. } => {
                    actions.extend(COMMITTED.map(|reply| Action::Take(number, reply)));
                    for reply in ALL {
                        actions.extend([
                            Action::Request(number, reply),
                            Action::Settle(number, reply),
                            Action::Cancel(number, reply),
                            Action::End(number, reply),
                        ]);
                    }
                    actions.extend([
                        Action::TakeNamed(number),
                        Action::Replay(number),
                        Action::Renew(number),
                        Action::Look(number),
                        Action::HandOver(number),
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
                        Action::Release(number),
                        Action::WorkerRestarts(number),
                        Action::WorkerGoesDown(number),
                    ]);
                }
                Worker::Down => {}
            }
        }
        actions.extend([Action::Again, Action::EndLease]);
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
