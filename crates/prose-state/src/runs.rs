//! The runs of a project, as far as their folders tell.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use memchr::memmem;
use prose_files::{Limit, read};
use prose_view::View;
use prose_vm::command::Pause;
use prose_vm::effect::Usage;
use prose_vm::event::{Event, EventKind, RunEnd, RunHead, RunStatus};
use prose_vm::part::RunPart;
use prose_vm::questions::OpenQuestion;
use smol_str::SmolStr;

pub use crate::bindings::BindingFile;
use crate::bindings::database_bindings;
use crate::disk::{OwnFile, is_absent};
use crate::error::StateError;
use crate::folder::{Project, time_of_id};
use crate::legacy;
use crate::lock::{LockState, RunLock};
use crate::postgres;
use crate::reader::{JournalReader, read_head, read_last};
use crate::row_writer::{DatabaseKind, database_of, is_database};
use crate::source::{JournalSource, journal_of};
use crate::state_file::{STATE_FILE, time, timestamp};

/// What a run shows in a list.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct RunSummary {
    /// Its id.
    pub id: SmolStr,
    /// Its folder.
    pub folder: PathBuf,
    /// The name of its program, if that is known.
    pub program: Option<SmolStr>,
    /// What its program was read from, if that is known.
    pub from: Option<String>,
    /// The part of the program that it executes; none for the whole program.
    pub part: Option<RunPart>,
    /// The harness that it was started with, if that is known.
    pub harness: Option<SmolStr>,
    /// The run that it has taken outcomes from, if it is a fork or a replay.
    pub earlier: Option<SmolStr>,
    /// How it stands.
    pub status: RunState,
    /// When it started, in milliseconds since 1970.
    pub started: Option<u64>,
    /// When it ended, or when the last event was recorded.
    pub last: Option<u64>,
    /// How many milliseconds it lay stopped up to then, between its executions.
    pub paused: u64,
    /// How many sessions have ended, if that is known.
    pub sessions: Option<u32>,
    /// What the sessions used that reported it.
    pub usage: Option<Usage>,
    /// Why it failed, or why its folder cannot be read.
    pub error: Option<String>,
    /// The questions that it waits for.
    pub waiting: Vec<OpenQuestion>,
    /// Since when and by whom it is paused, if it is.
    pub pause: Option<Pause>,
}

/// How a run stands.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum RunState {
    /// A process executes it, whose number is known on systems that report it.
    Running(Option<u32>),
    /// The same, and a person is asked. Named as a run that waits without a process.
    Asking(Option<u32>),
    /// A process executes it, and it starts no new session until it is continued.
    Paused(Option<u32>),
    /// It has ended well.
    Completed,
    /// It has ended well, but its program handled failures (decision 26).
    CompletedWithFailures,
    /// It has ended with an error.
    Failed,
    /// It can be resumed.
    #[default]
    Interrupted,
    /// It waits for answers, and no process executes it. It can be answered and resumed.
    Waiting,
    /// Another machine made it; it can be resumed.
    Foreign,
    /// A later version of `prose` wrote it.
    Newer,
    /// Its state is on a server that cannot be used at present.
    Unreachable,
    /// Its folder cannot be read.
    Damaged,
}

impl RunState {
    /// All names.
    pub const NAMES: [&'static str; 11] = [
        "running",
        "paused",
        "completed",
        "completed with failures",
        "failed",
        "interrupted",
        "waiting",
        "foreign",
        "newer",
        "unreachable",
        "damaged",
    ];

