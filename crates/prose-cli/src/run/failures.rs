//! The sessions that failed in a run.

use std::collections::HashMap;
use std::sync::Arc;

use prose_state::prompt_file;
use prose_vm::effect::RequestId;
use prose_vm::error::RuntimeError;
use prose_vm::event::{Event, EventKind, Status};
use prose_vm::place::Place;

/// Follows errors back to the sessions that they come from, while a run is executed.
#[derive(Default)]
pub(crate) struct FailedSessions {
    /// The files of the results of sessions that have not ended.
    open: HashMap<RequestId, Arc<str>>,
    /// The session that failed last, until its error is raised.
    failed: Option<(Place, Arc<str>)>,
    /// The errors that came from sessions, with the places at which they were raised.
    raised: Vec<(Place, Arc<RuntimeError>, Arc<str>)>,
}

impl FailedSessions {
    pub(crate) fn observe(&mut self, event: &Event) {
        match &event.kind {
            EventKind::SessionStarted { request, task } => {
                self.open.insert(*request, Arc::clone(&task.binding.path));
            }
            EventKind::SessionEnded { request, status, .. } => {
                if let Some(file) = self.open.remove(request)
                    && *status == Status::Failed
                {
                    self.failed = Some((event.place.clone(), file));
                }
            }
            EventKind::Raised { error } => {
                let place = &event.place;
                let of_session =
                    self.failed.take_if(|(failed, _)| is_in(failed, place)).map(|(_, file)| file);
                // An error of an imported program reaches its caller with other words around it.
                let passed_on = || {
                    let mut inner = self.raised.iter().rev();
                    inner.find(|(raised, ..)| is_in(raised, place)).map(|(.., file)| Arc::clone(file))
                };
                if let Some(file) = of_session.or_else(passed_on) {
                    self.raised.push((place.clone(), Arc::clone(error), file));
                }
            }
            _ => {}
        }
    }

    /// The file with the prompt of the session that an error comes from, relative to the folder of the run.
    pub(crate) fn prompt_of(&self, error: &RuntimeError) -> Option<String> {
        let mut raised = self.raised.iter().rev();
        let (.., file) = raised.find(|(_, raised, _)| **raised == *error)?;
        Some(prompt_file::path(file))
    }
}

/// Whether a place is another one or inside of it.
fn is_in(place: &Place, around: &Place) -> bool {
    let rest = place.as_str().strip_prefix(around.as_str());
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || around.as_str().is_empty())
}
