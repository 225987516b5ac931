//! Queries about runs: the list of runs, the events of one, and one of its sessions.
//!
//! The answers come from the folders of runs, so that they are the same for runs of this server, of a terminal, and of last week.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use prose_files::{Limit, read, read_text};
use prose_graph::flow_of;
use prose_run::Project;
use prose_state::journal::journal_of;
use prose_state::reader::JournalReader;
use prose_state::runs::{RunDetails, RunState, RunSummary};
use prose_state::{agent_log, binding_file};
use prose_view::{SessionFiles, SessionRecords, View};
use prose_vm::effect::{MemoryPlace, MemoryScope, RequestId};
use prose_vm::event::Event;
use ropey::Rope;
use serde_json::{Value, json};

use crate::protocol::convert::Converter;
use crate::protocol::flow_graph::graph_json;
use crate::protocol::json::{Json, json as text};
use crate::protocol::program_document::ProgramDocument;
use crate::protocol::request::Failure;
use crate::protocol::session::Session;
use crate::protocol::uri::uri_of_path;
use crate::runs::compare::compared;
use crate::runs::followed::follow;
use crate::runs::recorded::{details, root_of, shorten};
use crate::runs::registry::Runs;
use crate::runs::requests::RunQuery;

/// The program of a run, in its folder.
const PROGRAM_FILE: &str = "program.prose";

/// Answers a question about runs. `projects` are those of the workspace.
pub(crate) fn answer(
    query: &RunQuery,
    projects: Vec<PathBuf>,
    runs: &Arc<Runs>,
    session: &Arc<Session>,
) -> Result<Json, Failure> {
    let answer = match query {
        RunQuery::List(folders) => Ok(list(projects, folders, runs, session)),
        RunQuery::Events { folder, after } => events(folder, *after, runs),
        RunQuery::View { folder, after, at } => view(folder, *after, *at, runs),
        RunQuery::Session { folder, request } => told(folder, *request),
        RunQuery::FlowGraph { folder } => flow_of_run(folder, session),
        RunQuery::Compare { folders, step } => compared(folders, *step),
    };
    answer.map(|answer| text(&answer)).map_err(Failure::Refused)
}

fn list(projects: Vec<PathBuf>, folders: &[PathBuf], runs: &Arc<Runs>, session: &Arc<Session>) -> Value {
    let mut roots: Vec<PathBuf> = projects.into_iter().chain(folders.iter().cloned()).collect();
    roots.sort();
    roots.dedup();
    let mut found = Vec::new();
    let mut problems = Vec::new();
    for root in roots {
        match Project::new(&root).list_runs() {
            Ok(list) => found.extend(list),
            Err(error) => problems.push(error.for_editor()),
        }
    }
    found.sort_by(|a, b| (b.started, &b.id).cmp(&(a.started, &a.id)));
    follow(runs, &found, session);
    let found: Vec<Value> = found
        .iter()
        .map(|summary| {
            let mut shown = shown(summary, runs);
            let is_temporary = root_of(&summary.folder).is_some_and(|root| session.is_temporary(root));
            shown["isTemporary"] = json!(is_temporary);
            shown
        })
        .collect();
    json!({ "runs": found, "problems": problems })
}

fn shown(summary: &RunSummary, runs: &Runs) -> Value {
    // For editors, `waiting` is the status of a run without a process.
    let status = match summary.status {
        RunState::Asking(process) => RunState::Running(process),
        status => status,
    };
    let (program, block) = summary.from.as_deref().map_or((None, None), program_of);
    json!({
        "run": summary.id,
        "folder": uri_of_path(&summary.folder).as_deref(),
        "program": summary.program,
        "uri": program.as_deref().and_then(uri_of_path).as_deref(),
        "block": block,
        "part": summary.part,
        "harness": summary.harness,
        "status": status.name(),
        "canResume": summary.status.can_be_resumed(),
        "here": runs.is_live(&summary.id),
        "started": summary.started,
        "milliseconds": summary.work(),
        "sessions": summary.sessions,
        "usage": summary.usage,
        "error": summary.error,
        "waiting": summary.waiting,
        "pause": summary.pause,
    })
}

/// The file that a run is one of, and the block. Programs of a registry have no file of a person's.
fn program_of(from: &str) -> (Option<PathBuf>, Option<&str>) {
    let whole = Path::new(from);
    if !whole.is_absolute() {
        return (None, None);
    }
    match from.rsplit_once('#') {
        Some((program, block)) if program.ends_with(".prose") && !whole.exists() => {
            (Some(program.into()), Some(block))
        }
        _ => (Some(whole.to_owned()), None),
    }
}

fn events(folder: &Path, after: u64, runs: &Runs) -> Result<Value, String> {
    let mut events = Vec::new();
    let answer = recorded(folder, runs, |event| {
        if event.seq > after {
            let mut event = json!(event);
            shorten(&mut event);
            events.push(event);
        }
    });
    answer.map(|mut answer| {
        answer["events"] = json!(events);
        answer
    })
}

