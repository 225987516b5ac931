//! Runs programs with scripted answers, in virtual time.

use std::collections::BTreeMap;
use std::fmt::{Debug, Write};
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use expect_test::Expect;
use prose_analysis::Text;
use prose_analysis::host::AnalysisHost;
use prose_fixture::Fixture;
use prose_harness::script::Script;
use prose_vm::activity::{Activity, Approvals, NoApprovals, Reporter, ToolKind, ToolStatus, ToolUse};
use prose_vm::budget::{Accounts, NoAccounts};
use prose_vm::command::Commands;
use prose_vm::effect::{
    Binding, Effect, Failure, FileUse, Memory, MemoryPlace, MemoryUse, Outcome, PermissionRule, Reply,
    Request, RequestId, SessionTask, Usage,
};
use prose_vm::error::ErrorKind;
use prose_vm::event::{Event, EventKind, RunEnd, RunStatus};
use prose_vm::gate::Gate;
use prose_vm::harness::{Capabilities, Harness, HarnessFuture};
use prose_vm::machine::{Machine, MachineOutput};
use prose_vm::program::Program;
use prose_vm::runner::{self, Host, Inputs, Limits, NoInputs};
use prose_vm::secrets::Secrets;
use prose_vm::settings::Settings;
use prose_vm::store::{PendingRequests, Recording, Store, Turn};
use prose_vm::value::Value;

/// What a run said and how it ended.
pub(crate) struct Ran {
    pub(crate) events: Vec<Event>,
    pub(crate) end: RunEnd,
}

/// The program of a fixture: its first file, with the others to import.
pub(crate) fn program(fixture: &str) -> Arc<Program> {
    let fixture = Fixture::parse(fixture);
    let mut host = AnalysisHost::default();
    let files: Vec<_> = fixture
        .files
        .iter()
        .map(|file| host.set_text(Path::new(&file.path), Text::new(file.text.as_str())))
        .collect();
    host.load_imports(files[0], |_| None);
    Program::new(host.db(), files[0])
}

/// Runs a program. `script` says what is answered.
pub(crate) fn run(fixture: &str, script: &str) -> Ran {
    run_with(fixture, script, |_| {})
}

/// How a program is run.
pub(crate) struct Setup {
    pub(crate) settings: Settings,
    pub(crate) limits: Limits,
    /// What is masked in reports.
    pub(crate) secrets: Arc<Secrets>,
    pub(crate) harness: Arc<dyn Harness>,
    pub(crate) inputs: Arc<dyn Inputs>,
    pub(crate) approvals: Arc<dyn Approvals>,
    pub(crate) accounts: Arc<dyn Accounts>,
    /// The commands of a person.
    pub(crate) commands: Commands,
    /// Holds its requests.
    pub(crate) gate: Option<Arc<dyn Gate>>,
    /// Ends the run when it is ready.
    pub(crate) interrupted: Pin<Box<dyn Future<Output = String>>>,
    /// What agents know from earlier runs: the folder of the memory, its text, and the number of its segments.
    pub(crate) memories: BTreeMap<Arc<str>, Memory>,
    /// What agents write to the files of bindings.
    pub(crate) written: BTreeMap<Arc<str>, String>,
    /// What agents write to them only when they are asked again.
    pub(crate) written_later: BTreeMap<Arc<str>, String>,
    /// The files of the project.
    pub(crate) files: BTreeMap<Arc<str>, Arc<str>>,
    /// The recorded events of an earlier execution of the run.
    pub(crate) earlier: Vec<Event>,
    /// The time at which the execution starts, in milliseconds.
    pub(crate) starts_at: u64,
    /// How long another run uses the memory in a folder.
    pub(crate) busy_until: BTreeMap<Arc<str>, Duration>,
}

