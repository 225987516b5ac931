//! The last runs of a program, from the folders of runs.

use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use dashmap::DashMap;
use prose_files::{Limit, read_text};
use prose_run::{History as Used, Project};
use prose_state::folder::PROGRAM_FILE;
use prose_state::journal::journal_of;
use prose_state::reader::{JournalReader, read_length};
use prose_state::runs::{RunDetails, RunState};
use prose_syntax::text::{beginning, counted};
use prose_view::duration;
use prose_vm::effect::RequestId;
use prose_vm::event::{EventKind, RunStatus};
use prose_vm::place::Place;
use prose_vm::program::Program;
use prose_vm::value::Value as ProgramValue;
use serde_json::{Value, json};
use smol_str::SmolStr;

/// How many runs are looked at, the latest first. A program that was not run for longer than that has no last run here.
const MAX_RUNS: usize = 100;

/// Remembers which runs are the last ones, since looking for them means to open every run.
#[derive(Default)]
pub(crate) struct History {
    known: DashMap<PathBuf, Known>,
    /// What runs of a program have used, by its text, with the time at which the folder of runs got its last one.
    used: DashMap<String, (SystemTime, Arc<Used>)>,
    /// The sessions of runs, by their folders, with the lengths of their journals.
    asked: DashMap<PathBuf, (u64, Arc<[AskedSession]>)>,
}

/// A session that a run has asked, at its first execution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AskedSession {
    /// The first and the last line of its statement in the recorded program, from 1.
    pub(crate) lines: RangeInclusive<u32>,
    pub(crate) place: Place,
    /// Its last attempt.
    pub(crate) request: RequestId,
}

/// How many characters of an output are shown.
const MAX_OUTPUT: usize = 60;

/// How many runs an estimate is based on.
const MAX_ESTIMATED: usize = 5;

struct Known {
    /// When the folder of runs got its last run.
    changed: SystemTime,
    last: Vec<(Option<SmolStr>, SmolStr)>,
}

/// The last run of a program or of one of its blocks.
pub(crate) struct LastRun {
    /// The block; none for the whole program.
    pub(crate) block: Option<SmolStr>,
    pub(crate) details: RunDetails,
}

impl History {
    /// What the latest runs of a program have used.
    pub(crate) fn used_before(&self, project: &Project, program: &Program) -> Arc<Used> {
        let changed = project.runs().metadata().and_then(|metadata| metadata.modified());
        let Ok(changed) = changed else { return Arc::default() };
        let known = self.used.get(&program.sha256).filter(|known| known.0 == changed);
        if let Some(known) = known {
            return Arc::clone(&known.1);
        }
        let used = Arc::new(Used::read(project, program, MAX_ESTIMATED));
        self.used.insert(program.sha256.clone(), (changed, Arc::clone(&used)));
        used
    }

    /// The sessions of the program itself, not of those that it imports, which the run in a folder has asked.
    pub(crate) fn asked_sessions(&self, folder: &Path) -> Arc<[AskedSession]> {
        let path = journal_of(folder);
        let Ok(length) = read_length(&path) else { return Arc::default() };
        if let Some(known) = self.asked.get(folder).filter(|known| known.0 == length) {
            return Arc::clone(&known.1);
        }
        let Ok(events) = JournalReader::open(&path) else { return Arc::default() };
        let mut asked: Vec<AskedSession> = Vec::new();
        for event in events.map_while(Result::ok) {
            let EventKind::SessionStarted { request, .. } = event.kind else { continue };
            let Some(site) = event.site.filter(|site| site.program == 0) else { continue };
            let lines = site.line..=site.last_line.max(site.line);
            match asked.iter_mut().find(|session| session.lines == lines) {
                Some(session) if is_attempt_of(&event.place, &session.place) => session.request = request,
                Some(_) => {}
                None => asked.push(AskedSession { lines, place: event.place, request }),
            }
        }
        let asked: Arc<[AskedSession]> = asked.into();
        self.asked.insert(folder.to_owned(), (length, Arc::clone(&asked)));
        asked
    }

    /// The last run of a program as a whole, and that of each of its blocks.
    pub(crate) fn last_runs(&self, project: &Project, program: &Path) -> Vec<LastRun> {
        let folder = project.runs();
        let changed = folder.metadata().and_then(|metadata| metadata.modified());
        let Ok(changed) = changed else { return Vec::new() };
        let known = self.known.get(program).filter(|known| known.changed == changed);
        let known = known.map(|known| known.last.clone());
        let last = known.unwrap_or_else(|| {
            let (last, is_certain) = look(project, &folder, program);
            if is_certain {
                self.known.insert(program.to_owned(), Known { changed, last: last.clone() });
            }
            last
        });
        let details = |(block, id): (Option<SmolStr>, SmolStr)| {
            Some(LastRun { block, details: project.show_run(&id).ok()? })
        };
        last.into_iter().filter_map(details).collect()
    }
}

