//! Requests that look at documents: each runs on a snapshot, in a bounded pool, and is answered exactly once.

mod pool;
pub(crate) mod queue;
pub(crate) mod read;
pub(crate) mod requests;
pub(crate) mod views;
