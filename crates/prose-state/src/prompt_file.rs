//! The files with the prompts of sessions that failed, for the person who looks for the reason.

use std::sync::Arc;

use prose_vm::effect::{RequestId, SessionTask};
use prose_vm::error::RuntimeError;
use prose_vm::event::{Event, Status, What};
use rustc_hash::FxHashMap;

use crate::disk::Tree;
use crate::error::StateError;

/// The folder of the files, in that of the run.
pub const PROMPTS_FOLDER: &str = "prompts";

/// The file with the prompt of a session that failed, relative to the folder of the run. `binding` is the file of its result.
pub fn path(binding: &str) -> String {
    format!("{PROMPTS_FOLDER}/{}", binding.replace("bindings/", ""))
}

/// Writes the prompts of sessions when they fail.
#[derive(Debug, Default)]
pub(crate) struct PromptFiles {
    at_work: FxHashMap<RequestId, Arc<SessionTask>>,
}

impl PromptFiles {
    /// Takes up an event; what happened in an earlier execution has its file already.
    pub(crate) fn take_up(&mut self, event: &Event, is_new: bool, tree: &mut Tree) -> Result<(), StateError> {
        match &event.what {
            What::SessionStarted { request, task } => {
                self.at_work.insert(*request, Arc::clone(task));
            }
            What::SessionEnded { request, status, error } => {
                let task = self.at_work.remove(request);
                if let (true, Status::Failed, Some(task)) = (is_new, status, task) {
                    let line = event.site.map_or(0, |site| site.line);
                    let text = text(&task, line, error.as_deref());
                    tree.write(&path(&task.binding.path), text.as_bytes())?;
                }
            }
            _ => {}
        }
        Ok(())
    }
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