impl Setup {
    /// A run from the start, with nobody to give inputs.
    pub(crate) fn new(harness: Arc<dyn Harness>) -> Self {
        Self {
            settings: Settings::new("20260115-143052-a7b3c9"),
            limits: Limits::default(),
            secrets: Arc::default(),
            harness,
            inputs: Arc::new(NoInputs),
            approvals: Arc::new(NoApprovals),
            accounts: Arc::new(NoAccounts),
            commands: Commands::none(),
            gate: None,
            interrupted: Box::pin(std::future::pending()),
            memories: BTreeMap::new(),
            written: BTreeMap::new(),
            written_later: BTreeMap::new(),
            files: BTreeMap::new(),
            earlier: Vec::new(),
            starts_at: 0,
            busy_until: BTreeMap::new(),
        }
    }

    /// Gives the program an input.
    pub(crate) fn input(&mut self, name: &str, value: impl Into<Value>) {
        self.settings.inputs.push((name.into(), value.into()));
    }

    /// Gives an agent a memory.
    pub(crate) fn memory(&mut self, folder: &str, text: &str, segments: u32) {
        self.memories.insert(folder.into(), Memory { text: Some(text.into()), segments });
    }

    /// Passes files, as to an agent that has them.
    pub(crate) fn with_files(&mut self) {
        self.settings.context_by_reference = true;
        self.settings.agents_write = true;
    }
}

/// Runs a program in another way than usual.
pub(crate) fn run_with(fixture: &str, script: &str, change: impl FnOnce(&mut Setup)) -> Ran {
    let script = Script::parse("answers.toml", script, 0).unwrap_or_else(|errors| panic!("{errors}"));
    let mut setup = Setup::new(Arc::new(script));
    change(&mut setup);
    run_program(program(fixture), setup)
}

/// Runs a program in virtual time: the time of an event says how many milliseconds answers have taken up to it.
pub(crate) fn run_program(program: Arc<Program>, setup: Setup) -> Ran {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let mut events = Vec::new();
    let end = runtime.block_on(async {
        let start = tokio::time::Instant::now();
        let host = Host {
            harness: setup.harness,
            store: &mut Files {
                memories: setup.memories,
                written: setup.written,
                written_later: setup.written_later,
                files: setup.files,
                busy_until: setup.busy_until,
                start,
            },
            recall: &mut Recorded { events: setup.earlier },
            trees: Arc::new(prose_vm::runner::NoTrees),
            inputs: setup.inputs,
            approvals: setup.approvals,
            commands: setup.commands,
            observer: &mut |event, _| {
                // Whatever happens in these tests is what journals keep.
                let line = serde_json::to_string(event).unwrap();
                assert_eq!(serde_json::from_str::<Event>(&line).as_ref().ok(), Some(event), "{line}");
                events.push(event.clone());
            },
            interrupted: setup.interrupted,
            accounts: setup.accounts,
            gate: setup.gate,
            limits: setup.limits,
            secrets: setup.secrets,
            clock: &|| setup.starts_at + start.elapsed().as_millis() as u64,
        };
        runner::run(Machine::new(program, setup.settings), host).await.unwrap()
    });
    let ran = Ran { events, end };
    ran.check_places();
    ran
}

/// Remembers an earlier execution by its events.
struct Recorded {
    events: Vec<Event>,
}

impl Recorded {
    fn is_end(event: &Event) -> bool {
        matches!(event.kind, EventKind::RunEnded(_))
    }
}

impl Recording for Recorded {
    fn recall(&mut self, waiting: &PendingRequests) -> Option<(RequestId, Outcome)> {
        // What came first comes first again.
        self.events.iter().find_map(|event| {
            let EventKind::Effect { effect, outcome, .. } = &event.kind else { return None };
            let is_asked =
                |request: &&Request| request.place == event.place && request.effect.kind() == *effect;
            Some((waiting.values().find(is_asked)?.id, outcome.clone()))
        })
    }

    fn stopped(&self) -> Option<(u64, u64)> {
        let end = self.events.last().filter(|event| Self::is_end(event))?;
        Some((end.at, end.paused))
    }

