//! The rows of the server, and the transactions that change them.

use crate::{Attempt, EFFECTS, Effect, Epoch, Memory, Mutation, Outcomes, open_effects};

/// The state of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RunState {
    /// Its effects can be claimed.
    Running,
    /// Its effects cannot be claimed.
    Paused,
    /// A person stopped it.
    Stopped,
    /// All effects have outcomes.
    Finished,
}

impl RunState {
    /// Whether the run needs a leader.
    pub fn is_active(self) -> bool {
        matches!(self, Self::Running | Self::Paused)
    }
}

/// The row of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RunRow {
    /// How often the run has been taken by a leader.
    pub epoch: Epoch,
    /// Whether `until` is in the past.
    pub is_over: bool,
    /// Its state.
    pub state: RunState,
}

/// The state of an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EffectState {
    /// It has no row yet.
    Absent,
    /// It can be claimed.
    Free,
    /// A worker claimed it.
    Claimed,
    /// It has an outcome.
    Done,
    /// Its outcome is in the journal.
    Settled,
    /// The run was stopped before it had an outcome.
    Cancelled,
}

/// The row of an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EffectRow {
    /// Its state.
    pub state: EffectState,
    /// How often it has been claimed.
    pub attempt: Attempt,
    /// Whether `until` is in the past; always, unless it is claimed.
    pub is_over: bool,
    /// The attempt whose outcome it has.
    pub outcome: Option<Attempt>,
}

/// A row of the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Entry {
    /// The effect.
    pub effect: Effect,
    /// The attempt whose outcome it is.
    pub outcome: Attempt,
}

/// What must never happen and cannot be seen in the rows afterwards.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Breaches {
    /// A process appended to the journal although another one had begun to lead.
    pub is_appended_by_another: bool,
    /// A run or an effect was taken from a process whose lease was valid.
    pub is_taken_early: bool,
    /// An effect of a run that is not running was claimed.
    pub is_claimed_at_rest: bool,
    /// A worker whose claim was taken by another one was told to continue.
    pub is_kept_working: bool,
}

/// The rows of the server.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Server {
    /// The row of the run.
    pub run: RunRow,
    /// The rows of its effects.
    pub effects: [EffectRow; EFFECTS],
    /// The rows of its journal.
    pub journal: Vec<Entry>,
    /// Not a row: the outcomes that `complete` accepted first.
    pub accepted: Outcomes,
    /// Not a row: what must never happen, and did.
    pub breaches: Breaches,
}

impl Server {
    /// A run that nobody has taken yet.
    pub(crate) fn new() -> Self {
        let absent = EffectRow { state: EffectState::Absent, attempt: 0, is_over: true, outcome: None };
        Self {
            run: RunRow { epoch: 0, is_over: true, state: RunState::Running },
            effects: [absent; EFFECTS],
            journal: Vec::new(),
            accepted: Outcomes::default(),
            breaches: Breaches::default(),
        }
    }

    /// Whether `lead` finds the run.
    pub(crate) fn can_lead(&self) -> bool {
        self.run.state.is_active() && self.run.is_over
    }

    /// Takes the run, whose lease is over, and returns the epoch that begins.
    pub fn lead(&mut self) -> Epoch {
        self.breaches.is_taken_early |= !self.run.is_over;
        self.run.epoch += 1;
        self.run.is_over = false;
        self.run.epoch
    }

    /// Extends the lease of a leader. Returns whether it still leads an active run.
    pub fn renew(&mut self, epoch: Epoch) -> bool {
        let is_leading = self.run.epoch == epoch && self.run.state.is_active();
        if is_leading {
            self.run.is_over = false;
        }
        is_leading
    }

    /// Reads the journal.
    pub fn replay(&self) -> Outcomes {
        let mut outcomes = Outcomes::default();
        for entry in &self.journal {
            outcomes[entry.effect] = Some(entry.outcome);
        }
        outcomes
    }

    /// Reads the outcomes of effects that are done and not settled.
    pub fn collect(&self) -> Outcomes {
        self.effects.map(|row| if row.state == EffectState::Done { row.outcome } else { None })
    }

