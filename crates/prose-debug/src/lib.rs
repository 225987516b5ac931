//! Debugs runs: an adapter of the Debug Adapter Protocol.
//!
//! A debugger stands at an event of a run. Of a run that has ended it moves over the recorded events and nothing is asked; of one that is executed it holds the
//! requests that come after the event, by the [gate](prose_vm::gate) of the runner. [`serve`] serves one client.

mod adapter;
mod breakpoints;
mod debuggee;
mod expression;
mod filters;
mod headers;
mod launch;
mod live;
mod sources;
mod timeline;
mod values;
mod wire;

pub use crate::adapter::serve;
pub use crate::launch::Options;
