//! The sessions that failed in a run.

use std::collections::HashMap;

use prose_state::prompt_file;
use prose_vm::effect::RequestId;
use prose_vm::error::RuntimeError;
use prose_vm::event::{Event, Status, What};

/// The sessions that failed, with the files that their prompts are in.
#[derive(Default)]
pub(crate) struct FailedSessions {
    at_work: HashMap<RequestId, String>,
    /// The messages of their errors and the files.
    failed: Vec<(String, String)>,
}

impl FailedSessions {
    pub(crate) fn take_up(&mut self, event: &Event) {
        match &event.what {
            What::SessionStarted { request, task } => {
                self.at_work.insert(*request, prompt_file::path(&task.binding));
            }
            What::SessionEnded { request, status, error } => {
                let path = self.at_work.remove(request);
                if let (Status::Failed, Some(path), Some(error)) = (status, path, error) {
                    self.failed.push((error.message.clone(), path));
                }
            }
            _ => {}
        }
    }

    /// The file with the prompt of the session that an error comes from, relative to the folder of the run.
    pub(crate) fn prompt_of(&self, error: &RuntimeError) -> Option<&str> {
        // An error of an imported program reaches its caller with other words around it.
        let of_error =
            |(message, _): &&(String, String)| !message.is_empty() && error.message.contains(message);
        self.failed.iter().rev().find(of_error).map(|(_, path)| path.as_str())
    }
}
