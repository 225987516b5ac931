//! Whether a run can continue with its program, and the programs of agents that settings name.

use crate::changes::first_difference;
use prose_files::Limit;
use prose_state::runs::RunDetails;

use crate::RunRequest;
use crate::error::RunFailure;

/// Refuses to continue with a run that has nothing left to do, or whose program has changed without the person's consent.
pub(crate) fn check_program(
    request: &RunRequest,
    details: &RunDetails,
    accept_changes: bool,
) -> Result<(), RunFailure> {
    let run = &details.summary.id;
    let before = prose_files::read_text(
        &details.summary.folder.join(prose_state::folder::PROGRAM_FILE),
        Limit::PROGRAM,
    )
    .ok();
    let changed =
        details.head.as_ref().and_then(|head| first_difference(head, before.as_deref(), &request.program));
    if details.summary.status.is_completed() && !(accept_changes && changed.is_some()) {
        return Err(RunFailure::Over { run: run.to_string(), is_unchanged: accept_changes });
    }
    if let Some(difference) = changed.filter(|_| !accept_changes) {
        return Err(RunFailure::Changed { run: run.to_string(), difference });
    }
    Ok(())
}
