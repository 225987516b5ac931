//! The spans of sessions, as the programs that work on them need to know them.

use prose_vm::effect::{Effect, Request};

use crate::ids::{Ids, Parent};

/// The spans of the sessions of an execution.
#[derive(Debug, Clone)]
pub struct SessionSpans {
    ids: Ids,
    is_sampled: bool,
}

impl SessionSpans {
    pub(crate) fn new(ids: Ids, is_sampled: bool) -> Self {
        Self { ids, is_sampled }
    }

    /// The span of a session, as `traceparent`; `None` for other requests.
    pub fn traceparent(&self, request: &Request) -> Option<String> {
        let Effect::Session(task) = &request.effect else { return None };
        let span = self.ids.span(&span_key(session_key(request.place.as_str(), task.attempt)));
        Some(Parent { trace: self.ids.trace, span, is_sampled: self.is_sampled }.to_string())
    }
}

/// What the id of a session's span is made of.
pub(crate) fn span_key(key: &str) -> String {
    format!("{key} session")
}

/// The place of the first attempt, by which the session is known.
pub(crate) fn session_key(place: &str, attempt: u32) -> &str {
    let suffix = place.rfind('/').filter(|_| attempt > 0);
    suffix.filter(|at| place[at + 1..].starts_with('a')).map_or(place, |at| &place[..at])
}