    /// Settles what a leader collected. Returns the state of the run after it; `None` if another process leads, and then it changes nothing.
    pub fn settle(&mut self, epoch: Epoch, memory: &Memory, mutation: Option<Mutation>) -> Option<RunState> {
        if self.run.epoch != epoch {
            if mutation != Some(Mutation::SettleWithoutFence) {
                return None;
            }
            self.breaches.is_appended_by_another = true;
        }
        for (effect, outcome) in memory.collected.iter().enumerate() {
            let Some(outcome) = *outcome else { continue };
            self.journal.push(Entry { effect, outcome });
            if mutation != Some(Mutation::SettleInTwoTransactions) {
                self.mark(effect);
            }
        }
        let outcomes = memory.settled();
        if self.run.state.is_active() || mutation == Some(Mutation::SettleAfterStop) {
            for effect in open_effects(&outcomes) {
                let row = &mut self.effects[effect];
                if row.state == EffectState::Absent || mutation == Some(Mutation::SettleReplacesEffects) {
                    *row = EffectRow { state: EffectState::Free, outcome: None, is_over: true, ..*row };
                }
            }
        }
        if self.run.state.is_active() && outcomes.iter().all(Option::is_some) {
            self.run.state = RunState::Finished;
            self.run.is_over = true;
        }
        Some(self.run.state)
    }

    /// Marks an effect as settled, which is a part of `settle`.
    pub(crate) fn mark(&mut self, effect: Effect) {
        self.effects[effect].state = EffectState::Settled;
    }

    /// Whether `claim` finds an effect.
    pub(crate) fn can_claim(&self, effect: Effect, mutation: Option<Mutation>) -> bool {
        let row = &self.effects[effect];
        let is_claimable = match row.state {
            EffectState::Free => true,
            EffectState::Claimed => row.is_over && mutation != Some(Mutation::ClaimOnlyFree),
            EffectState::Done | EffectState::Settled => mutation == Some(Mutation::ClaimWithoutState),
            EffectState::Absent | EffectState::Cancelled => false,
        };
        is_claimable && (self.run.state == RunState::Running || mutation == Some(Mutation::ClaimWithoutRun))
    }

    /// Takes an effect that is free or whose lease is over, and returns the attempt that begins.
    pub fn claim(&mut self, effect: Effect) -> Attempt {
        let row = &mut self.effects[effect];
        self.breaches.is_taken_early |= row.state == EffectState::Claimed && !row.is_over;
        self.breaches.is_claimed_at_rest |= self.run.state != RunState::Running;
        row.state = EffectState::Claimed;
        row.attempt += 1;
        row.is_over = false;
        row.attempt
    }

    /// Extends the lease of a claim. Returns whether the worker still has it.
    pub fn heartbeat(&mut self, effect: Effect, attempt: Attempt, mutation: Option<Mutation>) -> bool {
        let row = &mut self.effects[effect];
        let is_same = row.attempt == attempt;
        let has_claim = row.state == EffectState::Claimed
            && (is_same || mutation == Some(Mutation::HeartbeatWithoutAttempt));
        if has_claim {
            row.is_over = false;
            self.breaches.is_kept_working |= !is_same;
        }
        has_claim
    }

    /// Stores the outcome of a claimed effect. Returns whether it was accepted.
    pub fn complete(&mut self, effect: Effect, attempt: Attempt, mutation: Option<Mutation>) -> bool {
        let row = &mut self.effects[effect];
        let is_same = row.attempt == attempt || mutation == Some(Mutation::CompleteWithoutAttempt);
        let is_claimed =
            row.state == EffectState::Claimed || mutation == Some(Mutation::CompleteWithoutState);
        let is_accepted = is_same && is_claimed;
        if is_accepted {
            row.state = EffectState::Done;
            row.is_over = true;
            row.outcome = Some(attempt);
            self.accepted[effect].get_or_insert(attempt);
        }
        is_accepted
    }

    /// Stops the run and cancels the effects that have no outcome.
    pub fn cancel(&mut self) {
        self.run.state = RunState::Stopped;
        for row in &mut self.effects {
            if matches!(row.state, EffectState::Free | EffectState::Claimed) {
                row.state = EffectState::Cancelled;
                row.is_over = true;
            }
        }
    }

    /// Pauses the run.
    pub fn pause(&mut self) {
        self.run.state = RunState::Paused;
    }

    /// Ends the pause.
    pub fn resume(&mut self) {
        self.run.state = RunState::Running;
    }
}
