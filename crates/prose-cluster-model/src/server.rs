//! The rows of the server, and the transactions that change them.

use crate::{Claim, EFFECTS, Effect, Epoch, Mutation, Outcomes};

/// The state of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RunState {
    /// It needs a leader.
    Active,
    /// A person stopped it.
    Stopped,
    /// The program has ended.
    Finished,
}

/// The row of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RunRow {
    /// How often the run has been taken by a leader.
    pub epoch: Epoch,
    /// Whether `until` is in the past.
    pub is_over: bool,
    /// Whether it has a `holder`.
    pub is_held: bool,
    /// Its state.
    pub state: RunState,
}

/// The state of an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EffectState {
    /// It has no row.
    Absent,
    /// Nobody has claimed it.
    Free,
    /// A worker claimed it.
    Claimed,
    /// It has an outcome.
    Done,
}

/// The row of an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EffectRow {
    /// Its state.
    pub state: EffectState,
    /// The claim that it has.
    pub claim: Claim,
    /// How often the row was claimed. Only with [`Mutation::ClaimByAttempt`], it is counted.
    pub attempt: u8,
    /// Whether `due` is in the past; always, unless it is claimed.
    pub is_over: bool,
    /// The claim whose outcome it has.
    pub outcome: Option<Claim>,
    /// The epoch that has taken its outcome; 0 for none.
    pub taken: Epoch,
}

impl EffectRow {
    const ABSENT: Self =
        Self { state: EffectState::Absent, claim: 0, attempt: 0, is_over: true, outcome: None, taken: 0 };
    const FREE: Self = Self { state: EffectState::Free, ..Self::ABSENT };
}

/// A row of the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Entry {
    /// The effect.
    pub effect: Effect,
    /// The claim whose outcome it is.
    pub outcome: Claim,
}

/// What must never happen and cannot be seen in the rows afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Breaches {
    /// A leader of an earlier epoch changed the run.
    pub is_changed_by_another: bool,
    /// A lease that was valid was taken, or ended by another.
    pub is_taken_early: bool,
    /// A worker that had lost its claim was told to continue.
    pub is_kept_working: bool,
    /// An outcome was accepted of another claim than that of the row.
    pub is_foreign_outcome: bool,
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
    /// The last number of the sequence of claims.
    pub last_claim: Claim,
    /// Not a row: the outcomes that `complete` accepted, of effects that are needed.
    pub accepted: Outcomes,
    /// Not a row: what must never happen, and did.
    pub breaches: Breaches,
}

impl Server {
    /// `submit`: a run that nobody has taken yet.
    pub fn submit() -> Self {
        Self {
            run: RunRow { epoch: 0, is_over: true, is_held: false, state: RunState::Active },
            effects: [EffectRow::ABSENT; EFFECTS],
            journal: Vec::new(),
            last_claim: 0,
            accepted: Outcomes::default(),
            breaches: Breaches::default(),
        }
    }

    /// Whether `lead` finds the run.
    pub(crate) fn can_lead(&self) -> bool {
        self.run.state == RunState::Active && self.run.is_over
    }

    /// Takes the run, whose lease is over, and returns the epoch that begins.
    pub fn lead(&mut self) -> Epoch {
        self.breaches.is_taken_early |= !self.run.is_over;
        self.run.epoch += 1;
        (self.run.is_over, self.run.is_held) = (false, true);
        self.run.epoch
    }

    /// Locks the row of the run, if it is led in an epoch.
    pub fn fence(&self, epoch: Epoch) -> bool {
        self.run.epoch == epoch && self.run.is_held
    }

    /// The fence of a transaction that changes the run, or what becomes of it without a fence.
    fn passes(&mut self, epoch: Epoch, has_fence: bool) -> bool {
        let is_leading = self.fence(epoch);
        if !has_fence {
            self.breaches.is_changed_by_another |= !is_leading;
        }
        is_leading || !has_fence
    }

