//! Notifications of a run: `run.notify` is started when the run starts to wait, fails or ends.

use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use prose_config::Word;
use prose_harness::notification::NotifyCommand;
use prose_state::runs::RunState;
use prose_vm::event::{RunEnd, RunStatus};
use prose_vm::questions::OpenQuestion;
use prose_vm::runner;
use serde_json::{Value, json};

use crate::request::{RunRequest, Start};

/// How long the command may take. After that it is stopped.
const MAX_TIME: Duration = Duration::from_secs(10);

/// The most commands at a time. Further notifications are dropped with a warning.
const MAX_OPEN: usize = 8;

/// The longest text of a notification, in bytes.
const MAX_TEXT: usize = 2_000;

/// What is reported about a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Notification<'a> {
    /// The run starts to wait for a person.
    Waiting(&'a OpenQuestion),
    /// The run ended: it completed, failed or was interrupted.
    Ended(&'a RunEnd),
    /// The run was ended by a failure outside of its program, such as a full disk.
    Stopped(&'a str),
}

/// Starts the command of `run.notify`. It never blocks a run and never fails it: what goes wrong is a warning. Clones notify for the same run.
#[derive(Debug, Clone, Default)]
pub struct Notifier(Option<Arc<Shared>>);

#[derive(Debug)]
struct Shared {
    command: NotifyCommand,
    /// What all notifications of the run have in common.
    run: Value,
    deliveries: Mutex<Deliveries>,
    ended: Condvar,
}

#[derive(Debug, Default)]
struct Deliveries {
    open: usize,
    problems: Vec<String>,
}

impl Notifier {
    /// The notifier of a run, and a note for the user if the settings name a command that is not trusted (decision 18).
    pub(crate) fn new(
        request: &RunRequest,
        run: &str,
        folder: Option<&Path>,
        is_trusted: bool,
    ) -> (Self, Option<String>) {
        let words = request.config.notify.iter().map(Word::as_str);
        let variables: Vec<String> =
            request.config.environment.iter().map(|name| name.as_str().to_owned()).collect();
        let command = NotifyCommand::new(words, &request.project.root, &variables);
        let Some(command) = command.filter(|_| request.start != Start::Dry && !request.start.is_replay())
        else {
            return (Self::default(), None);
        };
        if !is_trusted {
            let note = "`run.notify` has no effect, since the project is not trusted; if you trust it, run `prose trust`";
            return (Self::default(), Some(note.to_owned()));
        }
        let run = json!({
            "run": run,
            "program": request.program.name,
            "project": request.project.root,
            "folder": folder,
        });
        let (deliveries, ended) = (Mutex::default(), Condvar::new());
        (Self(Some(Arc::new(Shared { command, run, deliveries, ended }))), None)
    }

    /// Starts the command with a notification, without waiting for it.
    pub fn notify(&self, notification: Notification<'_>) {
        let Some(shared) = &self.0 else { return };
        let text = format!("{}\n", shared.event(notification));
        let mut deliveries = shared.deliveries();
        if deliveries.open == MAX_OPEN {
            deliveries.problem(&format!("it was not started, since {MAX_OPEN} of its processes run"));
            return;
        }
        deliveries.open += 1;
        drop(deliveries);
        let delivering = Arc::clone(shared);
        let started = std::thread::Builder::new().name("notify".to_owned()).spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let delivered = match runtime {
                Ok(runtime) => runtime.block_on(delivering.command.deliver(text, MAX_TIME)),
                Err(error) => Err(error.to_string()),
            };
            delivering.delivered(delivered);
        });
        if let Err(error) = started {
            shared.delivered(Err(error.to_string()));
        }
    }

    /// Waits until all started commands have ended, which their time limit bounds, and returns what went wrong since the last call, for the user.
    pub fn settle(&self) -> Vec<String> {
        let Some(shared) = &self.0 else { return Vec::new() };
        let mut deliveries = shared.deliveries();
        while deliveries.open > 0 {
            deliveries = shared.ended.wait(deliveries).unwrap_or_else(PoisonError::into_inner);
        }
        std::mem::take(&mut deliveries.problems)
    }
}

impl Shared {
    fn deliveries(&self) -> MutexGuard<'_, Deliveries> {
        self.deliveries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn delivered(&self, result: Result<(), String>) {
        let mut deliveries = self.deliveries();
        deliveries.open -= 1;
        if let Err(problem) = result {
            deliveries.problem(&problem);
        }
        self.ended.notify_all();
    }

    /// The JSON that the command receives.
    fn event(&self, notification: Notification<'_>) -> Value {
        let mut event = self.run.clone();
        event["at"] = runner::now().into();
        let (name, facts) = match notification {
            Notification::Waiting(question) => {
                let question = json!({
                    "id": question.id,
                    "kind": question.kind.name(),
                    "prompt": shortened(&question.prompt),
                    "line": question.line,
                    "program": question.program,
                });
                ("waiting", json!({ "status": "waiting", "question": question }))
            }
            Notification::Ended(end) => {
                let name = if end.status == RunStatus::Failed { "failed" } else { "ended" };
                let error = end.error.as_ref();
                let facts = json!({
                    "status": RunState::of(end).name(),
                    "sessions": end.sessions,
                    "failures": end.failures,
                    "usage": end.usage,
                    "error": error.map(|error| shortened(&error.message)),
                    "line": error.map(|error| error.line).filter(|line| *line > 0),
                });
                (name, facts)
            }
            Notification::Stopped(message) => {
                ("failed", json!({ "status": "interrupted", "error": shortened(message) }))
            }
        };
        event["event"] = name.into();
        if let (Some(event), Value::Object(facts)) = (event.as_object_mut(), facts) {
            event.extend(facts);
        }
        event
    }
}

impl Deliveries {
    fn problem(&mut self, problem: &str) {
        self.problems.push(format!("the command of `run.notify` failed: {problem}"));
    }
}

fn shortened(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_TEXT)]
}