    /// As lists name it.
    pub fn name(self) -> &'static str {
        match self {
            RunState::Running(_) => "running",
            RunState::Paused(_) => "paused",
            RunState::Completed => "completed",
            RunState::CompletedWithFailures => "completed with failures",
            RunState::Failed => "failed",
            RunState::Interrupted => "interrupted",
            RunState::Waiting | RunState::Asking(_) => "waiting",
            RunState::Foreign => "foreign",
            RunState::Newer => "newer",
            RunState::Unreachable => "unreachable",
            RunState::Damaged => "damaged",
        }
    }

    /// The state of a run with this end.
    pub fn of(end: &RunEnd) -> Self {
        match end.status {
            RunStatus::Completed if end.failures > 0 => RunState::CompletedWithFailures,
            RunStatus::Completed => RunState::Completed,
            RunStatus::Failed => RunState::Failed,
            RunStatus::Interrupted => RunState::Interrupted,
            RunStatus::Waiting => RunState::Waiting,
        }
    }

    /// Whether its program came to its end, with or without failures that it handled.
    pub fn is_completed(self) -> bool {
        matches!(self, RunState::Completed | RunState::CompletedWithFailures)
    }

    /// Whether a process executes it.
    pub fn is_executed(self) -> bool {
        self.process().is_some()
    }

    /// The process that executes it, if one does. Its number is known on systems that report it.
    pub fn process(self) -> Option<Option<u32>> {
        match self {
            RunState::Running(process) | RunState::Paused(process) | RunState::Asking(process) => {
                Some(process)
            }
            _ => None,
        }
    }

    /// Whether it can be resumed.
    pub fn can_be_resumed(self) -> bool {
        matches!(self, RunState::Interrupted | RunState::Waiting | RunState::Foreign | RunState::Failed)
    }
}

impl RunSummary {
    /// How long it has worked up to its last event, in milliseconds: without the time for which it lay stopped, and without that for which it only
    /// waited for people. Reads the journal of a run that has asked for inputs.
    pub fn work(&self) -> Option<u64> {
        let path = journal_of(&self.folder);
        let view = if has_asked(&path) { view(&path).ok() } else { None };
        let view = view.filter(|view| view.root().is_some());
        view.map(|view| view.times().work).or_else(|| {
            let whole = self.last?.saturating_sub(self.started?);
            Some(whole.saturating_sub(self.paused))
        })
    }

    /// What it executes: `review.prose`, or `review.prose, session at line 12` for a part; `None` if that is not known.
    pub fn title(&self) -> Option<String> {
        let program = self.program.as_ref()?;
        Some(match &self.part {
            Some(part) => format!("{program}, {} at line {}", part.noun, part.line),
            None => program.to_string(),
        })
    }

    /// The minute in which it ended or recorded its last event: `2026-01-15 14:30 UTC`.
    pub fn last_minute(&self) -> Option<String> {
        let at = timestamp(self.last?);
        let (date, time) = at.split_once('T')?;
        Some(format!("{date} {} UTC", time.get(..5)?))
    }
}

/// A run as a whole.
#[derive(Debug, Clone, PartialEq)]
pub struct RunDetails {
    /// What it shows in a list.
    pub summary: RunSummary,
    /// What it was started with.
    pub head: Option<RunHead>,
    /// How it ended, if it has.
    pub end: Option<RunEnd>,
    /// The files of its bindings, by name; those of imported programs are not among them.
    pub bindings: Vec<BindingFile>,
}

