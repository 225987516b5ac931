//! A run of a program in the page.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use prose_analysis::diagnostics::diagnostics;
use prose_analysis::imports::{Imported, import_paths, imported, with_imported_programs};
use prose_analysis::{Db, SourceFile};
use prose_backends::offline::Offline;
use prose_backends::script::Script;
use prose_syntax::text::counted;
use prose_syntax::{Code, Severity};
use prose_view::{Delta, SessionFiles, SessionRecords, View};
use prose_vm::budget::NoAccounts;
use prose_vm::command::{Command, CommandSender, Commands};
use prose_vm::effect::RequestId;
use prose_vm::event::{Event, RunEnd};
use prose_vm::harness::Harness;
use prose_vm::machine::Machine;
use prose_vm::program::Program;
use prose_vm::questions::{AnswerSource, Attribution};
use prose_vm::runner::{self, Host, Limits, NoTrees, RunError};
use prose_vm::settings::Settings;
use prose_vm::store::{NoRecording, NoStore};
use prose_vm::value::Value as ProgramValue;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use smol_str::SmolStr;
use tokio::runtime::Runtime;

use crate::files::{Files, Opened};
use crate::programs::severity;
use crate::questions::{Page, Question, Questions};

/// The longest time of a turn, if there is more to do: half of a frame.
const TURN: Duration = Duration::from_millis(8);