/// The view of a run after the event `at`: what changed in it since the event `after`. Events are recorded without gaps, so that a view of recorded events has
/// the number of its last one as its revision.
fn view(folder: &Path, after: u64, at: Option<u64>, runs: &Runs) -> Result<Value, String> {
    if let Some(at) = at {
        let mut view = View::default();
        let mut answer = recorded(folder, runs, |event| {
            if event.seq <= at {
                view.apply(&event);
            }
        })?;
        answer["view"] = json!(view.since(after.min(at)));
        return Ok(answer);
    }
    let RunDetails { summary, .. } = details(folder)?;
    let live = runs.live_view(&summary.id).filter(|_| after == 0);
    let path = journal_of(folder);
    let (view, problem) = match live {
        Some(view) => (view, None),
        None if path.exists() => runs.recorded_views.latest(&path).map_err(|error| error.for_editor())?,
        None => (View::default(), None),
    };
    let mut answer = known(folder, &summary, problem, runs);
    answer["view"] = json!(view.since(after));
    Ok(answer)
}

/// Reads the events of a run, and returns what else is known of it.
fn recorded(folder: &Path, runs: &Runs, mut take: impl FnMut(Event)) -> Result<Value, String> {
    let RunDetails { summary, .. } = details(folder)?;
    let path = journal_of(folder);
    let mut problem = None;
    if path.exists() {
        for event in JournalReader::open(&path).map_err(|error| error.for_editor())? {
            match event {
                Ok(event) => take(event),
                // The last line of an active run may be incomplete.
                Err(error) => problem = Some(error.to_string()),
            }
        }
    }
    Ok(known(folder, &summary, problem, runs))
}

/// What is known of a run, without its events.
fn known(folder: &Path, summary: &RunSummary, problem: Option<String>, runs: &Runs) -> Value {
    let mut answer = shown(summary, runs);
    answer["problem"] = json!(problem);
    answer["text"] = json!(read_text(&folder.join(PROGRAM_FILE), Limit::PROGRAM).ok());
    answer
}

pub(crate) fn told(folder: &Path, wanted: RequestId) -> Result<Value, String> {
    let path = journal_of(folder);
    let mut records = SessionRecords::of(wanted);
    let mut view = View::default();
    for event in JournalReader::open(&path).map_err(|error| error.for_editor())? {
        let Ok(event) = event else { break };
        view.apply(&event);
        records.apply(&event);
    }
    let record = records.get(wanted);
    let record = record.ok_or_else(|| format!("{} has no session {}", path.display(), wanted.0))?;
    let sessions = view.nodes().filter_map(|(_, node)| Some((node, node.session()?)));
    let attempt = sessions
        .flat_map(|(node, session)| session.attempts.iter().map(move |attempt| (node, attempt)))
        .rfind(|(_, attempt)| attempt.request == wanted);
    let files = FilesOfRun { root: root_of(folder).unwrap_or(folder), folder };
    Ok(json!(record.details(&view, attempt, &files)))
}

/// The files that the details of a session lead to, by their URIs.
struct FilesOfRun<'a> {
    root: &'a Path,
    folder: &'a Path,
}

impl SessionFiles for FilesOfRun<'_> {
    fn text(&self, path: &str) -> Option<String> {
        Some(binding_file::read_bytes(&read(&self.root.join(path), Limit::STATE).ok()?))
    }

    fn context(&self, path: &str) -> Option<String> {
        existing(&self.root.join(path))
    }

    fn result(&self, path: &str) -> Option<String> {
        existing(&self.folder.join(path))
    }

    fn memory(&self, place: &MemoryPlace) -> Option<String> {
        existing(&memory_file(self.root, self.folder, place.scope, &place.folder))
    }

    fn log(&self, request: RequestId, name: &str) -> Option<String> {
        existing(&self.folder.join(agent_log::path(request, name)))
    }
}

/// The URI of a file that exists.
fn existing(path: &Path) -> Option<String> {
    path.exists().then(|| uri_of_path(path)).flatten().as_deref().map(str::to_owned)
}

fn memory_file(root: &Path, run: &Path, scope: MemoryScope, folder: &str) -> PathBuf {
    let folder = match scope {
        MemoryScope::Execution => run.join(folder),
        MemoryScope::Project | MemoryScope::Custom => root.join(folder),
        MemoryScope::User => std::env::home_dir().unwrap_or_default().join(folder),
    };
    folder.join("memory.md")
}

fn flow_of_run(folder: &Path, session: &Session) -> Result<Value, String> {
    let path = folder.join(PROGRAM_FILE);
    let program = read_text(&path, Limit::PROGRAM)
        .map_err(|error| format!("the program of the run: `{}` {error}", path.display()))?;
    let shown = ProgramDocument::alone(Rope::from_str(&program));
    let graph = flow_of(&path, &program);
    Ok(graph_json(&graph, &Converter::new(&shown, session)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_of_a_block_is_one_of_the_file_before_it() {
        assert_eq!(program_of("/p/a.prose"), (Some("/p/a.prose".into()), None));
        assert_eq!(program_of("/p/a.prose#review"), (Some("/p/a.prose".into()), Some("review")));
        assert_eq!(program_of("/p/c#/a.prose"), (Some("/p/c#/a.prose".into()), None));
        assert_eq!(program_of("alice/research"), (None, None));
    }
}
