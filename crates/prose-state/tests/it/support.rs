//! Runs whose events are made by hand.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use prose_state::filesystem::FilesystemStore;
use prose_state::folder::Project;
use prose_vm::effect::{
    Binding, BindingKind, ContextItem, Effect, Outcome, Reply, Request, RequestId, SessionTask, fingerprint,
};
use prose_vm::event::{
    Event, EventKind, JOURNAL_VERSION, RunEnd, RunHead, RunStatus, StateMode, StatementKind, Status,
};
use prose_vm::place::{Place, Site};
use prose_vm::store::{PendingRequests, Store};
use prose_vm::value::Value;
use smol_str::SmolStr;
use tempfile::TempDir;

/// 2026-01-15T14:30:52Z
pub(crate) const START: u64 = 1_768_487_452_000;

/// A folder with a project that goes away with the test.
pub(crate) fn project() -> (TempDir, Project) {
    let folder = tempfile::tempdir().unwrap();
    let project = Project::new(folder.path().canonicalize().unwrap());
    (folder, project)
}

/// A project in memory, where the system has such a folder: what the disk is busy with is no part of what a run costs.
pub(crate) fn project_in_memory() -> (TempDir, Project) {
    match tempfile::tempdir_in("/dev/shm") {
        Ok(folder) => {
            let project = Project::new(folder.path().canonicalize().unwrap());
            (folder, project)
        }
        Err(_) => project(),
    }
}

/// A place from its steps.
pub(crate) fn place(steps: &str) -> Place {
    steps.split('/').filter(|step| !step.is_empty()).fold(Place::root(), |place, step| place.step(step))
}

/// Makes the events of a run and has a store take them up. Each event is a second after the one before.
pub(crate) struct Driver {
    pub(crate) store: FilesystemStore,
    pub(crate) text: String,
    pub(crate) events: Vec<Event>,
    pub(crate) is_new: bool,
    requests: u64,
    program: u32,
    folder: String,
}

impl Driver {
    /// Starts a run of a program.
    pub(crate) fn start(project: &Project, name: &str, text: &str) -> Self {
        Self::start_in(StateMode::Filesystem, project, name, text)
    }

    /// The same with the state in files or in a database.
    pub(crate) fn start_in(state: StateMode, project: &Project, name: &str, text: &str) -> Self {
        let at = UNIX_EPOCH + Duration::from_millis(START);
        let store = FilesystemStore::create_as(None, project, text, at, state).unwrap();
        let mut driver = Self::on(store, text);
        driver.head(name);
        driver
    }

    /// Drives a store that exists.
    pub(crate) fn on(store: FilesystemStore, text: &str) -> Self {
        Self {
            store,
            text: text.to_owned(),
            events: Vec::new(),
            is_new: true,
            requests: 0,
            program: 0,
            folder: String::new(),
        }
    }

    pub(crate) fn head(&mut self, name: &str) {
        let head = RunHead {
            version: JOURNAL_VERSION,
            run: self.store.run().into(),
            program: name.into(),
            from: name.to_owned(),
            state: self.store.state(),
            harness: "offline".into(),
            max_iterations: 1000,
            backoff_ms: 1000,
            backoff_cap_ms: 60_000,
            ..RunHead::default()
        };
        self.tell("", 0, EventKind::RunStarted(Box::new(head)));
    }

    /// Events from here on are about an imported program.
    pub(crate) fn enter_program(&mut self, program: u32, folder: &str, text: &str) {
        self.program = program;
        self.folder = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        self.text = text.to_owned();
    }

    /// The site of a line and of those that are indented below it; none for line 0.
    pub(crate) fn site(&self, line: u32) -> Option<Site> {
        let index = line.checked_sub(1)? as usize;
        let lines: Vec<&str> = self.text.lines().collect();
        let first = lines.get(index)?;
        let indent = |text: &str| text.len() - text.trim_start().len();
        let below = lines[line as usize..]
            .iter()
            .take_while(|text| indent(text) > indent(first) && !text.trim().is_empty());
        let last_line = line + below.count() as u32;
        Some(Site { program: self.program, start: 0, end: 0, line, last_line })
    }

    pub(crate) fn event(&mut self, at: &str, line: u32, kind: EventKind) -> Event {
        let seq = self.events.len() as u64 + 1;
        let event = Event {
            seq,
            at: START + (seq - 1) * 1000,
            paused: 0,
            place: place(at),
            site: self.site(line),
            frame: 0,
            nesting: 0,
            kind,
        };
        self.events.push(event.clone());
        event
    }

    /// Tells the store of an event.
    pub(crate) fn tell(&mut self, at: &str, line: u32, kind: EventKind) {
        let event = self.event(at, line, kind);
        self.store.record(&event, self.is_new).unwrap();
    }

    /// A statement starts.
    pub(crate) fn enter(&mut self, at: &str, line: u32) {
        let source = self.text.lines().nth(line as usize - 1).unwrap_or_default().trim().into();
        self.tell(at, line, EventKind::StatementStarted { number: None, source, kind: StatementKind::Other });
    }

    /// A statement ends well.
    pub(crate) fn leave(&mut self, at: &str, line: u32) {
        self.leave_with(at, line, Status::Complete);
    }

    pub(crate) fn leave_with(&mut self, at: &str, line: u32, status: Status) {
        self.tell(at, line, EventKind::StatementEnded { status, error: None });
    }

    /// A name gets a value that is no reply.
    pub(crate) fn bind(&mut self, at: &str, line: u32, name: &str, value: impl Into<Value>) {
        let binding = self.binding(name, 0, line);
        self.tell(at, line, bound(binding, value.into(), None));
    }