    fn used(&self) -> Option<Usage> {
        match &self.events.last()?.kind {
            EventKind::RunEnded(end) => end.usage,
            _ => None,
        }
    }

    fn expected(&mut self, seq: u64) -> Option<Event> {
        let event = self.events.get(usize::try_from(seq).ok()? - 1)?;
        (!Self::is_end(event)).then(|| event.clone())
    }
}

/// Runs a program step by step: `answer` says what comes of a request; none lets it wait, until nothing else goes on.
pub(crate) fn drive(fixture: &str, answer: impl FnMut(&Request) -> Option<Outcome>) -> Vec<MachineOutput> {
    drive_with(fixture, Settings::new("20260115-143052-a7b3c9"), answer)
}

/// The same with other settings.
pub(crate) fn drive_with(
    fixture: &str,
    settings: Settings,
    mut answer: impl FnMut(&Request) -> Option<Outcome>,
) -> Vec<MachineOutput> {
    let mut machine = Machine::new(program(fixture), settings);
    let mut all = Vec::new();
    loop {
        let said = machine.advance();
        if said.is_empty() {
            return all;
        }
        for said in &said {
            if let MachineOutput::Request(request) = said
                && let Some(outcome) = answer(request)
            {
                machine.deliver(request.id, outcome);
            }
        }
        all.extend(said);
    }
}

/// The reply of a session.
pub(crate) fn reply(text: &str) -> Option<Outcome> {
    Some(Outcome::Reply(Reply { text: text.into(), ..Reply::default() }))
}

/// A harness that is like another one but for what it can do.
pub(crate) struct Able {
    pub(crate) inner: Arc<dyn Harness>,
    /// Whether its agents read and write files.
    pub(crate) has_files: bool,
    /// Whether it can see to it that rules are kept.
    pub(crate) enforces: bool,
}

impl Harness for Able {
    fn name(&self) -> &str {
        "able"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { reads_files: self.has_files, writes_files: self.has_files }
    }

    fn enforces(&self, _: &str, _: &PermissionRule) -> bool {
        self.enforces
    }

    fn perform<'a>(&'a self, request: &'a Request, reporter: &'a Reporter) -> HarnessFuture<'a, Outcome> {
        self.inner.perform(request, reporter)
    }
}

/// A harness that is like another one and tells what a session takes, by its task, and which file it changes.
pub(crate) struct Counting {
    pub(crate) inner: Arc<dyn Harness>,
    pub(crate) usage: fn(&str) -> Option<Usage>,
    pub(crate) changes: Option<&'static str>,
    /// Whether it reports the usage while it works, also of judges, instead of with the reply.
    pub(crate) is_live: bool,
}

impl Counting {
    fn report(&self, text: &str, reporter: &Reporter) {
        if let Some(usage) = (self.usage)(text).filter(|_| self.is_live) {
            reporter.report(Activity::Used(usage));
        }
    }
}

impl Harness for Counting {
    fn name(&self) -> &str {
        "counting"
    }

    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn enforces(&self, about: &str, rule: &PermissionRule) -> bool {
        self.inner.enforces(about, rule)
    }

    fn perform<'a>(&'a self, request: &'a Request, reporter: &'a Reporter) -> HarnessFuture<'a, Outcome> {
        Box::pin(async move {
            let Effect::Session(task) = &request.effect else {
                if let Effect::Judge(question) = &request.effect {
                    self.report(&question.text, reporter);
                }
                return self.inner.perform(request, reporter).await;
            };
            self.report(&task.task, reporter);
            if let Some(path) = self.changes {
                reporter.report(Activity::Tool(ToolUse {
                    id: "1".into(),
                    kind: ToolKind::Edit,
                    title: "Edit".into(),
                    paths: vec![path.into()],
                    status: ToolStatus::Completed,
                }));
            }
            let mut outcome = self.inner.perform(request, reporter).await?;
            if let Outcome::Reply(reply) = &mut outcome {
                reply.usage = (self.usage)(&task.task).filter(|_| !self.is_live);
            }
            Ok(outcome)
        })
    }
}