    /// Extends the lease of a leader. Returns whether it still leads the run.
    pub fn renew(&mut self, epoch: Epoch) -> bool {
        let is_leading = self.fence(epoch) && self.run.state == RunState::Active;
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

    /// Inserts effects, and unmarks those that are there already. Returns whether the process leads the run.
    pub fn request(
        &mut self,
        epoch: Epoch,
        effects: impl Iterator<Item = Effect>,
        mutation: Option<Mutation>,
    ) -> bool {
        let has_fence =
            !matches!(mutation, Some(Mutation::RequestWithoutFence | Mutation::RequestWithoutLock));
        if has_fence && !self.fence(epoch) {
            return false;
        }
        for effect in effects {
            let row = &mut self.effects[effect];
            if row.state == EffectState::Absent || mutation == Some(Mutation::RequestReplacesEffects) {
                *row = EffectRow::FREE;
            } else if mutation != Some(Mutation::RequestKeepsMarks) {
                row.taken = 0;
            }
        }
        true
    }

    /// Marks the outcomes that the epoch has not taken yet, and returns them.
    pub fn take(
        &mut self,
        epoch: Epoch,
        is_seen: impl Fn(Effect) -> bool,
        mutation: Option<Mutation>,
    ) -> Outcomes {
        let mut outcomes = Outcomes::default();
        for effect in (0..EFFECTS).filter(|&effect| is_seen(effect)) {
            let row = &mut self.effects[effect];
            let is_new = match mutation {
                Some(Mutation::TakeWithoutEpoch) => row.taken == 0,
                _ => row.taken != epoch,
            };
            if row.state == EffectState::Done && is_new {
                row.taken = epoch;
                outcomes[effect] = row.outcome;
            }
        }
        outcomes
    }

    /// The outcomes of effects that a notification names. Nothing is marked.
    pub fn take_named(&self, is_named: impl Fn(Effect) -> bool) -> Outcomes {
        let mut outcomes = Outcomes::default();
        for effect in (0..EFFECTS).filter(|&effect| is_named(effect)) {
            let row = &self.effects[effect];
            if row.state == EffectState::Done {
                outcomes[effect] = row.outcome;
            }
        }
        outcomes
    }

    /// Appends outcomes to the journal and deletes their effects. Returns whether the process leads the run; otherwise it changes nothing.
    pub fn settle(&mut self, epoch: Epoch, outcomes: &Outcomes, mutation: Option<Mutation>) -> bool {
        if !self.passes(epoch, mutation != Some(Mutation::SettleWithoutFence)) {
            return false;
        }
        self.delete_settled(outcomes, mutation);
        for (effect, outcome) in outcomes.iter().enumerate() {
            self.journal.extend(outcome.map(|outcome| Entry { effect, outcome }));
        }
        true
    }

    /// The part of `settle` that deletes effects.
    pub(crate) fn delete_settled(&mut self, outcomes: &Outcomes, mutation: Option<Mutation>) {
        let is_freed = mutation == Some(Mutation::SettleFreesEffects);
        for effect in (0..EFFECTS).filter(|&effect| outcomes[effect].is_some()) {
            self.effects[effect] = if is_freed { EffectRow::FREE } else { EffectRow::ABSENT };
        }
    }

    /// Deletes an effect that is not needed any more.
    pub fn cancel(&mut self, epoch: Epoch, effect: Effect, mutation: Option<Mutation>) {
        let is_leading = self.fence(epoch);
        if is_leading || mutation == Some(Mutation::CancelWithoutFence) {
            self.effects[effect] = EffectRow::ABSENT;
        }
        if is_leading {
            self.accepted[effect] = None;
        }
    }

    /// Ends the run, and deletes its effects.
    pub fn end(&mut self, epoch: Epoch, state: RunState, mutation: Option<Mutation>) {
        if !self.passes(epoch, mutation != Some(Mutation::EndWithoutFence)) {
            return;
        }
        self.run = RunRow { is_over: true, is_held: false, state, ..self.run };
        if mutation != Some(Mutation::EndKeepsEffects) {
            self.effects = [EffectRow::ABSENT; EFFECTS];
        }
        // What is not in the journal was not wanted any more.
        self.accepted = self.replay();
    }

    /// Gives the run back before its lease is over.
    pub fn hand_over(&mut self, epoch: Epoch, mutation: Option<Mutation>) {
        if self.run.state == RunState::Active
            && self.passes(epoch, mutation != Some(Mutation::HandOverWithoutFence))
        {
            (self.run.is_over, self.run.is_held) = (true, false);
        }
    }

    /// Lets a stopped run continue.
    pub fn again(&mut self) {
        self.run = RunRow { state: RunState::Active, is_over: true, ..self.run };
    }

    /// Whether `claim` finds an effect.
    pub(crate) fn can_claim(&self, effect: Effect, mutation: Option<Mutation>) -> bool {
        let row = &self.effects[effect];
        match row.state {
            EffectState::Free => true,
            EffectState::Claimed => row.is_over && mutation != Some(Mutation::ClaimOnlyFree),
            EffectState::Done => mutation == Some(Mutation::ClaimWithoutOutcome),
            EffectState::Absent => false,
        }
    }

    /// Takes an effect that is free or whose lease is over. Returns the claim that begins, and the attempt.
    pub fn claim(&mut self, effect: Effect, mutation: Option<Mutation>) -> (Claim, u8) {
        self.last_claim += 1;
        let row = &mut self.effects[effect];
        self.breaches.is_taken_early |= row.state == EffectState::Claimed && !row.is_over;
        row.state = EffectState::Claimed;
        row.claim = self.last_claim;
        row.attempt += u8::from(mutation == Some(Mutation::ClaimByAttempt));
        row.is_over = false;
        (row.claim, row.attempt)
    }

    /// Extends the lease of a claim. Returns whether the worker still has it.
    pub fn heartbeat(&mut self, effect: Effect, claim: (Claim, u8), mutation: Option<Mutation>) -> bool {
        let has_claim = self.has_claim(effect, claim, mutation, Mutation::HeartbeatWithoutClaim);
        if has_claim {
            let row = &mut self.effects[effect];
            row.is_over = false;
            self.breaches.is_kept_working |= row.claim != claim.0;
        }
        has_claim
    }

    fn has_claim(
        &self,
        effect: Effect,
        (claim, attempt): (Claim, u8),
        mutation: Option<Mutation>,
        without: Mutation,
    ) -> bool {
        let row = &self.effects[effect];
        let is_same = match mutation {
            Some(Mutation::ClaimByAttempt) => row.attempt == attempt,
            _ => row.claim == claim || mutation == Some(without),
        };
        row.state == EffectState::Claimed && is_same
    }

    /// Stores the outcome of a claimed effect. Returns whether it was accepted.
    pub fn complete(&mut self, effect: Effect, claim: (Claim, u8), mutation: Option<Mutation>) -> bool {
        let has_claim = self.has_claim(effect, claim, mutation, Mutation::CompleteWithoutClaim);
        if has_claim {
            let row = &mut self.effects[effect];
            self.breaches.is_foreign_outcome |= row.claim != claim.0;
            row.state = EffectState::Done;
            row.is_over = true;
            row.outcome = Some(claim.0);
            self.accepted[effect].get_or_insert(claim.0);
        }
        has_claim
    }

    /// Gives a claim back before its lease is over.
    pub fn release(&mut self, effect: Effect, claim: (Claim, u8), mutation: Option<Mutation>) {
        if self.has_claim(effect, claim, mutation, Mutation::ReleaseWithoutClaim) {
            let row = &mut self.effects[effect];
            self.breaches.is_taken_early |= row.claim != claim.0;
            row.is_over = true;
        }
    }
}
