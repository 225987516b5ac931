//! What the processes remember, which is all that a crash loses.

use crate::{Attempt, Effect, Epoch, Outcomes};

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
    /// The outcomes that it collected, and has not settled yet.
    pub collected: Outcomes,
    /// Whether it inserted the effects that the program asks for next.
    pub has_asked: bool,
    /// Outcomes in the journal whose effects are to be marked as settled. Only with [`SettleInTwoTransactions`](crate::Mutation::SettleInTwoTransactions) there are any.
    pub unmarked: Outcomes,
}

impl Memory {
    /// What a leader knows after reading the journal.
    pub(crate) fn of(journal: Outcomes) -> Self {
        Self { journal, collected: Outcomes::default(), has_asked: false, unmarked: Outcomes::default() }
    }

    /// What the journal has after the next `settle`.
    pub(crate) fn settled(&self) -> Outcomes {
        std::array::from_fn(|effect| self.journal[effect].or(self.collected[effect]))
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
        /// The attempt that it claimed.
        attempt: Attempt,
    },
    /// Has crashed and stays down.
    Down,
}