impl Project {
    /// All runs, the latest first. A folder that cannot be read is in the list with the reason; there are no runs where there is no folder for them.
    pub fn list_runs(&self) -> Result<Vec<RunSummary>, StateError> {
        let folder = self.runs();
        // One that lies elsewhere is refused.
        self.runs_tree()?;
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => Some(entries),
            Err(error) if is_absent(&error) => None,
            Err(error) => return Err(StateError::io("read", &folder)(error)),
        };
        let mut runs: Vec<RunSummary> = entries
            .into_iter()
            .flatten()
            .flatten()
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
            .filter_map(|entry| Some(summarise(entry.file_name().to_str()?, &entry.path()).0))
            .chain(self.legacy_runs().iter().map(|(id, folder)| summarise(id, folder).0))
            .collect();
        runs.sort_by(|a, b| (b.started, &b.id).cmp(&(a.started, &a.id)));
        Ok(runs)
    }

    /// The run that started last.
    pub fn last_run(&self) -> Result<Option<RunSummary>, StateError> {
        Ok(self.list_runs()?.into_iter().next())
    }

    /// The id of the run that is meant by an id or by a part of one. Where ids start with the part, those that only contain it do not count.
    pub fn find_run(&self, part: &str) -> Result<SmolStr, StateError> {
        if part.is_empty() {
            return Err(StateError::NoName);
        }
        if self.existing_run(part).is_ok() {
            return Ok(part.into());
        }
        let mut runs = Vec::new();
        for entry in fs::read_dir(self.runs()).into_iter().flatten().flatten() {
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            runs.extend(entry.file_name().into_string().ok().filter(|id| is_folder && id.contains(part)));
        }
        let legacy = self.legacy_runs().into_iter().map(|(id, _)| id.to_string());
        runs.extend(legacy.filter(|id| id.contains(part)));
        if runs.iter().any(|id| id.starts_with(part)) {
            runs.retain(|id| id.starts_with(part));
        }
        runs.sort();
        match &runs[..] {
            [run] => Ok(run.into()),
            [] => Err(StateError::NoRun { run: part.to_owned(), folder: self.runs() }),
            _ => Err(StateError::Ambiguous { part: part.to_owned(), runs }),
        }
    }

    /// A run as a whole.
    pub fn show_run(&self, id: &str) -> Result<RunDetails, StateError> {
        let folder = self.existing_run(id)?;
        let (summary, head, end) = summarise(id, &folder);
        if is_database(&journal_of(&folder)) {
            // A database that cannot be read is told of in the summary.
            let bindings = database_bindings(&folder).unwrap_or_default();
            return Ok(RunDetails { summary, head, end, bindings });
        }
        let mut bindings: Vec<BindingFile> = fs::read_dir(folder.join("bindings"))
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| {
                let file = entry.file_name().into_string().ok()?;
                let name = file.strip_suffix(".md").filter(|name| !name.starts_with('.'))?.to_owned();
                let path = entry.path();
                let kind = kind_of(&path);
                Some(BindingFile { name, kind, bytes: entry.metadata().ok()?.len(), path })
            })
            .collect();
        bindings.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(RunDetails { summary, head, end, bindings })
    }

    /// Removes a run with all its files. One that is being executed stays.
    pub fn remove_run(&self, id: &str) -> Result<(), StateError> {
        let folder = self.existing_run(id)?;
        // A process that has the lock already executes the run; one that waits for it afterwards finds that the run is gone.
        let tree = self.run_tree(&folder)?;
        let lock = RunLock::acquire(&tree, id)?;
        let folder = tree.folder().path();
        let journal = journal_of(folder);
        if database_of(&journal) == Some(DatabaseKind::Postgres) {
            // First, so that rows that nobody knows of are not left on the server.
            postgres::remove(&journal)?;
        }
        let removed = fs::remove_dir_all(folder).map_err(StateError::io("remove", folder));
        drop(lock);
        removed
    }
}

/// The kind that the head of a binding file names. The value below it may be large, so only the first lines are read.
fn kind_of(path: &Path) -> Option<String> {
    let lines = BufReader::new(OwnFile(path).reader().ok()?).lines();
    lines.take(8).map_while(Result::ok).find_map(|line| Some(line.strip_prefix("kind:")?.trim().to_owned()))
}

fn summarise(id: &str, folder: &Path) -> (RunSummary, Option<RunHead>, Option<RunEnd>) {
    summarise_locked(id, folder, || LockState::read(folder))
}

/// The same, with the function that reads the lock of the run.
fn summarise_locked(
    id: &str,
    folder: &Path,
    mut lock: impl FnMut() -> LockState,
) -> (RunSummary, Option<RunHead>, Option<RunEnd>) {
    let mut before = lock();
    loop {
        let recorded = summarise_files(id, folder);
        let now = lock();
        match now.holder {
            Some(process) => return recorded.executed_by(process, now.taken_at),
            None if now == before => return recorded.stopped(),
            // A process has ended since, or has come and gone: what it wrote last may not have been read.
            None => before = now,
        }
    }
}

/// What the files of a run tell of it.
struct Recorded {
    summary: RunSummary,
    head: Option<RunHead>,
    end: Option<RunEnd>,
    /// When its questions were recorded, if it has not ended.
    asked_at: u64,
}

