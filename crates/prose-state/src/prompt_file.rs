//! The files with the prompts of sessions that failed, for the person who looks for the reason.

use prose_view::View;
use prose_vm::effect::SessionTask;
use prose_vm::error::RuntimeError;
use prose_vm::event::{Event, EventKind, Status};

use crate::disk::Tree;
use crate::error::StateError;

/// The folder of the files, in that of the run.
pub const PROMPTS_FOLDER: &str = "prompts";

/// The file with the prompt of a session that failed, relative to the folder of the run. `binding` is the file of its result.
pub fn path(binding: &str) -> String {
    format!("{PROMPTS_FOLDER}/{}", binding.replace("bindings/", ""))
}

/// Writes the prompt of a session that fails. The view is that of the run before the event.
pub(crate) fn write_failed(event: &Event, view: &View, tree: &mut Tree) -> Result<(), StateError> {
    if let EventKind::SessionEnded { request, status: Status::Failed, error } = &event.kind
        && let Some(task) = view.task(*request)
    {
        let line = event.site.map_or(0, |site| site.line);
        let text = text(task, line, error.as_deref());
        tree.write(&path(&task.binding.path), text.as_bytes())?;
    }
    Ok(())
}

fn text(task: &SessionTask, line: u32, error: Option<&RuntimeError>) -> String {
    let mut text = format!("# The prompt of a failed session: {}\n\nline: {line}\n", task.binding.name);
    for (key, value) in [("agent", &task.agent), ("model", &task.model)] {
        if let Some(value) = value {
            text += &format!("{key}: {value}\n");
        }
    }
    if task.retries > 0 {
        text += &format!("attempt: {} of {}\n", task.attempt + 1, task.retries + 1);
    }
    if let Some(error) = error {
        text += &format!("error: {}\n", error.message.trim().replace('\n', "\n  "));
    }
    for (heading, part) in [("System", task.system.as_ref()), ("Prompt", Some(&task.prompt))] {
        if let Some(part) = part {
            text += &format!("\n## {heading}\n\n{}\n", part.trim_end());
        }
    }
    text
}
