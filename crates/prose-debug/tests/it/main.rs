//! The debugger as a client sees it.

mod bad_input;
mod breakpoints;
mod changes;
mod client;
mod live;
mod recorded;
mod seen;
