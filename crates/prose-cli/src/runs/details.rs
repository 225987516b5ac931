//! The run that a command names.

use prose_run::Project;
use prose_state::StateError;
use prose_state::runs::RunDetails;

/// The run whose id contains this, or the last one. The error is a message for the user.
pub(crate) fn details(project: &Project, start: Option<&str>) -> Result<RunDetails, String> {
    let words = |error: StateError| error.to_string();
    let last = project.last_run().map_err(words)?;
    let id = match (start, last) {
        (_, None) => {
            return Err(format!(
                "there are no runs in {}; start one with `prose run`",
                project.runs().display()
            ));
        }
        (None, Some(last)) => last.id,
        (Some(start), Some(_)) => project.find_run(start).map_err(words)?,
    };
    project.show_run(&id).map_err(words)
}
