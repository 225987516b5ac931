//! `status` without a run, and `read_value`: what runs have left in their files.

use std::fmt::Write;

use prose_state::bindings;
use prose_syntax::text::{counted, one_line};
use prose_view::duration;
use prose_vm::runner::now;
use prose_vm::value::Value;

use super::reply::{MAX_TEXT, Reply};
use crate::folder::Folder;
use crate::runs::{self, recorded};

/// The number of runs in a list.
const MAX_RUNS: usize = 20;

/// Lists the latest runs.
pub(super) fn list(folder: &Folder) -> Reply {
    let runs = match runs::list(folder) {
        Ok(runs) => runs,
        Err(reason) => return Reply::error(reason),
    };
    let mut report = match runs.len() {
        0 => "there are no runs\n".to_owned(),
        count if count > MAX_RUNS => format!("the latest {MAX_RUNS} of {count} runs:\n"),
        count => format!("{}:\n", counted(count, "run")),
    };
    for run in runs.iter().take(MAX_RUNS) {
        let program = run.program.as_deref().unwrap_or("?");
        let error = run.error.as_deref().filter(|_| run.waiting.is_empty());
        let error = error.map_or(String::new(), |error| format!(": {}", one_line(error)));
        let _ = writeln!(report, "{}  {}  {}{error}", run.id, run.status.name(), one_line(program));
        for question in &run.waiting {
            let since = duration(now().saturating_sub(question.since));
            let summary = one_line(&question.summary());
            let _ = writeln!(report, "  question {}, since {since}: {summary}", question.id);
        }
    }
    Reply::text(report)
}

/// Reads an output or a binding of a run.
pub(super) fn read_value(folder: &Folder, run: &str, name: &str, offset: usize) -> Reply {
    match value(folder, run, name) {
        Ok(text) => part(&text, offset),
        Err(reason) => Reply::error(reason),
    }
}

fn value(folder: &Folder, run: &str, name: &str) -> Result<String, String> {
    let details = recorded(folder, run)?.details;
    let output = details.end.as_ref().and_then(|end| {
        let named = end.outputs.iter().find(|(output, _)| output == name).map(|(_, value)| value);
        named.or(Some(&end.value).filter(|value| name == "result" && !matches!(value, Value::Null)))
    });
    if let Some(value) = output {
        return Ok(value.to_string());
    }
    if details.bindings.iter().any(|binding| binding.name == name) {
        let stored = bindings::read_value(&details.summary.folder, name);
        if let Some(value) = stored.map_err(|error| format!("`{name}`: {error}"))? {
            return Ok(value);
        }
    }
    let names: Vec<&str> = details.bindings.iter().map(|binding| binding.name.as_str()).collect();
    Err(format!("run {} has no value `{name}`; its bindings are: {}", details.summary.id, names.join(", ")))
}

/// The part of a text from a byte on that fits into a result.
fn part(text: &str, offset: usize) -> Reply {
    let from = text.floor_char_boundary(offset);
    let to = text.floor_char_boundary(from.saturating_add(MAX_TEXT - 200));
    let rest = match text.len() - to {
        0 => String::new(),
        rest => format!("\n… ({rest} more bytes from offset {to})"),
    };
    Reply::text(format!("{}{rest}", &text[from..to]))
}
