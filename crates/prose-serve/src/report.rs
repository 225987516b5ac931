//! A run in words, for agents and editors.

use prose_view::{View, duration, usage_text};
use prose_vm::event::{RunEnd, RunStatus};

/// How a run ended that did not complete. The error says why.
pub(crate) fn ending(end: &RunEnd) -> String {
    let what = if end.status == RunStatus::Failed { "failed" } else { "was stopped" };
    match &end.error {
        Some(error) if error.line > 0 => format!("the program {what} at line {}", error.line),
        _ => format!("the program {what}"),
    }
}

/// What a run has used, and how long it took.
pub(crate) fn used(view: &View) -> String {
    let usage = view.root().and_then(|root| root.usage);
    let usage = usage.map_or(String::new(), |usage| format!("{}, ", usage_text(usage)));
    format!("{usage}{}", duration(view.times().work))
}
