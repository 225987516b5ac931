//! The run that a command names.

use std::path::Path;

use prose_run::Project;
use prose_state::StateError;
use prose_state::journal::journal_of;
use prose_state::reader::JournalReader;
use prose_state::runs::RunDetails;
use prose_view::View;
use prose_vm::event::Event;

use crate::terminal::counted;

/// The run whose id contains this, or the last one. The error is a message for the user.
pub(crate) fn details(project: &Project, start: Option<&str>) -> Result<RunDetails, String> {
    let words = |error: StateError| error.to_string();
    let last = project.last_run().map_err(words)?;
    let id = match (start, last) {
        (_, None) => {
            return Err(no_runs(project));
        }
        (None, Some(last)) => last.id,
        (Some(start), Some(_)) => project.find_run(start).map_err(words)?,
    };
    project.show_run(&id).map_err(words)
}

/// The last run of which there is something to resume, and what the user should know of later ones that were stopped before they started.
pub(crate) fn last_started(project: &Project) -> Result<(RunDetails, Option<String>), String> {
    let words = |error: StateError| error.to_string();
    let runs = project.list_runs().map_err(words)?;
    let later = runs.iter().take_while(|run| run.never_started()).count();
    let stopped = match &runs[..later] {
        [] => None,
        [only] => Some(format!("run {} was stopped before it started", only.id)),
        several => Some(format!("{} were stopped before they started", counted(several.len(), "run"))),
    };
    match (runs.get(later), stopped) {
        (Some(last), stopped) => {
            let note = stopped.map(|stopped| format!("{stopped}; the last run that started is {}", last.id));
            Ok((project.show_run(&last.id).map_err(words)?, note))
        }
        (None, Some(stopped)) => {
            Err(format!("{stopped}, so there is nothing to resume; start a new run with `prose run`"))
        }
        (None, None) => Err(no_runs(project)),
    }
}

fn no_runs(project: &Project) -> String {
    format!("there are no runs in {}; start one with `prose run`", project.runs().display())
}

/// The view of the run in a folder, as far as its journal can be read.
pub(super) fn view_of(folder: &Path, mut read: impl FnMut(&Event)) -> Result<View, StateError> {
    let mut view = View::default();
    for event in JournalReader::open(&journal_of(folder))? {
        // The last line of an active run may be incomplete.
        let Ok(event) = event else { break };
        view.apply(&event);
        read(&event);
    }
    Ok(view)
}
