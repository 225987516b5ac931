//! A model of the protocol by which the leaders and workers of a cluster share runs on a PostgreSQL server. Its tests visit every state that crashes, pauses and lost
//! connections can lead to. Nothing that is installed uses this crate.
//!
//! The model has the run and its effects as rows of the server, the processes with what each of them remembers, and a limited number of faults. A change of the protocol
//! is first made here, and a statement of the protocol is right as long as it does what its transition does.
//!
//! # Transitions and statements
//!
//! The statements are the constants of `prose_state::protocol`; a test compares this table with them. Each method of [`Server`] is one transaction.
//!
//! | statement | transition | who | what the transaction does |
//! |---|---|---|---|
//! | `PLANS` | not in the model | worker | sets a connection up |
//! | `SUBMIT` | [`submit`](Server::submit) | person | inserts the run, which nobody leads |
//! | `ADOPT` | [`submit`](Server::submit) | person | the same for a run that is there, such as an imported one |
//! | `LEAD` | [`lead`](Server::lead) | leader | takes a run whose lease is over: increments `epoch`, begins a lease |
//! | `RENEW` | [`renew`](Server::renew) | leader | extends the lease `WHERE epoch = mine`; without a row, the process stops leading |
//! | | [`replay`](Server::replay) | leader | reads the journal after `lead`, before anything else; after a `settle` without a reply, reads where it ends |
//! | `FENCE` | [`fence`](Server::fence) | leader | locks the row of the run `WHERE epoch = mine`, as a part of `settle` and all else that is written to the journal |
//! | `REQUEST` | [`request`](Server::request) | leader | locks the row of the run `WHERE epoch = mine`; inserts effects that are not there |
//! | `AWAIT` | [`request`](Server::request) | leader | unmarks the outcomes of what was requested, which this epoch may have taken before, or without receiving them |
//! | `HOLD` | not in the model | leader | the run is paused: effects that nobody has claimed wait |
//! | `LET_GO` | not in the model | leader | the run continues: they may be claimed again |
//! | `TAKE` | [`take`](Server::take) | leader | reads outcomes that are not marked with the epoch, and marks them |
//! | `TAKE_NAMED` | [`take_named`](Server::take_named) | leader | reads outcomes that a notification names, and marks nothing |
//! | `SETTLE` | [`settle`](Server::settle) | leader | after the fence, with the lines of the journal that have the outcomes: deletes their effects |
//! | `CANCEL` | [`cancel`](Server::cancel) | leader | deletes an effect that is not needed any more `WHERE epoch = mine` |
//! | `END` | [`end`](Server::end) | leader | ends the run `WHERE epoch = mine`, and deletes its effects |
//! | `HAND_OVER` | [`hand_over`](Server::hand_over) | leader | ends the lease `WHERE epoch = mine`, before its time |
//! | `AGAIN` | [`again`](Server::again) | person | lets a stopped run continue |
//! | `PRIORITIZE` | not in the model | person | changes the order in which `lead` and `claim` take runs and effects |
//! | `CLAIM` | [`claim`](Server::claim) | worker | takes an effect that is free, or claimed with a lease that is over: a number that nothing else has is the claim; begins a lease |
//! | `LIMITED` | not in the model | worker | reads which of its classes have quotas |
//! | `LOCK_QUOTAS` | not in the model | worker | before `claim_within`, in its transaction: locks the quotas of a class |
//! | `CLAIM_WITHIN` | [`claim`](Server::claim) | worker | the same as `CLAIM`, of a class with quotas, and no more than they leave |
//! | `HEARTBEAT` | [`heartbeat`](Server::heartbeat) | worker | extends the lease `WHERE claim = mine AND outcome IS NULL`; without a row, the worker stops the agent |
//! | `COMPLETE` | [`complete`](Server::complete) | worker | stores the outcome `WHERE claim = mine AND outcome IS NULL`; without a row, the outcome is dropped |
//! | `RELEASE` | [`release`](Server::release) | worker | ends the lease `WHERE claim = mine AND outcome IS NULL`, before its time |
//! | `ASK` | not in the model | worker | inserts a question of the agent of a claim |
//! | `TAKE_QUESTIONS` | not in the model | leader | reads questions that are not marked with the epoch, and marks them; `await` unmarks them |
//! | `ANSWER` | not in the model | leader | stores the first answer |
//! | `ANSWERS` | not in the model | worker | reads answers |
//! | `BUNDLE` | not in the model | worker | reads the bundle of a run `WHERE claim = mine` |
//! | `REGISTER` | not in the model | worker | adds itself to the list of workers |
//! | `UNREGISTER` | not in the model | worker | removes itself from it |
//! | `QUEUE` | not in the model | worker | counts effects for its metrics |
//! | `RUNS` | not in the model | worker | counts runs for its metrics |
//!
//! After a lost connection, a leader sends `request` again for everything that it waits for, and a worker sends its outcomes again.
//!
//! # Time
//!
//! A lease ends by the clock of the server, and no statement contains a time of a process. So the model has no clocks: a lease may end at any moment, in which its
//! process is stopped, slow, or cut off, and the process continues to believe that it has the lease until a statement finds no row. [`Action::EndLease`] and [`Action::EndClaim`]
//! are these moments. Where the process still runs, they count as a fault.
//!
//! # Faults
//!
//! A process may crash between any two transactions; it starts again without a memory, or stays down. A connection may be lost in a transaction that changes something,
//! before or after its commit. Reads and renewals whose reply is lost leave the process where it was, as if it had been slow.
//!
//! # What is checked
//!
//! [`properties`] hold in every state. [`endings::check`] walks through all executions and shows more than that an end can be reached: every execution ends, however
//! its steps interleave, and the run is then finished, or a person stopped it.
//!
//! A [`Mutation`] leaves out one part of the protocol. Each of them has a counterexample, so the model would show if a part were missing.
//!
//! # What is not in the model
//!
//! - Transactions are atomic. `fence`, `request`, `end` and `lead` lock the row of the run, so they have an order. `claim`, `complete` and `take` lock rows of effects; their
//!   conditions are evaluated again after a lock was waited for. A statement of a connection that was lost is either committed before the next one of its process, or never.
//! - Rows have no names of processes, only whether there is one: an epoch is led by one process, so comparing names adds nothing. `attempt` counts claims for people.
//! - Time in which a process that leads no more continues to take outcomes. It marks them as taken by its epoch, and the other one takes them a second time, without a consequence.
//! - Order: `claim` takes any effect, whatever its priority and its turn, since rows that others have locked are skipped. Quotas hold effects back, as if nobody claimed them.
//! - A pause is one of the program: its leader requests nothing. A stop is the decision of a leader that a person has asked; if it crashes before `end`, the next leader finds it in the journal.
//! - Fingerprints: an effect that is requested with another text than before is a new one.