/// Whether a place is that of a retry of a session.
fn is_attempt_of(place: &Place, session: &Place) -> bool {
    place.as_str().strip_prefix(session.as_str()).is_some_and(|rest| rest.starts_with("/a"))
}

/// The last runs, and whether that will stay so until there is another folder: the journal of a run comes after its folder.
fn look(project: &Project, folder: &Path, program: &Path) -> (Vec<(Option<SmolStr>, SmolStr)>, bool) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut ids: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    // Ids start with the time, in seconds.
    ids.sort_by(|a, b| b.cmp(a));
    let mut runs = Vec::new();
    let mut is_certain = true;
    for id in ids.into_iter().take(MAX_RUNS) {
        let Some((started, head)) =
            project.show_run(&id).ok().and_then(|details| Some((details.summary.started, details.head?)))
        else {
            is_certain = false;
            continue;
        };
        // A run of a part says nothing about the program as a whole.
        if let Some(block) = block_of(&head.from, program).filter(|_| head.part.is_none()) {
            runs.push((started, block, SmolStr::from(id)));
        }
    }
    runs.sort_by(|(a, ..), (b, ..)| b.cmp(a));
    let mut last: Vec<(Option<SmolStr>, SmolStr)> = Vec::new();
    for (_, block, id) in runs {
        if last.iter().all(|(known, _)| *known != block) {
            last.push((block, id));
        }
    }
    (last, is_certain)
}

/// The path of a block as a program.
pub(crate) fn path_of_block(program: &Path, block: &str) -> PathBuf {
    let mut path = program.as_os_str().to_owned();
    path.push("#");
    path.push(block);
    path.into()
}

/// The block of a program that a run is one of; none if it is a run of another program.
pub(crate) fn block_of(from: &str, program: &Path) -> Option<Option<SmolStr>> {
    match from.strip_prefix(&*program.to_string_lossy())? {
        "" => Some(None),
        rest => rest.strip_prefix('#').map(|block| Some(block.into())),
    }
}

impl LastRun {
    /// Whether it can continue.
    pub(crate) fn can_be_resumed(&self) -> bool {
        self.details.summary.status.can_be_resumed()
    }

    /// `12 sessions, 3 m 10 s, failed at line 40`, where lines are those of the document whose `first_line` is that of the program.
    pub(crate) fn result(&self, first_line: usize) -> Option<String> {
        let summary = &self.details.summary;
        let end = self.details.end.as_ref();
        let how = match (summary.status, end) {
            (status @ (RunState::Completed | RunState::CompletedWithFailures), _) => status.name().to_owned(),
            (RunState::Failed, end) => {
                let line = end.filter(|end| end.status == RunStatus::Failed);
                let line = line.and_then(|end| end.error.as_ref()).map_or(0, |error| error.line as usize);
                if line > 0 { format!("failed at line {}", first_line + line) } else { "failed".to_owned() }
            }
            (RunState::Interrupted | RunState::Foreign, _) => "interrupted".to_owned(),
            (RunState::Waiting, _) => "waiting for an answer".to_owned(),
            // A run of this server has a lens of its own; the progress of other processes is not known.
            (
                RunState::Running(_)
                | RunState::Asking(_)
                | RunState::Paused(_)
                | RunState::Newer
                | RunState::Unreachable
                | RunState::Damaged,
                _,
            ) => {
                return None;
            }
        };
        let parts = [
            summary.sessions.map(|sessions| counted(sessions as usize, "session")),
            summary.work().map(duration),
            Some(how),
        ];
        Some(parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
    }

    /// What it returned for an output and when: `2026-01-15 14:30 UTC: The tides are …`. `name` is none for the unnamed output.
    pub(crate) fn output(&self, name: Option<&str>) -> Option<String> {
        let end = self.details.end.as_ref()?;
        let value = match name {
            Some(name) => end.outputs.iter().find(|(known, _)| known == name).map(|(_, value)| value)?,
            None => Some(&end.value).filter(|value| **value != ProgramValue::Null)?,
        };
        let value = beginning(&value.to_string(), MAX_OUTPUT);
        Some(match self.details.summary.last_minute() {
            Some(at) => format!("{at}: {value}"),
            None => value,
        })
    }

    /// The line of its program at which it failed, from 1.
    pub(crate) fn failed_line(&self) -> Option<u32> {
        let end = self.details.end.as_ref().filter(|_| self.details.summary.status == RunState::Failed)?;
        end.error.as_ref().map(|error| error.line).filter(|line| *line > 0)
    }

    /// The text of its program when it started.
    pub(crate) fn program(&self) -> Option<String> {
        read_text(&self.details.summary.folder.join(PROGRAM_FILE), Limit::PROGRAM).ok()
    }

    /// The command that continues with it.
    pub(crate) fn argument(&self, uri: &str) -> Value {
        json!({ "uri": uri, "run": self.details.summary.id })
    }
}
