//! The debugger as a client sees it.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod attached;
mod bad_input;
mod breakpoints;
mod changes;
mod client;
mod generated;
mod live;
mod past;
#[path = "../../../prose-run/tests/it/generated.rs"]
mod programs;
mod recorded;
mod seen;
