//! What the processes remember, which is all that a crash loses.

use crate::{Claim, EFFECTS, Effect, Epoch, Outcomes, Program};

/// A process that may lead the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Leader {
    /// Waits for a run to lead. Only with [`ReplayBeforeLead`](crate::Mutation::ReplayBeforeLead) it has read a journal already.
    Waits {
        /// The journal as it was read.
        replayed: Option<Outcomes>,
    },
    /// Leads the run, as far as it knows.
    Leads {
        /// The epoch in which it began.
        epoch: Epoch,
        /// What it knows of the run; nothing before `replay`.
        memory: Option<Memory>,
    },
    /// Has crashed and stays down.
    Down,
}

impl Leader {
    /// A process that has just been started.
    pub const STARTED: Self = Self::Waits { replayed: None };

    /// The epoch in which it leads, as far as it knows.
    pub fn epoch(&self) -> Option<Epoch> {
        match self {
            Self::Leads { epoch, .. } => Some(*epoch),
            Self::Waits { .. } | Self::Down => None,
        }
    }
}

/// What a leader knows of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Memory {
    /// The outcomes in the journal.
    pub journal: Outcomes,
    /// The outcomes that it took, and has not settled yet.
    pub taken: Outcomes,
    /// The effects that it requested, with a reply.
    pub requested: [bool; EFFECTS],
    /// Whether the reply to `settle` was lost, so that the journal is to be looked at before it is sent again.
    pub is_unsure: bool,
    /// Whether `end` was sent and its reply was lost.
    pub is_ending: bool,
    /// Only with [`SettleInTwoTransactions`](crate::Mutation::SettleInTwoTransactions): whether the rows that belong to `taken` are deleted.
    pub is_half_settled: bool,
    /// Only with [`RequestWithoutLock`](crate::Mutation::RequestWithoutLock): whether the epoch was compared, so that the next transaction inserts.
    pub is_checked: bool,
}

impl Memory {
    /// What a leader knows after reading the journal.
    pub(crate) fn of(journal: Outcomes) -> Self {
        Self {
            journal,
            taken: Outcomes::default(),
            requested: [false; EFFECTS],
            is_unsure: false,
            is_ending: false,
            is_half_settled: false,
            is_checked: false,
        }
    }

    /// What `settle` appends to the journal. A program that needs one of several outcomes records the first one.
    pub(crate) fn settling(&self, program: Program) -> Outcomes {
        let mut settling = Outcomes::default();
        for effect in 0..EFFECTS {
            let known = std::array::from_fn(|effect| self.journal[effect].or(settling[effect]));
            let is_open = program.open_effects(&known).any(|open| open == effect);
            settling[effect] = self.taken[effect].filter(|_| is_open);
        }
        settling
    }

    /// What the leader knows after `settle`.
    pub(crate) fn settled(&self, program: Program) -> Self {
        let settling = self.settling(program);
        let journal = std::array::from_fn(|effect| self.journal[effect].or(settling[effect]));
        Self { requested: self.requested, ..Self::of(journal) }
    }

    /// The effects that the program waits for.
    pub(crate) fn waited_for(&self, program: Program) -> impl Iterator<Item = Effect> {
        program.open_effects(&self.journal).filter(|&effect| self.taken[effect].is_none())
    }

    /// The effects that are to be requested.
    pub(crate) fn wanted(&self, program: Program) -> impl Iterator<Item = Effect> {
        self.waited_for(program).filter(|&effect| !self.requested[effect])
    }

    /// The effects that were requested, and are not needed any more.
    pub(crate) fn unneeded(&self, program: Program) -> impl Iterator<Item = Effect> {
        let is_open: [bool; EFFECTS] =
            std::array::from_fn(|effect| program.open_effects(&self.journal).any(|open| open == effect));
        (0..EFFECTS).filter(move |&effect| {
            self.requested[effect] && !is_open[effect] && self.journal[effect].is_none()
        })
    }

    /// The connection was lost: whatever the leader waits for is requested again.
    pub(crate) fn reconnect(&mut self, program: Program) {
        let waited_for: Vec<Effect> = self.waited_for(program).collect();
        for effect in waited_for {
            self.requested[effect] = false;
        }
    }
}

/// A process that performs effects, one at a time. One that performs several stands for several of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Worker {
    /// Waits for an effect to claim.
    Waits,
    /// Performs an effect, or has its outcome and has not received a reply to `complete`.
    Works {
        /// The effect.
        effect: Effect,
        /// The claim.
        claim: Claim,
        /// Which attempt of the row it is. Only with [`ClaimByAttempt`](crate::Mutation::ClaimByAttempt), it is counted.
        attempt: u8,
    },
    /// Has crashed and stays down.
    Down,
}
