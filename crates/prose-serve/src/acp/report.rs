//! The end of a run in words.

use std::fmt::Write;

use prose_syntax::text::{counted, one_line};
use prose_view::{View, duration, usage_text};
use prose_vm::event::{RunEnd, RunStatus};
use prose_vm::value::Value;

use super::updates::bounded;

/// The longest result in bytes. The files of the run have the rest.
const MAX_RESULT: usize = 200_000;

/// The number of warnings and of denied tool calls in the words about an end.
const MAX_LISTED: usize = 5;

/// What the next prompt does after a run was stopped.
pub(super) const RESUMES: &str = "The next prompt resumes the run; recorded results are reused. A command such as `/name` starts a program instead.\n";

/// What a run gave: its only output as it is, or each output with its name.
pub(super) fn result(end: &RunEnd) -> String {
    let unnamed = Some(&end.value).filter(|value| !matches!(value, Value::Null));
    let text = match (end.outputs.as_slice(), unnamed) {
        ([], value) => value.map_or(String::new(), ToString::to_string),
        ([(_, only)], None) => only.to_string(),
        (outputs, value) => {
            let named = outputs.iter().map(|(name, value)| format!("**{name}**\n\n{value}"));
            named.chain(value.map(ToString::to_string)).collect::<Vec<_>>().join("\n\n")
        }
    };
    bounded(&text, MAX_RESULT)
}

/// What a run took, and what was not as it should be.
pub(super) fn census(run: &str, view: &View, warnings: &[String]) -> String {
    let sessions = counted(view.sessions_ended() as usize, "session");
    let root = view.root();
    let usage = root.and_then(|root| root.usage);
    let usage = usage.map_or(String::new(), |usage| format!(", {}", usage_text(usage)));
    let mut text = format!("\n\nRun {run}: {sessions}{usage}, {}\n", duration(view.now()));
    let failed = root.map_or(0, |root| root.sessions.failed);
    if failed > 0 {
        let _ = writeln!(text, "- {} failed", counted(failed as usize, "session"));
    }
    let denied = view.denied().filter_map(|(_, node)| node.site.map(|site| site.line));
    let denied = denied.map(|line| format!("line {line}: a tool call was denied"));
    let all: Vec<String> = warnings.iter().cloned().chain(denied).collect();
    for warning in all.iter().take(MAX_LISTED) {
        let _ = writeln!(text, "- {warning}");
    }
    if let Some(rest) = all.len().checked_sub(MAX_LISTED).filter(|rest| *rest > 0) {
        let _ = writeln!(text, "- and {} more", counted(rest, "warning"));
    }
    text
}

/// Why a run did not complete.
pub(super) fn error(end: &RunEnd) -> String {
    let what = if end.status == RunStatus::Failed { "failed" } else { "was stopped" };
    match &end.error {
        Some(error) if error.line > 0 => {
            format!("the program {what} at line {}: {}", error.line, one_line(&error.to_string()))
        }
        Some(error) => format!("the program {what}: {}", one_line(&error.to_string())),
        None => format!("the program {what}"),
    }
}
