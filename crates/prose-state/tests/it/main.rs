//! Tests of the state of runs, driven by events made by hand.

#![allow(clippy::unwrap_used, reason = "the functions that tests share fail as tests do")]

mod support;

mod agent_log;
mod agents_database;
mod binding_files;
mod context_files;
mod faults;
mod in_context;
mod journal;
mod legacy;
mod links;
mod memory;
mod mutated;
mod paths;
mod resume;
mod runs;
mod scale;
mod sqlite;
mod state_md;
mod turns;
