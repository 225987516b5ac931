//! The end of a run in words.

use std::fmt::Write;

use prose_syntax::text::{counted, one_line};
use prose_view::View;
use prose_vm::choices;
use prose_vm::event::RunEnd;
use prose_vm::questions::{OpenQuestion, QuestionKind};
use prose_vm::value::Value;

use super::updates::bounded;
use crate::report::{ending, used};

/// The longest result in bytes. The files of the run have the rest.
const MAX_RESULT: usize = 200_000;

/// The number of failures, of missing results, and of warnings in the words about an end.
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
    let census = view.census();
    let summary = census.summary();
    let summary = if summary.is_empty() { "no sessions" } else { summary.as_str() };
    let mut text = format!("\n\nRun {run}: {summary}, {}\n", used(view));
    for line in census.details(MAX_LISTED) {
        let _ = writeln!(text, "- {}", one_line(&line));
    }
    let denied = view.denied().filter_map(|(_, node)| view.line(node.site?));
    let denied = denied.map(|line| format!("{line}: a tool call was denied"));
    let all: Vec<String> = warnings.iter().cloned().chain(denied).collect();
    for warning in all.iter().take(MAX_LISTED) {
        let _ = writeln!(text, "- {warning}");
    }
    if let Some(rest) = all.len().checked_sub(MAX_LISTED).filter(|rest| *rest > 0) {
        let _ = writeln!(text, "- and {} more", counted(rest, "warning"));
    }
    text
}

/// What keeps a prompt from resuming a run.
pub(super) fn executed_elsewhere(run: &str) -> String {
    format!("run {run} is executed by another process; stop it there before you resume it here")
}

/// A question that a prompt answers.
pub(super) fn question(question: &OpenQuestion) -> String {
    match question.kind {
        QuestionKind::Input { .. } => question.prompt_and_note(),
        _ => format!(
            "{}\n\nAnswer with one of {}.",
            question.prompt_and_note(),
            choices::listed(&question.choices)
        ),
    }
}

/// Why a run did not complete, in one line.
pub(super) fn error(end: &RunEnd) -> String {
    let why = end.error.as_ref().map_or(String::new(), |error| format!(": {error}"));
    one_line(&format!("{}{why}", ending(end)))
}
