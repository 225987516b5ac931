//! Runs that another machine has made go on (R104, decision 22): folders with a `state.md` and files of bindings, and no journal.

#![allow(clippy::unwrap_used, reason = "the functions that tests share fail as tests do")]

mod blocks;
mod documents;
mod forged;
mod imitated;
mod loops;
mod tries;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use expect_test::Expect;
use prose_analysis::{AnalysisHost, Text};
use prose_config::{Config, RunConfig};
use prose_run::{
    Project, Questions, RunFailure, RunHooks, RunRequest, Start, TrustSubject, UserFiles, UserTrust, prepare,
};
use prose_vm::effect::Outcome;
use prose_vm::event::{Event, EventKind, StateMode};
use prose_vm::program::Program;
use prose_vm::runner::Limits;
use tempfile::TempDir;

pub(crate) const ID: &str = "20260115-143052-a7b3c9";

/// What a session answers that is asked.
pub(crate) const ASKED: &str = "an answer of now";

/// A program that others may import.
pub(crate) const INNER: &str = "input topic: \"What about\"\nlet notes = session \"Read on {topic}\"\nif **it is enough**:\n  session \"Stop\"\nelse:\n  \
     let more = session \"Read more\"\noutput result = session \"Sum up\"\n";

/// A folder of a run without a journal.
pub(crate) struct Foreign {
    folder: TempDir,
    program: String,
}

/// What a run that went on did.
pub(crate) struct Went {
    /// A line for each session and each condition.
    pub(crate) lines: Vec<String>,
    pub(crate) notes: Vec<String>,
}

impl Foreign {
    /// The run of a program with a trace, which may be a whole `state.md`, and the values of bindings by their files.
    pub(crate) fn new(program: &str, state: &str, bindings: &[(&str, &str)]) -> Self {
        // What the disk is busy with is no part of these tests.
        let memory = Path::new("/dev/shm");
        let folder = if memory.is_dir() { TempDir::new_in(memory) } else { prose_fixture::tempdir() };
        let foreign = Self { folder: folder.unwrap(), program: program.to_owned() };
        foreign.write("program.prose", program);
        if !state.is_empty() {
            let whole = format!("# Execution State\n\n## Execution Trace\n\n```prose\n{state}```\n");
            foreign.write("state.md", if state.contains("## Execution Trace") { state } else { &whole });
        }
        for (file, value) in bindings {
            let name = file.split("__").next().unwrap();
            let kind = if name.starts_with("in_") { "input" } else { "let" };
            let text = format!(
                "# {name}\n\nkind: {kind}\n\nsource:\n```prose\nlet {name} = …\n```\n\n---\n\n{value}\n"
            );
            foreign.write(&format!("bindings/{file}.md"), &text);
        }
        foreign
    }

    pub(crate) fn project(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn run_folder(&self) -> PathBuf {
        self.folder.path().join(".prose/runs").join(ID)
    }

    pub(crate) fn write(&self, file: &str, text: &str) {
        let path = self.run_folder().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Goes on with the run; every session that is asked answers [`ASKED`], and every condition is met.
    pub(crate) fn resume(&self) -> Result<Went, RunFailure> {
        let script = self.folder.path().join("answers.toml");
        let answers = format!(
            "[[session]]\nreply = {ASKED:?}\n[[condition]]\nmet = true\nreason = \"asked\"\n[[choice]]\nchoose = 1\nreason = \"asked\"\n[[extract]]\nvalue = \"part\"\n[[summary]]\ntext = \"short\"\n[[input]]\nvalue = \"given\"\n"
        );
        fs::write(&script, answers).unwrap();
        let mut host = AnalysisHost::default();
        let file = host.set_text(Path::new("/main.prose"), Text::new(self.program.as_str()));
        host.set_text(Path::new("/inner.prose"), Text::new(INNER));
        host.load_imports(file, |_| None);
        let request = RunRequest {
            program: Program::new(host.db(), file),
            project: Project::new(self.folder.path()),
            start: Start::Resume { run: ID.into(), accept_changes: false },
            part: None,
            id: None,
            state: StateMode::Filesystem,
            harness: Some("script".to_owned()),
            script: Some(script),
            stand_in: None,
            dispatch: None,
            model: None,
            seed: 0,
            delay: Duration::ZERO,
            inputs: Vec::new(),
            config: RunConfig::default(),
            routes: prose_run::Routes::default(),
            grants: prose_run::Grants::default(),
            limits: Limits::default(),
            money: prose_run::Money::default(),
            timeout: None,
            traceparent: None,
            subject: TrustSubject::new(self.folder.path(), &Config::default()),
            trust: UserTrust { files: UserFiles::at(self.folder.path().join("state")), is_trusted: false },
            names_program: false,
        };
        let prepared = prepare(request)?;
        let notes = prepared.notes.clone();
        let lines = Mutex::new(Vec::new());
        let mut tasks = Vec::new();
        let mut observer = |event: &Event, _: bool| lines.lock().unwrap().extend(line(event, &mut tasks));
        let hooks = RunHooks {
            questions: Questions::unanswered(),
            observer: &mut observer,
            interrupted: Box::pin(std::future::pending()),
            narration: None,
        };
        prepared.execute(hooks)?;
        Ok(Went { lines: lines.into_inner().unwrap(), notes })
    }
}

/// What came of a session or a condition: whether it is known from the folder, or was asked.
fn line(event: &Event, tasks: &mut Vec<(u64, String)>) -> Option<String> {
    match &event.kind {
        EventKind::SessionStarted { request, task } => {
            tasks.push((request.0, task.task.to_string()));
            None
        }
        EventKind::Effect { request, outcome, .. } => {
            let task = tasks.iter().find(|(id, _)| *id == request.0).map(|(_, task)| task.as_str());
            match outcome {
                Outcome::Reply(reply) if *reply.text == *ASKED => Some(format!("asked {}", task?)),
                Outcome::Reply(reply) => Some(format!("kept  {}: {}", task?, reply.text)),
                Outcome::Failed(failure) => Some(format!("failed {}: {}", task?, failure.message)),
                Outcome::Choice(choice) if choice.reason != "asked" => {
                    Some(format!("chosen {}", choice.index + 1))
                }
                Outcome::Choice(_) => Some("asked which".to_owned()),
                _ => None,
            }
        }
        EventKind::ConditionJudged { met, reason, .. } if reason == "asked" => {
            Some(format!("asked whether ({met})"))
        }
        EventKind::ConditionJudged { met, .. } => Some(format!("known {met}")),
        EventKind::RunEnded(end) => end.error.as_ref().map(|error| format!("the program failed: {error}")),
        _ => None,
    }
}

/// What a run does that goes on.
#[track_caller]
pub(crate) fn check(program: &str, state: &str, bindings: &[(&str, &str)], expected: Expect) {
    let went = Foreign::new(program, state, bindings).resume().unwrap();
    expected.assert_eq(&(went.lines.join("\n") + "\n"));
}
