//! The sessions that failed in a run.

use prose_state::prompt_file;
use prose_view::{Session, View};
use prose_vm::error::RuntimeError;

/// The file with the prompt of the session that an error comes from, relative to the folder of the run.
pub(crate) fn prompt_of(view: &View, error: &RuntimeError) -> Option<String> {
    // An error of an imported program reaches its caller with other words around it.
    let failed_at = |session: &Session| {
        let is_of_error = |message: &str| !message.is_empty() && error.message.contains(message);
        let failed = session
            .attempts
            .iter()
            .filter(|attempt| attempt.error.as_ref().is_some_and(|error| is_of_error(&error.message)));
        failed.filter_map(|attempt| attempt.to).max()
    };
    let sessions = view.nodes().filter_map(|(_, node)| node.session());
    let failed = sessions.filter_map(|session| Some((failed_at(session)?, session)));
    failed.max_by_key(|(at, _)| *at).map(|(_, session)| prompt_file::path(&session.file))
}