/// A harness whose sessions all say the same.
pub(crate) struct Verbatim(pub(crate) String);

impl Harness for Verbatim {
    fn name(&self) -> &str {
        "verbatim"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    fn enforces(&self, _: &str, _: &PermissionRule) -> bool {
        true
    }

    fn perform<'a>(&'a self, request: &'a Request, _: &'a Reporter) -> HarnessFuture<'a, Outcome> {
        assert!(matches!(request.effect, Effect::Session(_)), "only sessions are asked");
        Box::pin(async { Ok(reply(&self.0).unwrap()) })
    }
}

/// A harness that is like another one and has room for so many sessions at the same time.
pub(crate) struct Cramped {
    pub(crate) inner: Arc<dyn Harness>,
    pub(crate) room: usize,
    pub(crate) at_work: AtomicUsize,
    /// How often there was no room.
    pub(crate) refused: AtomicUsize,
}

impl Harness for Cramped {
    fn name(&self) -> &str {
        "cramped"
    }

    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn enforces(&self, about: &str, rule: &PermissionRule) -> bool {
        self.inner.enforces(about, rule)
    }

    fn perform<'a>(&'a self, request: &'a Request, reporter: &'a Reporter) -> HarnessFuture<'a, Outcome> {
        Box::pin(async move {
            if !matches!(request.effect, Effect::Session(_)) {
                return self.inner.perform(request, reporter).await;
            }
            if self.at_work.load(Ordering::SeqCst) >= self.room {
                self.refused.fetch_add(1, Ordering::SeqCst);
                let message = "there is no room for another session.".to_owned();
                return Err(Failure { kind: ErrorKind::OutOfResources, message });
            }
            self.at_work.fetch_add(1, Ordering::SeqCst);
            let outcome = self.inner.perform(request, reporter).await;
            self.at_work.fetch_sub(1, Ordering::SeqCst);
            outcome
        })
    }
}

/// Keeps what agents remember, the files that they have written before they are asked, and those of the project.
struct Files {
    memories: BTreeMap<Arc<str>, Memory>,
    written: BTreeMap<Arc<str>, String>,
    written_later: BTreeMap<Arc<str>, String>,
    files: BTreeMap<Arc<str>, Arc<str>>,
    busy_until: BTreeMap<Arc<str>, Duration>,
    start: tokio::time::Instant,
}

impl Store for Files {
    fn record(&mut self, event: &Event, _: bool) -> io::Result<()> {
        if let EventKind::MemoryWritten { place, memory, segment, .. } = &event.kind {
            let memory = Memory { text: Some(Arc::clone(memory)), segments: *segment };
            self.memories.insert(Arc::clone(&place.folder), memory);
        }
        Ok(())
    }

