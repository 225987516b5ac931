//! Runs programs with scripted answers, in virtual time.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use prose_analysis::Text;
use prose_analysis::host::AnalysisHost;
use prose_fixture::Fixture;
use prose_harness::script::Script;
use prose_vm::effect::{Outcome, SessionTask};
use prose_vm::event::{Event, RunEnd, RunStatus, What};
use prose_vm::machine::Machine;
use prose_vm::program::Program;
use prose_vm::runner::{self, Host, Limits, NoInputs};
use prose_vm::settings::Settings;
use prose_vm::store::{Fresh, NoStore};

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

/// Runs a program with other settings than usual.
pub(crate) fn run_with(fixture: &str, script: &str, change: impl FnOnce(&mut Settings)) -> Ran {
    let mut settings = Settings::new("20260115-143052-a7b3c9");
    change(&mut settings);
    let machine = Machine::new(program(fixture), settings);
    let script = Script::parse("answers.toml", script, 0).unwrap_or_else(|errors| panic!("{errors}"));
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let mut events = Vec::new();
    let host = Host {
        harness: Arc::new(script),
        store: &mut NoStore,
        recall: &mut Fresh,
        inputs: Arc::new(NoInputs),
        observer: &mut |event, _| events.push(event.clone()),
        interrupted: Box::pin(std::future::pending()),
        limits: Limits::default(),
        clock: &|| 0,
    };
    let end = runtime.block_on(runner::run(machine, host)).unwrap();
    Ran { events, end }
}

impl Ran {
    /// The sessions that were started, in order.
    pub(crate) fn sessions(&self) -> Vec<Arc<SessionTask>> {
        let sessions = self.events.iter().filter_map(|event| match &event.what {
            What::SessionStarted { task, .. } => Some(Arc::clone(task)),
            _ => None,
        });
        sessions.collect()
    }

    /// What the sessions were told to do, in the order in which they started.
    pub(crate) fn tasks(&self) -> Vec<String> {
        self.sessions().iter().map(|task| task.task.to_string()).collect()
    }

    /// What happened, in short: sessions, what was bound, what was judged, and how it ended.
    pub(crate) fn story(&self) -> String {
        let mut story = String::new();
        for event in &self.events {
            let line = match &event.what {
                What::SessionStarted { task, .. } => {
                    let agent = task.agent.as_ref().map_or(String::new(), |agent| format!(" {agent}"));
                    format!("session{agent}: {}", task.task.replace('\n', " / "))
                }
                What::Effect { outcome: Outcome::Failed(failure), .. } => {
                    format!("failed: {}", failure.message)
                }
                What::Bound { binding, value, .. } => {
                    let frame =
                        if binding.frame > 0 { format!(" in {}", binding.frame) } else { String::new() };
                    format!("{} {}{frame} = {value}", binding.kind.name(), binding.name)
                }
                What::ConditionJudged { met, .. } => format!("condition: {met}"),
                What::IterationStarted { number, .. } => format!("iteration {number}"),
                What::LoopEnded { why, iterations } => format!("loop ended: {why:?} after {iterations}"),
                What::BranchEnded { name, status, .. } => format!("{name}: {status:?}"),
                What::Retrying { attempt, delay_ms, .. } => format!("retry {attempt} after {delay_ms} ms"),
                What::Caught { error, .. } => format!("caught: {error}"),
                What::FinallyStarted => "finally".to_owned(),
                What::Chosen { label, .. } => format!("chosen: {label}"),
                What::FrameEntered { id, block, depth, .. } => format!("call {block} ({id}, depth {depth})"),
                What::FrameLeft { id, status, .. } => format!("left {id}: {status:?}"),
                What::ImportCalled { alias, folder, .. } => format!("import {alias} in {folder}"),
                What::OutputGiven { name, value } => {
                    format!("output {} = {value}", name.as_deref().unwrap_or("(unnamed)"))
                }
                What::Warning { message } => format!("warning: {message}"),
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
