//! A model of the protocol by which the leaders and workers of a cluster share runs on a PostgreSQL server. Its tests visit every state that crashes, pauses and lost
//! connections can lead to. Nothing that is installed uses this crate.
//!
//! The model has the run and its effects as rows of the server, the processes with what each of them remembers, and a limited number of faults. A change of the protocol
//! is first made here, and a statement of the protocol is right as long as it does what its transition does.
//!
//! # Transitions and statements
//!
//! Each method of [`Server`] is one transaction, and has the name of its statement:
//!
//! | transition | who | what the transaction does |
//! |---|---|---|
//! | [`lead`](Server::lead) | leader | takes a run whose lease is over: increments `epoch`, begins a lease |
//! | [`renew`](Server::renew) | leader | extends the lease `WHERE epoch = mine`; without a row, the process stops leading |
//! | [`replay`](Server::replay) | leader | reads the journal; after `lead` or a `settle` without a reply, before anything else |
//! | [`collect`](Server::collect) | leader | reads the outcomes of effects that are done |
//! | [`settle`](Server::settle) | leader | locks the run `WHERE epoch = mine`; appends outcomes to the journal, marks their effects as settled, inserts the next effects, ends the run |
//! | [`claim`](Server::claim) | worker | takes an effect that is free, or claimed with a lease that is over: increments `attempt`, begins a lease |
//! | [`heartbeat`](Server::heartbeat) | worker | extends the lease `WHERE state = 'claimed' AND attempt = mine`; without a row, the worker stops the agent |
//! | [`complete`](Server::complete) | worker | stores the outcome `WHERE state = 'claimed' AND attempt = mine`; without a row, the outcome is dropped |
//! | [`pause`](Server::pause), [`resume`](Server::resume) | person | effects cannot be claimed in between; those that are claimed continue |
//! | [`cancel`](Server::cancel) | person | locks the run and stops it; cancels the effects that are free or claimed |
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
//! - Transactions are atomic. `settle`, `cancel`, `pause` and `lead` lock the row of the run, so they have an order. `claim` locks only the row of an effect: it may take an effect
//!   of a run that is paused in the same moment, which is harmless, and does not take one that is cancelled, since its conditions are evaluated again after the lock was waited for.
//! - Rows have no names of processes. An epoch is led by one process and an attempt made by one worker, so comparing names adds nothing; the model shows that it is not needed.
//! - Order: `claim` takes any effect, and not the oldest, since rows that others have locked are skipped.
//! - A stopped run is not continued. For that, `settle` would have to free cancelled effects.

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

/// How many effects the run has: the first two are independent, and the third one needs the outcomes of both.
pub const EFFECTS: usize = 3;

/// An effect, by its number.
pub type Effect = usize;

/// How often the run has been taken by a leader.
pub type Epoch = u8;

/// How often an effect has been claimed. It stands for the outcome of that attempt, too.
pub type Attempt = u8;

/// The outcomes of effects, where there are any.
pub type Outcomes = [Option<Attempt>; EFFECTS];

/// The effects that the program asks for next, if it is replayed with outcomes.
pub(crate) fn open_effects(outcomes: &Outcomes) -> impl Iterator<Item = Effect> {
    let are_first_two_over = outcomes[0].is_some() && outcomes[1].is_some();
    let candidates = if are_first_two_over { 2..3 } else { 0..2 };
    candidates.filter(|&effect| outcomes[effect].is_none())
}
