//! Parts of the protocol that can be left out.

/// A part of the protocol that is left out, to show that it is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mutation {
    /// `settle` has no fence: a leader that was stopped for longer than its lease continues.
    SettleWithoutFence,
    /// `settle` deletes the effects first, and appends to the journal in a second transaction.
    SettleInTwoTransactions,
    /// A `settle` without a reply is sent again, without looking whether it was committed.
    SettleAgain,
    /// `settle` keeps the rows of effects, without their outcomes.
    SettleFreesEffects,
    /// `request` has no fence.
    RequestWithoutFence,
    /// `request` compares the epoch, but does not lock the row of the run: another process may lead before it inserts.
    RequestWithoutLock,
    /// `request` replaces effects that are there.
    RequestReplacesEffects,
    /// `await` is left out: what was marked as taken by the epoch of the leader stays marked.
    RequestKeepsMarks,
    /// A leader that finds out that it does not lead any more cancels what it waits for, and `cancel` has no fence.
    CancelWithoutFence,
    /// `take` marks outcomes as taken, and not by which epoch.
    TakeWithoutEpoch,
    /// `end` has no fence.
    EndWithoutFence,
    /// `end` does not delete effects.
    EndKeepsEffects,
    /// `hand over` has no fence.
    HandOverWithoutFence,
    /// The journal is read before `lead`, and not after it.
    ReplayBeforeLead,
    /// `lead` compares the lease with the clock of the process, which may be fast.
    LeadByOwnClock,
    /// `claim` compares the lease with the clock of the process, which may be fast.
    ClaimByOwnClock,
    /// `claim` takes whatever has no valid lease, even if it has an outcome.
    ClaimWithoutOutcome,
    /// `claim` takes only free effects, and not those of workers that crashed.
    ClaimOnlyFree,
    /// Claims are numbered by the attempts of the row, so that an effect that is inserted again has numbers again that it has had.
    ClaimByAttempt,
    /// `heartbeat` does not compare the claim: a worker that lost it continues.
    HeartbeatWithoutClaim,
    /// `complete` does not compare the claim.
    CompleteWithoutClaim,
    /// `release` does not compare the claim.
    ReleaseWithoutClaim,
}

impl Mutation {
    /// All of them.
    pub const ALL: &[Self] = &[
        Self::SettleWithoutFence,
        Self::SettleInTwoTransactions,
        Self::SettleAgain,
        Self::SettleFreesEffects,
        Self::RequestWithoutFence,
        Self::RequestWithoutLock,
        Self::RequestReplacesEffects,
        Self::RequestKeepsMarks,
        Self::CancelWithoutFence,
        Self::TakeWithoutEpoch,
        Self::EndWithoutFence,
        Self::EndKeepsEffects,
        Self::HandOverWithoutFence,
        Self::ReplayBeforeLead,
        Self::LeadByOwnClock,
        Self::ClaimByOwnClock,
        Self::ClaimWithoutOutcome,
        Self::ClaimOnlyFree,
        Self::ClaimByAttempt,
        Self::HeartbeatWithoutClaim,
        Self::CompleteWithoutClaim,
        Self::ReleaseWithoutClaim,
    ];
}