impl Recorded {
    /// The run while no process executes it.
    fn stopped(mut self) -> (RunSummary, Option<RunHead>, Option<RunEnd>) {
        self.summary.pause = None;
        (self.summary, self.head, self.end)
    }

    /// The run while a process executes it that has the lock since a time.
    fn executed_by(
        self,
        process: Option<u32>,
        since: Option<u64>,
    ) -> (RunSummary, Option<RunHead>, Option<RunEnd>) {
        let Self { mut summary, head, end, asked_at } = self;
        // A run that is resumed continues: a pause belongs to the process that received it.
        summary.pause = summary.pause.filter(|pause| since.is_some_and(|since| pause.since >= since));
        // What an earlier process asked is asked again, once the run has come to it.
        if since.is_none_or(|since| asked_at < since) {
            summary.waiting.clear();
        }
        summary.status = match summary.pause {
            Some(_) => RunState::Paused(process),
            None if summary.waiting.is_empty() => RunState::Running(process),
            None => RunState::Asking(process),
        };
        (summary, head, end)
    }
}

fn summarise_files(id: &str, folder: &Path) -> Recorded {
    let mut summary = RunSummary {
        id: id.into(),
        folder: folder.to_owned(),
        started: time_of_id(id),
        ..RunSummary::default()
    };
    let path = journal_of(folder);
    let (mut head, mut end, mut asked_at) = (None, None, 0);
    match read_head(&path) {
        Ok((at, found)) => {
            summary.started = Some(at);
            summary.program = Some(found.program.clone());
            summary.from = Some(found.from.clone());
            summary.part = found.part.as_deref().cloned();
            summary.harness = Some(found.harness.clone());
            summary.earlier = found.earlier.as_ref().map(|earlier| earlier.run.clone());
            head = Some(found);
            match read_last(&path) {
                Ok(Some(Event { at, paused, kind, .. })) => {
                    summary.last = Some(at);
                    summary.paused = paused;
                    if let EventKind::RunEnded(found) = kind {
                        summary.status = RunState::of(&found);
                        summary.sessions = Some(found.sessions);
                        summary.usage = found.usage;
                        summary.waiting.clone_from(&found.waiting);
                        summary.error = found.error.as_ref().map(|error| error.to_string());
                        end = Some(found);
                    }
                }
                // The last line is torn: the run was stopped while it was written.
                Ok(None) => {}
                Err(error) => {
                    if error.is_unreachable() {
                        summary.status = RunState::Unreachable;
                    }
                    summary.error = Some(error.to_string());
                }
            }
            if end.is_none()
                && let Some(open) = OpenRun::read(&path)
            {
                summary.sessions = Some(open.sessions);
                summary.usage = open.usage;
                summary.pause = open.pause;
                summary.waiting = open.waiting;
                asked_at = open.asked_at;
            }
        }
        Err(StateError::Io { error, .. }) if is_absent(&error) => summarise_foreign(folder, &mut summary),
        Err(error) => {
            summarise_state(folder, &mut summary);
            summary.last = None;
            summary.status = match error {
                StateError::Version { .. } | StateError::NewerDatabase { .. } => RunState::Newer,
                _ if error.is_unreachable() => RunState::Unreachable,
                _ => RunState::Damaged,
            };
            summary.error = Some(match summary.never_started() {
                true => format!("it was stopped before it started; remove it with `prose runs rm {id}`"),
                false => error.to_string(),
            });
        }
    }
    Recorded { summary, head, end, asked_at }
}

/// A run without a journal, or what is left of one.
fn summarise_foreign(folder: &Path, summary: &mut RunSummary) {
    if legacy::is_legacy(folder) {
        summary.status = RunState::Foreign;
        match legacy::position(folder) {
            Ok(position) => {
                let position = position.unwrap_or_default();
                summary.started = time(&position.started_at);
                summary.last = time(&position.last_updated);
            }
            Err(error) => summary.error = Some(error.to_string()),
        }
        return;
    }
    let has_bindings = folder.join("bindings").is_dir();
    if !summarise_state(folder, summary) && !has_bindings {
        summary.status = RunState::Damaged;
        summary.error =
            Some(format!("{} has neither a journal nor {STATE_FILE}; delete the folder", folder.display()));
        return;
    }
    summary.status = RunState::Foreign;
}

