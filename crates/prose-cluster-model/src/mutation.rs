//! Parts of the protocol that can be left out.

/// A part of the protocol that is left out, to show that it is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mutation {
    /// `settle` does not compare the epoch: a leader that was stopped for longer than its lease continues.
    SettleWithoutFence,
    /// `settle` commits the journal first, and marks the effects as settled in a second transaction.
    SettleInTwoTransactions,
    /// A `settle` without a reply is sent again, without reading what was committed.
    SettleAgain,
    /// `settle` inserts effects over those of an earlier epoch.
    SettleReplacesEffects,
    /// `settle` inserts effects into a stopped run.
    SettleAfterStop,
    /// The journal is read before `lead`, and not after it.
    ReplayBeforeLead,
    /// `lead` compares the lease with the clock of the process, which may be fast.
    LeadByOwnClock,
    /// `claim` compares the lease with the clock of the process, which may be fast.
    ClaimByOwnClock,
    /// `claim` takes whatever has no valid lease, even if it is done.
    ClaimWithoutState,
    /// `claim` does not look at the state of the run.
    ClaimWithoutRun,
    /// `claim` takes only free effects, and not those of workers that crashed.
    ClaimOnlyFree,
    /// `heartbeat` does not compare the attempt: a worker that lost its claim continues.
    HeartbeatWithoutAttempt,
    /// `complete` does not compare the attempt.
    CompleteWithoutAttempt,
    /// `complete` does not compare the state: an outcome that is sent again is stored again.
    CompleteWithoutState,
}

impl Mutation {
    /// All of them.
    pub const ALL: &[Self] = &[
        Self::SettleWithoutFence,
        Self::SettleInTwoTransactions,
        Self::SettleAgain,
        Self::SettleReplacesEffects,
        Self::SettleAfterStop,
        Self::ReplayBeforeLead,
        Self::LeadByOwnClock,
        Self::ClaimByOwnClock,
        Self::ClaimWithoutState,
        Self::ClaimWithoutRun,
        Self::ClaimOnlyFree,
        Self::HeartbeatWithoutAttempt,
        Self::CompleteWithoutAttempt,
        Self::CompleteWithoutState,
    ];
}
