//! The debugger as a client sees it.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod bad_input;
mod breakpoints;
mod changes;
mod client;
mod live;
mod recorded;
mod seen;
