//! The runs of a session: the one with its id, and later ones, whose folders have a file that names it.

use std::path::Path;

use prose_files::{Folder as OpenFolder, Limit};
use prose_state::runs::RunSummary;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::folder::Folder;
use crate::runs;

/// The file in the folder of a run with the session that it belongs to. A run without one belongs to the session with its own id.
const FILE: &str = "acp-session.json";

#[derive(Serialize, Deserialize)]
struct OfSession {
    session: SmolStr,
}

/// Notes the session that a run belongs to.
pub(super) fn note(run: &str, folder: &Path, session: &SmolStr) {
    if run == session {
        return;
    }
    // Without the note, the run is a session of its own.
    if let Ok(bytes) = serde_json::to_vec(&OfSession { session: session.clone() })
        && let Ok(folder) = OpenFolder::open(folder)
    {
        let _ = folder.write(FILE, &bytes);
    }
}

/// The session that a run belongs to.
fn session_of(run: &RunSummary) -> SmolStr {
    let read = || {
        let bytes = OpenFolder::open(&run.folder).ok()?.read(FILE, Limit::SETTINGS).ok()??;
        serde_json::from_slice::<OfSession>(&bytes).ok()
    };
    read().map_or_else(|| run.id.clone(), |noted| noted.session)
}

/// The runs of a session, the oldest first.
pub(super) fn runs_of(folder: &Folder, session: &str) -> Result<Vec<RunSummary>, String> {
    let mut runs = runs::list(folder)?;
    runs.retain(|run| run.id == session || session_of(run) == session);
    runs.reverse();
    Ok(runs)
}

/// The sessions of a folder, each with its last run, the latest first.
pub(super) fn sessions(folder: &Folder, max: usize) -> Result<Vec<(SmolStr, RunSummary)>, String> {
    let mut sessions: Vec<(SmolStr, RunSummary)> = Vec::new();
    for run in runs::list(folder)? {
        let session = session_of(&run);
        if sessions.iter().all(|(known, _)| *known != session) {
            if sessions.len() == max {
                break;
            }
            sessions.push((session, run));
        }
    }
    Ok(sessions)
}
