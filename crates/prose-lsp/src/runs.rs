//! Runs of programs: started, executed, reported to the client, and read back from their folders.
//!
//! Each run has a thread that executes it and another one that reports it to the client. Both write into one
//! [registry](registry::Runs), which the owner and the reads look into.

mod compare;
pub(crate) mod control;
pub(crate) mod execution;
mod followed;
pub(crate) mod fork;
pub(crate) mod history;
pub(crate) mod launch;
pub(crate) mod lines;
pub(crate) mod project;
pub(crate) mod queries;
mod questions;
mod recorded;
mod recorded_views;
pub(crate) mod registry;
mod reporter;
pub(crate) mod requests;
mod trace;