/// How a run is started.
#[derive(Deserialize)]
pub(crate) struct RunOptions {
    name: String,
    harness: HarnessName,
    script: Option<String>,
    #[serde(default)]
    seed: u64,
    /// The time of each generated reply in milliseconds.
    #[serde(default)]
    delay: u64,
    #[serde(default)]
    inputs: BTreeMap<String, String>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum HarnessName {
    Offline,
    Script,
}

/// A command of the user of the page.
#[derive(Deserialize)]
#[serde(tag = "command", rename_all = "lowercase")]
pub(crate) enum RunCommand {
    Pause,
    Continue,
    Stop,
    Skip { request: RequestId },
    Retry { request: RequestId },
}

/// A run. It moves on only in [`Run::turn`].
pub(crate) struct Run {
    id: SmolStr,
    runtime: Runtime,
    /// None after its end.
    execution: Option<Execution>,
    woken: Arc<Woken>,
    observed: Rc<RefCell<Observed>>,
    /// The revision of the view that the page has.
    shown: u64,
    questions: Arc<Questions>,
    commands: CommandSender,
    end: Option<Ended>,
}

type Execution = Pin<Box<dyn Future<Output = Result<RunEnd, RunError>>>>;

/// What has happened.
#[derive(Default)]
struct Observed {
    view: View,
    records: SessionRecords,
}

/// Whether the execution can move on.
#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The end of a run.
#[derive(Debug, Clone, Serialize)]
struct Ended {
    status: Value,
    error: Option<String>,
    outputs: Vec<Value>,
    value: Option<String>,
}

/// What has happened since the last turn.
#[derive(Serialize)]
pub(crate) struct Turn {
    delta: Option<Value>,
    questions: Vec<Question>,
    end: Option<Ended>,
}

/// A run without files.
struct NoFiles;

impl SessionFiles for NoFiles {}

impl Run {
    /// Starts a program. Nothing is executed yet.
    pub(crate) fn start(files: &Files, options: &RunOptions) -> Result<Self, String> {
        let Opened { db, file, .. } = files.program(&options.name)?;
        check(db, file, &options.name)?;
        let program = Program::new(db, file);
        let harness = harness(files, options)?;
        let now = runner::now();
        let id = SmolStr::from(format!("page-{now}"));
        let mut settings = Settings::new(id.clone());
        settings.harness = harness.name().into();
        settings.seed = options.seed;
        for (name, text) in &options.inputs {
            if let Some(refusal) = program.refusal_of_input(name) {
                return Err(refusal);
            }
            let value = program.input_value(name, &ProgramValue::text(text.as_str()))?;
            settings.inputs.push((name.into(), value));
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        let runtime = runtime.map_err(|error| format!("the run cannot be started: {error}"))?;
        let observed = Rc::new(RefCell::new(Observed::default()));
        let questions = Arc::new(Questions::default());
        let (commands, received) = Commands::channel();
        let machine = Machine::new(program, settings);
        let execution = execute(machine, harness, received, Arc::clone(&questions), Rc::clone(&observed));
        Ok(Self {
            id,
            runtime,
            execution: Some(Box::pin(execution)),
            woken: Arc::new(Woken(AtomicBool::new(true))),
            observed,
            shown: 0,
            questions,
            commands,
            end: None,
        })
    }

    pub(crate) fn id(&self) -> &SmolStr {
        &self.id
    }

    /// Whether it has not ended.
    pub(crate) fn is_executed(&self) -> bool {
        self.execution.is_some()
    }

    /// Performs what can be performed now, and says what has happened.
    pub(crate) fn turn(&mut self) -> Turn {
        self.perform();
        let observed = self.observed.borrow();
        let view = &observed.view;
        let delta = (view.revision() > self.shown).then(|| shown(&view.since(self.shown)));
        self.shown = view.revision();
        Turn { delta, questions: self.questions.open(), end: self.end.clone() }
    }

    fn perform(&mut self) {
        let waker = Waker::from(Arc::clone(&self.woken));
        let began = Instant::now();
        while let Some(execution) = &mut self.execution
            && began.elapsed() < TURN
        {
            // The timers of the runtime look at the clock between two tasks.
            self.runtime.block_on(tokio::task::yield_now());
            if !self.woken.0.swap(false, Ordering::Relaxed) {
                return;
            }
            let polled = {
                let _entered = self.runtime.enter();
                execution.as_mut().poll(&mut Context::from_waker(&waker))
            };
            if let Poll::Ready(end) = polled {
                self.end = Some(ended(end));
                self.execution = None;
            }
        }
    }

    /// Answers a question.
    pub(crate) fn answer(&self, id: u64, text: &str) -> Result<(), String> {
        self.questions.answer(id, text)
    }

    /// Performs a command, in the next turn.
    pub(crate) fn command(&self, command: RunCommand) -> Result<(), String> {
        if !self.is_executed() {
            return Err("the run has ended".to_owned());
        }
        let command = match command {
            RunCommand::Pause => Command::Pause,
            RunCommand::Continue => Command::Continue,
            RunCommand::Stop => Command::Stop,
            RunCommand::Skip { request } => Command::Skip { request },
            RunCommand::Retry { request } => Command::Retry { request },
        };
        self.commands.queue(command, Attribution { by: None, from: AnswerSource::Editor });
        Ok(())
    }

    /// The attempts of a session with all their texts.
    pub(crate) fn sessions(&self, requests: &[RequestId]) -> Vec<Value> {
        let Observed { view, records } = &*self.observed.borrow();
        let details = requests.iter().filter_map(|request| {
            let details = records.get(*request)?.details(view, view.attempt(*request), &NoFiles);
            serde_json::to_value(details).ok()
        });
        details.collect()
    }
}

async fn execute(
    machine: Machine,
    harness: Arc<dyn Harness>,
    commands: Commands,
    questions: Arc<Questions>,
    observed: Rc<RefCell<Observed>>,
) -> Result<RunEnd, RunError> {
    let page = Arc::new(Page(questions));
    let host = Host {
        harness,
        store: &mut NoStore,
        recall: &mut NoRecording,
        trees: Arc::new(NoTrees),
        inputs: Arc::clone(&page) as _,
        approvals: page,
        observer: &mut |event: &Event, _| {
            let Observed { view, records } = &mut *observed.borrow_mut();
            view.apply(event);
            records.apply(event);
        },
        interrupted: Box::pin(std::future::pending()),
        commands,
        gate: None,
        limits: Limits::default(),
        accounts: Arc::new(NoAccounts),
        secrets: Arc::default(),
        clock: &runner::now,
    };
    runner::run(machine, host).await
}

fn shown(delta: &Delta<'_>) -> Value {
    serde_json::to_value(delta).unwrap_or_default()
}

fn ended(end: Result<RunEnd, RunError>) -> Ended {
    match end {
        Ok(end) => Ended {
            status: json!(end.status),
            error: end.error.map(|error| error.to_string()),
            outputs: end
                .outputs
                .iter()
                .map(|(name, value)| json!({ "name": name, "text": value.to_string() }))
                .collect(),
            value: (end.value != ProgramValue::Null).then(|| end.value.to_string()),
        },
        Err(error) => Ended {
            status: json!("failed"),
            error: Some(error.to_string()),
            outputs: Vec::new(),
            value: None,
        },
    }
}

fn harness(files: &Files, options: &RunOptions) -> Result<Arc<dyn Harness>, String> {
    Ok(match options.harness {
        HarnessName::Offline => {
            Arc::new(Offline::new(options.seed).with_delay(Duration::from_millis(options.delay)))
        }
        HarnessName::Script => {
            let name = options.script.as_deref().ok_or("the harness `script` needs a script")?;
            let script = Script::parse(name, files.text(name)?, options.seed);
            Arc::new(script.map_err(|errors| errors.to_string())?)
        }
    })
}

/// Refuses a program with errors, and one with imports that a page does not have (decision 15).
fn check(db: &prose_analysis::Database, file: SourceFile, name: &str) -> Result<(), String> {
    let is_error = |diagnostic: &&prose_syntax::Diagnostic| {
        severity(diagnostic) == Some(Severity::Error) || matches!(diagnostic.code, Code::W143 | Code::E146)
    };
    let errors = diagnostics(db, file).iter().filter(is_error).count();
    if errors > 0 {
        return Err(format!("`{name}` has {} and is not run", counted(errors, "error")));
    }
    match missing_import(db, file) {
        Some(path) => Err(format!(
            "the import `{path}` is not available: a page fetches nothing; add the program as a file and import it by its path"
        )),
        None => Ok(()),
    }
}

/// The path of an import, direct or through others, that is not a file of the page.
fn missing_import(db: &dyn Db, file: SourceFile) -> Option<SmolStr> {
    with_imported_programs(db, file).into_iter().find_map(|file| {
        let is_missing = |path: &SmolStr| !matches!(imported(db, file, path.clone()), Imported::Program(_));
        import_paths(db, file).into_iter().find(is_missing)
    })
}