    pub(crate) fn binding(&self, name: &str, frame: u32, line: u32) -> Binding {
        let file = if frame == 0 { name.to_owned() } else { format!("{name}__{frame}") };
        Binding {
            name: name.into(),
            kind: BindingKind::Let,
            frame,
            path: format!("{}bindings/{file}.md", self.folder).into(),
            source: self
                .text
                .lines()
                .nth((line as usize).saturating_sub(1))
                .unwrap_or_default()
                .trim()
                .into(),
        }
    }

    /// A session starts.
    pub(crate) fn ask(&mut self, at: &str, line: u32, name: &str, frame: u32) -> Request {
        let binding = self.binding(name, frame, line);
        let task: SmolStr = self.text.lines().nth(line as usize - 1).unwrap_or_default().trim().into();
        let request = session(self.requests, at, self.site(line).unwrap(), &task, binding, &[]);
        self.requests += 1;
        let Effect::Session(task) = &request.effect else { unreachable!() };
        self.tell(at, line, EventKind::SessionStarted { request: request.id, task: Arc::clone(task) });
        request
    }

    /// A session replies, and its name is bound.
    pub(crate) fn reply(&mut self, request: &Request, text: &str) {
        let reply = Reply { text: text.into(), ..Reply::default() };
        self.reply_with(request, reply);
    }

    pub(crate) fn reply_with(&mut self, request: &Request, reply: Reply) {
        let Effect::Session(task) = &request.effect else { unreachable!() };
        let (at, line) = (request.place.to_string(), request.site.line);
        let text = Value::Text(Arc::clone(&reply.text));
        self.tell(&at, line, effect(request, Outcome::Reply(reply)));
        let status = Status::Complete;
        self.tell(&at, line, EventKind::SessionEnded { request: request.id, status, error: None });
        self.tell(&at, line, bound(task.binding.clone(), text, Some(request.id)));
    }

    /// A statement that is a session, from its start to its end.
    pub(crate) fn session(&mut self, at: &str, line: u32, name: &str, text: &str) {
        self.enter(at, line);
        let request = self.ask(at, line, name, 0);
        self.reply(&request, text);
        self.leave(at, line);
    }

    /// The same events happen again, and are not written again.
    pub(crate) fn replay(&mut self, events: &[Event]) {
        for event in events {
            self.store.record(event, false).unwrap();
            self.events.push(event.clone());
        }
    }

    /// The process ends here. Gives the id of the run.
    pub(crate) fn kill(self) -> String {
        self.store.run().to_owned()
    }

    /// The run ends.
    pub(crate) fn end(&mut self, status: RunStatus) {
        let sessions =
            self.events.iter().filter(|event| matches!(event.kind, EventKind::SessionEnded { .. })).count();
        let end = RunEnd { status, sessions: sessions as u32, ..RunEnd::default() };
        self.tell("", 0, EventKind::RunEnded(end));
    }

    /// A file of the run.
    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.store.folder().join(path)).unwrap()
    }

    /// `state.md` as it stands when the program waits, with the random part of the id replaced.
    pub(crate) fn state(&mut self) -> String {
        let path = self.store.folder().join("state.md");
        let wait = std::time::Instant::now();
        self.store.commit().unwrap();
        let is_own = |event: &&Event| event.site.is_none_or(|site| site.program == 0);
        let now = humantime_of(self.events.iter().rev().find(is_own).unwrap().at);
        loop {
            // What has to wait for its time is written by a thread.
            let text = fs::read_to_string(&path).unwrap();
            if text.contains(&format!("updated: {now}")) {
                return text.replace(self.store.run(), "20260115-143052-a7b3c9");
            }
            assert!(
                wait.elapsed() < Duration::from_secs(120),
                "state.md is never brought up to {now}:\n{text}"
            );
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

fn humantime_of(at: u64) -> String {
    humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_millis(at)).to_string()
}

pub(crate) fn bound(binding: Binding, value: Value, reply: Option<RequestId>) -> EventKind {
    let anonymous = binding.name.starts_with("anon_");
    EventKind::Bound { binding, value, reply, was: None, mutable: true, anonymous }
}

pub(crate) fn effect(request: &Request, outcome: Outcome) -> EventKind {
    let effect = request.effect.kind().into();
    EventKind::Effect {
        request: request.id,
        effect,
        fingerprint: fingerprint(&request.effect),
        outcome,
        began: None,
        work: Box::default(),
    }
}

/// Requests that wait.
pub(crate) fn waiting(requests: &[&Request]) -> PendingRequests {
    requests.iter().map(|request| (request.id, (*request).clone())).collect()
}

/// A request for a session.
pub(crate) fn session(
    id: u64,
    at: &str,
    site: Site,
    task: &str,
    binding: Binding,
    context: &[ContextItem],
) -> Request {
    let task = SessionTask {
        task: task.into(),
        prompt: task.into(),
        context: context.to_vec(),
        binding,
        ..SessionTask::default()
    };
    Request {
        id: RequestId(id),
        place: place(at),
        site,
        program: None,
        effect: Effect::Session(Arc::new(task)),
    }
}

/// The files below a folder with their sizes left out, but for the journal and the lock.
pub(crate) fn tree(folder: &Path) -> String {
    fn walk(folder: &Path, indent: usize, out: &mut String) {
        let mut entries: Vec<_> = fs::read_dir(folder).unwrap().flatten().collect();
        entries.sort_by_key(|entry| entry.file_name());
        for entry in entries {
            let name = entry.file_name().into_string().unwrap();
            let is_folder = entry.file_type().unwrap().is_dir();
            out.push_str(&format!("{:indent$}{name}{}\n", "", if is_folder { "/" } else { "" }));
            if is_folder {
                walk(&entry.path(), indent + 2, out);
            }
        }
    }
    let mut out = String::new();
    walk(folder, 0, &mut out);
    out
}
