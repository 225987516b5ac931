//! Tests of the view of a run.

mod deltas;
mod events;
mod history;
mod tree;