    fn commit(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn read_binding(&mut self, binding: &Binding) -> io::Result<Option<String>> {
        let written = self.written.get(&binding.path).cloned();
        if let Some(text) = self.written_later.remove(&binding.path) {
            self.written.insert(Arc::clone(&binding.path), text);
        }
        Ok(written)
    }

    fn take_turn(&mut self, _: &Request, place: &MemoryPlace) -> io::Result<Turn> {
        let until = self.busy_until.get(&place.folder).copied();
        match until.filter(|until| self.start.elapsed() < *until) {
            None => Ok(Turn::Taken),
            Some(until) => {
                let until = self.start + until;
                let memory = Memory { text: Some("of another run".into()), segments: 1 };
                self.memories.insert(Arc::clone(&place.folder), memory);
                Ok(Turn::Waits(Box::pin(tokio::time::sleep_until(until))))
            }
        }
    }

    fn read_memory(&mut self, place: &MemoryPlace) -> io::Result<Memory> {
        Ok(self.memories.get(&place.folder).cloned().unwrap_or_default())
    }

    fn read_file(&mut self, file: &FileUse) -> Result<Arc<str>, Failure> {
        let path = &*file.path;
        let failure = |kind, message: &str| Failure { kind, message: message.to_owned() };
        if path.starts_with("..") {
            return Err(failure(ErrorKind::UnsafePath, "it lies outside the project"));
        }
        self.files.get(path).cloned().ok_or_else(|| failure(ErrorKind::Other, "there is no such file"))
    }

    fn check_file(&mut self, file: &FileUse) -> Result<(), Failure> {
        self.read_file(file).map(drop)
    }

    fn has_written_memory(&mut self, _: &MemoryUse) -> io::Result<bool> {
        Ok(false)
    }
}

/// A script of sessions: the label (none for whatever is left), the reply, and how long it takes (nothing if there is no delay).
pub(crate) fn answers(sessions: &[(&str, &str, &str)]) -> String {
    let mut script = String::new();
    for (label, reply, delay) in sessions {
        let entries = [("label", label), ("reply", reply), ("delay", delay)];
        script += "[[session]]\n";
        for (key, text) in entries.into_iter().filter(|(_, text)| !text.is_empty()) {
            _ = writeln!(script, "{key} = \"{text}\"");
        }
    }
    script
}

/// Those of some events that journals keep.
pub(crate) fn recorded(events: &[Event]) -> Vec<Event> {
    let is_kept =
        |event: &&Event| event.kind.is_recorded() || matches!(event.kind, EventKind::Warning { .. });
    events.iter().filter(is_kept).cloned().collect()
}

/// Each item on a line of its own.
pub(crate) fn lines(items: &[impl Debug]) -> String {
    items.iter().map(|item| format!("{item:?}\n")).collect()
}

/// Runs a program and compares what happened.
#[track_caller]
pub(crate) fn check(program: &str, script: &str, expected: Expect) {
    expected.assert_eq(&run(program, script).story());
}

/// Runs a program whose sessions all answer `ok`, and compares what it outputs as `result`.
#[track_caller]
pub(crate) fn check_result(program: &str, expected: &str) {
    let ran = run(program, "[[session]]\nreply = \"ok\"");
    let result = ran.end.outputs.iter().find(|(name, _)| name == "result");
    let result = result.unwrap_or_else(|| panic!("{}", ran.story()));
    assert_eq!(result.1.to_string(), expected);
}

impl Ran {
    /// No two requests of a run are made at the same place: that is how they are known again.
    #[track_caller]
    fn check_places(&self) {
        let mut places = BTreeMap::new();
        for event in &self.events {
            if let EventKind::Effect { effect, .. } = &event.kind
                && let Some(other) = places.insert(event.place.as_str(), effect)
            {
                panic!("{other} and {effect} are both asked for at {}", event.place);
            }
        }
    }

    /// The sessions that were started, in order.
    pub(crate) fn sessions(&self) -> Vec<Arc<SessionTask>> {
        let sessions = self.events.iter().filter_map(|event| match &event.kind {
            EventKind::SessionStarted { task, .. } => Some(Arc::clone(task)),
            _ => None,
        });
        sessions.collect()
    }

    /// What the sessions were told to do, in the order in which they started.
    pub(crate) fn tasks(&self) -> Vec<String> {
        self.sessions().iter().map(|task| task.task.to_string()).collect()
    }

    /// The first session whose task begins like that.
    #[track_caller]
    pub(crate) fn session(&self, task: &str) -> Arc<SessionTask> {
        let found = self.sessions().into_iter().find(|session| session.task.starts_with(task));
        found.unwrap_or_else(|| panic!("no session is told `{task}`:\n{}", self.story()))
    }

    /// The files that values are bound to, in order.
    pub(crate) fn files(&self) -> Vec<String> {
        let files = self.events.iter().filter_map(|event| match &event.kind {
            EventKind::Bound { binding, .. } => Some(binding.path.to_string()),
            _ => None,
        });
        files.collect()
    }