pub mod endings;
mod model;
mod mutation;
mod processes;
pub mod properties;
mod server;
mod state;

pub use self::model::{Action, Cluster, Reply};
pub use self::mutation::Mutation;
pub use self::processes::{Leader, Memory, Worker};
pub use self::server::{Breaches, EffectRow, EffectState, Entry, RunRow, RunState, Server};
pub use self::state::State;

/// How many effects the run has at most.
pub const EFFECTS: usize = 3;

/// An effect, by its number.
pub type Effect = usize;

/// How often the run has been taken by a leader.
pub type Epoch = u8;

/// The number of a claim; 0 for none. It stands for the outcome that its worker has, too.
pub type Claim = u8;

/// The outcomes of effects, where there are any.
pub type Outcomes = [Option<Claim>; EFFECTS];

/// What the run executes: the first two effects are independent, and the third one comes after them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Program {
    /// The third effect needs the outcomes of both.
    NeedsBoth,
    /// The third effect needs one of the outcomes; the other one is not needed any more.
    NeedsFirst,
}

impl Program {
    /// The effects that the program asks for next, if it is replayed with outcomes.
    pub(crate) fn open_effects(self, outcomes: &Outcomes) -> impl Iterator<Item = Effect> {
        let is_over = match self {
            Self::NeedsBoth => outcomes[0].is_some() && outcomes[1].is_some(),
            Self::NeedsFirst => outcomes[0].is_some() || outcomes[1].is_some(),
        };
        let candidates = if is_over { 2..3 } else { 0..2 };
        candidates.filter(|&effect| outcomes[effect].is_none())
    }
}