/// What `state.md` states of a run. Returns whether it can be read.
fn summarise_state(folder: &Path, summary: &mut RunSummary) -> bool {
    let Ok(state) = read(&folder.join(STATE_FILE), Limit::STATE) else { return false };
    let state = String::from_utf8_lossy(&state).into_owned();
    let field =
        |key: &str| state.lines().take(20).find_map(|line| Some(line.strip_prefix(key)?.trim().to_owned()));
    summary.program = field("program:").map(SmolStr::from);
    summary.started = field("started:").and_then(|text| time(&text)).or(summary.started);
    summary.last = field("updated:").and_then(|text| time(&text));
    true
}

/// What a journal without an end tells.
#[derive(Default)]
pub(crate) struct OpenRun {
    /// How many sessions have ended.
    sessions: u32,
    /// What they took.
    usage: Option<Usage>,
    /// The last pause, if the run was not continued after it.
    pause: Option<Pause>,
    /// The open questions, and when that was recorded.
    pub(crate) waiting: Vec<OpenQuestion>,
    asked_at: u64,
}

impl OpenRun {
    /// Lines are only searched, since a list should not take long.
    pub(crate) fn read(path: &Path) -> Option<Self> {
        let mut reader = BufReader::with_capacity(1 << 16, JournalSource::open(path).ok()?);
        let mut line = Vec::new();
        let mut open = Self::default();
        loop {
            line.clear();
            if reader.read_until(b'\n', &mut line).ok()? == 0 {
                return Some(open);
            }
            open.sessions += u32::from(is_event(&line, br#""event":"session-ended","#));
            open.usage = Usage::sum([open.usage, usage_in(&line)]);
            if is_event(&line, br#""event":"commanded","#)
                && let Ok(event) = serde_json::from_slice::<Event>(&line)
            {
                open.pause = event.pause_after(open.pause);
            }
            if is_event(&line, br#""event":"questions-open","#)
                && let Ok(Event { at, kind: EventKind::QuestionsOpen { questions }, .. }) =
                    serde_json::from_slice(&line)
            {
                (open.waiting, open.asked_at) = (questions, at);
            }
        }
    }
}

/// Whether a run has asked for an input. Reads the whole journal without looking at its lines: no text can hold the name of an event, since its quotes
/// are escaped.
fn has_asked(path: &Path) -> bool {
    const CHUNK: usize = 1 << 17;
    let name = memmem::Finder::new(br#""event":"input-asked","#);
    let Ok(mut journal) = JournalSource::open(path) else { return false };
    let mut bytes = Vec::with_capacity(2 * CHUNK);
    loop {
        // The name may begin in the chunk before.
        let kept = bytes.len().min(name.needle().len() - 1);
        bytes.drain(..bytes.len() - kept);
        match journal.by_ref().take(CHUNK as u64).read_to_end(&mut bytes) {
            Ok(1..) if name.find(&bytes).is_some() => return true,
            Ok(1..) => {}
            Ok(0) | Err(_) => return false,
        }
    }
}

/// The view of a run, as far as its journal can be read: the last line of an active run may be incomplete.
fn view(path: &Path) -> Result<View, StateError> {
    let mut view = View::default();
    JournalReader::open(path)?.map_while(Result::ok).for_each(|event| view.apply(&event));
    Ok(view)
}

/// Whether a line has the name of an event. It stands before all texts, and those cannot hold it: their quotes are escaped.
fn is_event(line: &[u8], name: &[u8]) -> bool {
    line[..line.len().min(4096)].windows(name.len()).any(|part| part == name)
}

/// What a session took, if the line of a journal says so. What looks like it cannot stand in a text, whose quotes are escaped.
fn usage_in(line: &[u8]) -> Option<Usage> {
    const KEY: &[u8] = b"\"usage\":";
    const REUSED: &[u8] = b"\"is_reused\":true";
    let at = line.windows(KEY.len()).rposition(|part| part == KEY)?;
    // What was used before the program changed is an expense at the start of the journal.
    if line[at..].windows(REUSED.len()).any(|part| part == REUSED) {
        return None;
    }
    serde_json::Deserializer::from_slice(&line[at + KEY.len()..]).into_iter().next()?.ok()
}

#[cfg(test)]
mod tests {
    use prose_vm::activity::Work;
    use prose_vm::effect::{Outcome, Reply, RequestId};
    use prose_vm::event::{Expense, JOURNAL_VERSION};
    use prose_vm::place::Place;

    use super::*;
    use crate::journal::{JOURNAL_FILE, Journal};

    const ID: &str = "20260115-143052-a7b3c9";

    fn event(seq: u64, kind: EventKind) -> Event {
        Event { seq, at: 1000 + seq, paused: 0, place: Place::root(), site: None, frame: 0, nesting: 0, kind }
    }

    #[test]
    fn an_input_is_found_wherever_it_was_asked() {
        let folder = prose_fixture::tempdir().unwrap();
        let path = folder.path().join(JOURNAL_FILE);
        for before in [0, 10, (1 << 17) - 7, 3 << 17] {
            let text = "x".repeat(before);
            std::fs::write(&path, format!("{text}{{\"event\":\"input-asked\",\"rest\":1}}")).unwrap();
            assert!(has_asked(&path), "{before}");
            std::fs::write(
                &path,
                format!(
                    "{text}{{\"event\":\"output-given\",\"rest\":\"\\\"event\\\":\\\"input-asked\\\",\"}}"
                ),
            )
            .unwrap();
            assert!(!has_asked(&path), "{before}");
        }
    }

    fn completed() -> RunEnd {
        RunEnd { status: RunStatus::Completed, ..RunEnd::default() }
    }

    #[test]
    fn what_was_used_before_the_program_changed_counts_once() {
        let used = Usage { input_tokens: 100, output_tokens: 10, ..Usage::default() };
        let expense = EventKind::Expense(Box::new(Expense {
            request: None,
            effect: "session".into(),
            agent: None,
            requests: 1,
            work: Work { usage: Some(used), ..Work::default() },
            failure: None,
        }));
        let reused = EventKind::Effect {
            request: RequestId(1),
            effect: "session".into(),
            fingerprint: "".into(),
            outcome: Outcome::Reply(Reply { text: "ok".into(), ..Reply::default() }),
            began: None,
            work: Box::new(Work { usage: Some(used), is_reused: true, ..Work::default() }),
        };
        let folder = prose_fixture::tempdir().unwrap();
        let path = folder.path().join(JOURNAL_FILE);
        let head = RunHead { version: JOURNAL_VERSION, run: ID.into(), ..RunHead::default() };
        let mut journal = Journal::create(&path).unwrap();
        for (seq, kind) in [(1, EventKind::RunStarted(head.into())), (2, expense), (3, reused)] {
            journal.append(&event(seq, kind)).unwrap();
        }
        journal.commit().unwrap();
        assert_eq!(OpenRun::read(&path).and_then(|open| open.usage), Some(used));
    }

    #[test]
    fn a_run_whose_process_ends_while_it_is_read_is_read_as_it_ended() {
        let folder = prose_fixture::tempdir().unwrap();
        let head = RunHead { version: JOURNAL_VERSION, run: ID.into(), ..RunHead::default() };
        let mut journal = Journal::create(&folder.path().join(JOURNAL_FILE)).unwrap();
        journal.append(&event(1, EventKind::RunStarted(head.into()))).unwrap();
        journal.commit().unwrap();
        let held = LockState { holder: Some(Some(7)), taken_at: Some(1), last: Some(7) };
        let released = LockState { holder: None, ..held };
        let mut looks = 0;
        // The process writes its end and releases the run after the journal was read.
        let (summary, _, end) = summarise_locked(ID, folder.path(), || {
            looks += 1;
            if looks == 1 {
                return held;
            }
            if looks == 2 {
                journal.append(&event(2, EventKind::RunEnded(completed()))).unwrap();
                journal.sync().unwrap();
            }
            released
        });
        assert_eq!((summary.status, end), (RunState::Completed, Some(completed())));
    }
}
