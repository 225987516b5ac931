//! Traces and metrics of runs, sent to an OpenTelemetry collector if the environment asks for it ([`table::VARIABLES`]).
//!
//! A [`RunTrace`] is an observer of the events of a run. It makes spans of them, in the terms of the conventions for generative AI, and records
//! metrics; threads of the process send both. A run never waits for them, and never fails by them. [`finish`] is called once, at the end of the process.

mod content;
mod ids;
mod metrics;
mod open;
mod pipeline;
mod process;
mod providers;
mod run_trace;
mod session_spans;
pub mod table;
mod variables;

pub use crate::content::Redact;
pub use crate::pipeline::MAX_FLUSH;
use crate::process::Process;
pub use crate::run_trace::{Origin, OriginKind, RunStart, RunTrace};
pub use crate::session_spans::SessionSpans;

/// Whether the environment asks for traces or metrics. If it does, they are sent from now on.
pub fn is_on() -> bool {
    Process::get().is_some()
}

/// The span that this process was started in, as `traceparent`, if there is one.
pub fn parent() -> Option<String> {
    process::parent().map(|parent| parent.to_string())
}

/// Sends what is left, for [`MAX_FLUSH`] at most. Returns what went wrong in this process, in one sentence for the user.
pub fn finish() -> Option<String> {
    Process::started()?.pipeline.finish()
}