    /// What was bound, in the order of the files.
    pub(crate) fn bindings(&self) -> BTreeMap<String, Value> {
        let bound = self.events.iter().filter_map(|event| match &event.kind {
            EventKind::Bound { binding, value, .. } => Some((binding.path.to_string(), value.clone())),
            _ => None,
        });
        bound.collect()
    }

    /// The places of what was answered of a kind of effect, in the order of the answers.
    pub(crate) fn asked(&self, kind: &str) -> Vec<String> {
        let asked = self.events.iter().filter_map(|event| match &event.kind {
            EventKind::Effect { effect, .. } if effect == kind => Some(event.place.to_string()),
            _ => None,
        });
        asked.collect()
    }

    /// When sessions started, ended and were tried again, in virtual milliseconds.
    pub(crate) fn times(&self) -> String {
        let mut times = String::new();
        for event in &self.events {
            let line = match &event.kind {
                EventKind::SessionStarted { task, .. } => format!("start {}", task.task),
                EventKind::SessionEnded { status, .. } => format!("{status:?}"),
                EventKind::Retrying { attempt, retries, delay_ms, .. } => {
                    format!("retry {attempt}/{retries} in {delay_ms} ms")
                }
                _ => continue,
            };
            _ = writeln!(times, "{}: {line}", event.at);
        }
        times
    }

    /// What happened, in short: sessions, what was bound, what was judged, and how it ended.
    pub(crate) fn story(&self) -> String {
        let mut story = String::new();
        for event in &self.events {
            let line = match &event.kind {
                EventKind::SessionStarted { task, .. } => {
                    let agent = task.agent.as_ref().map_or(String::new(), |agent| format!(" {agent}"));
                    format!("session{agent}: {}", task.task.replace('\n', " / "))
                }
                EventKind::Effect { outcome: Outcome::Failed(failure), .. } => {
                    format!("failed: {}", failure.message)
                }
                EventKind::Bound { binding, value, .. } => {
                    let frame =
                        if binding.frame > 0 { format!(" in {}", binding.frame) } else { String::new() };
                    format!("{} {}{frame} = {value}", binding.kind.name(), binding.name)
                }
                EventKind::ConditionJudged { met, .. } => format!("condition: {met}"),
                EventKind::IterationStarted { number, .. } => format!("iteration {number}"),
                EventKind::LoopEnded { why, iterations } => format!("loop ended: {why:?} after {iterations}"),
                EventKind::BranchEnded { name, status, .. } => format!("{name}: {status:?}"),
                EventKind::Retrying { attempt, delay_ms, .. } => {
                    format!("retry {attempt} after {delay_ms} ms")
                }
                EventKind::Caught { error, .. } => format!("caught: {error}"),
                EventKind::FinallyStarted => "finally".to_owned(),
                EventKind::Chosen { label, .. } => format!("chosen: {label}"),
                EventKind::FrameEntered { id, block, depth, .. } => {
                    format!("call {block} ({id}, depth {depth})")
                }
                EventKind::FrameLeft { id, status, .. } => format!("left {id}: {status:?}"),
                EventKind::ImportCalled { alias, folder, .. } => format!("import {alias} in {folder}"),
                EventKind::OutputGiven { name, value } => {
                    format!("output {} = {value}", name.as_deref().unwrap_or("(unnamed)"))
                }
                EventKind::Warning { message } => format!("warning: {message}"),
                _ => continue,
            };
            _ = writeln!(story, "{line}");
        }
        let end = &self.end;
        match (&end.error, end.status) {
            (Some(error), status) => _ = writeln!(story, "{status:?}: {error}"),
            (None, RunStatus::Completed) => _ = writeln!(story, "value: {}", end.value),
            (None, status) => _ = writeln!(story, "{status:?}"),
        }
        story
    }
}
