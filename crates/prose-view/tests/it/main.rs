//! Tests of the view of a run.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod activities;
mod census;
mod deltas;
mod events;
mod expenses;
mod history;
mod pause;
mod times;
mod tree;
