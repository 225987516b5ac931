//! What failed in a run, and in which session or program.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use prose_state::prompt_file;
use prose_view::View;
use prose_vm::effect::RequestId;
use prose_vm::error::{ErrorKind, RuntimeError};
use prose_vm::event::{Event, EventKind, Status};
use prose_vm::place::Place;
use smol_str::SmolStr;

/// Follows errors back to the sessions and the programs that they come from, while a run is executed.
#[derive(Default)]
pub(crate) struct Failures {
    /// The files of the results of sessions that have not ended.
    open: HashMap<RequestId, Arc<str>>,
    /// The session that failed last, until its error is raised.
    failed: Option<(Place, Arc<str>)>,
    /// The errors that were raised.
    raised: Vec<Raised>,
}

/// An error that was raised.
struct Raised {
    place: Place,
    error: Arc<RuntimeError>,
    /// The file of the result of the session that it comes from.
    session: Option<Arc<str>>,
    origin: Origin,
}

/// What an error comes from, also if it was raised in an imported program.
#[derive(Clone)]
pub(crate) struct Origin {
    /// The kind of the error there.
    pub(crate) kind: ErrorKind,
    /// What messages call the imported program, which is a file of the user; `None` for the program of the run, and for one that was fetched.
    pub(crate) program: Option<SmolStr>,
}

impl Failures {
    /// Takes note of an event, which `view` has applied.
    pub(crate) fn observe(&mut self, event: &Event, view: &View) {
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
                let inner = self.raised.iter().rev().find(|inner| is_in(&inner.place, place));
                // A `throw` in a `catch` raises it again.
                let same = self.find(error);
                let origin = match inner.filter(|_| error.kind == ErrorKind::Import).or(same) {
                    Some(earlier) => earlier.origin.clone(),
                    None => {
                        let imported = event.site.and_then(|site| view.imported_program(site));
                        let local = imported.filter(|imported| Path::new(&imported.from).is_absolute());
                        Origin { kind: error.kind, program: local.map(|imported| imported.name.clone()) }
                    }
                };
                let session = of_session.or_else(|| inner.or(same)?.session.clone());
                self.raised.push(Raised { place: place.clone(), error: Arc::clone(error), session, origin });
            }
            _ => {}
        }
    }

    /// The file with the prompt of the session that an error comes from, relative to the folder of the run.
    pub(crate) fn prompt_of(&self, error: &RuntimeError) -> Option<String> {
        self.find(error)?.session.as_deref().map(prompt_file::path)
    }

    /// What has failed where an error comes from.
    pub(crate) fn origin_of(&self, error: &RuntimeError) -> Origin {
        let found = self.find(error).map(|raised| raised.origin.clone());
        found.unwrap_or(Origin { kind: error.kind, program: None })
    }

    fn find(&self, error: &RuntimeError) -> Option<&Raised> {
        self.raised.iter().rev().find(|raised| *raised.error == *error)
    }
}

/// Whether a place is another one or inside of it.
fn is_in(place: &Place, around: &Place) -> bool {
    let rest = place.as_str().strip_prefix(around.as_str());
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || around.as_str().is_empty())
}
