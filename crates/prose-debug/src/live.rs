//! Runs that are executed while they are debugged: by this process, or by another one.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use prose_run::control::{Client, Closer};
use prose_run::questions::{Attendance, OpenQuestion, user};
use prose_run::{Questions, RunHooks, RunRequest, Start, prepare};
use prose_vm::activity::AnswerSource;
use prose_vm::command::{Command, CommandSender};
use prose_vm::effect::Request;
use prose_vm::event::{Event, EventKind, RunEnd, RunStatus};
use prose_vm::gate::{Gate, Opened};
use prose_vm::value::Value;
use smol_str::SmolStr;
use tokio::sync::{Notify, oneshot};

use crate::debuggee::{Debuggee, Stop};
use crate::values::shown;

/// What the owner of a session receives.
#[derive(Debug)]
pub(crate) enum Input {
    /// A message of the client.
    Message(Vec<u8>),
    /// The client has closed the connection, or sent something that is no message.
    Closed(Option<String>),
    /// The debugger has stopped.
    Stopped(Stop),
    /// Branches have started or ended while the debugger moves with the run.
    BranchesChanged,
    /// Something to show.
    Output(Output),
    /// The run asks a person.
    Question(OpenQuestion),
    /// The run has ended, or its process.
    Ended,
}

/// Something to show in the debug console.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Output {
    /// `console`, `stdout`, `important` or `stderr`, as the protocol has them.
    pub(crate) category: Category,
    pub(crate) text: String,
    pub(crate) line: Option<(u32, u32)>,
}

/// Kinds of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Category {
    Console,
    Stdout,
    Stderr,
}

impl Output {
    pub(crate) fn new(category: Category, text: impl Into<String>) -> Self {
        Self { category, text: text.into(), line: None }
    }
}

/// A run that is debugged, as its own thread and the owner of the session share it.
#[derive(Debug)]
pub(crate) struct Shared {
    debuggee: Mutex<Debuggee>,
    opened: Notify,
    inputs: Mutex<Sender<Input>>,
}

impl Shared {
    pub(crate) fn new(inputs: Sender<Input>) -> Arc<Self> {
        Arc::new(Self { debuggee: Mutex::default(), opened: Notify::new(), inputs: Mutex::new(inputs) })
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Debuggee> {
        self.debuggee.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Requests that were held may start.
    pub(crate) fn open(&self) {
        self.opened.notify_one();
    }

    /// Reports to another owner from now on, with what the owner before has not received.
    pub(crate) fn report_to(&self, owner: &Sender<Input>, missed: &Receiver<Input>) {
        let mut inputs = self.inputs.lock().unwrap_or_else(PoisonError::into_inner);
        missed.try_iter().for_each(|input| _ = owner.send(input));
        *inputs = owner.clone();
    }

    /// Reports nothing any more.
    pub(crate) fn silence(&self) {
        *self.inputs.lock().unwrap_or_else(PoisonError::into_inner) = mpsc::channel().0;
    }

    fn send(&self, input: Input) {
        // The session may be over while the run comes to its end.
        let _ = self.inputs.lock().unwrap_or_else(PoisonError::into_inner).send(input);
    }

    fn observe(&self, event: &Event) {
        self.lock().push(event.clone());
        if let Some(output) = output_of(event) {
            self.send(Input::Output(output));
        }
    }

    /// Moves the debugger with the run.
    fn follow(&self) {
        let (stop, messages, has_other_branches) = {
            let mut debuggee = self.lock();
            (debuggee.advance(), debuggee.take_messages(), debuggee.announces_branches())
        };
        if has_other_branches {
            self.send(Input::BranchesChanged);
        }
        for message in messages {
            self.send(Input::Output(Output::new(Category::Console, message)));
        }
        if let Some(stop) = stop {
            self.send(Input::Stopped(stop));
        }
    }

    fn end(&self, output: Output) {
        self.lock().end();
        self.send(Input::Output(output));
        self.follow();
        self.send(Input::Ended);
    }
}

impl Gate for Shared {
    fn requested(&self, request: &Request) {
        self.lock().requested(request.id);
    }

    fn settled(&self) {
        self.follow();
    }

    fn may_start(&self, request: &Request) -> bool {
        self.lock().may_start(request)
    }

    fn opened(&self) -> Opened<'_> {
        Box::pin(self.opened.notified())
    }
}

/// What an event writes to the debug console.
fn output_of(event: &Event) -> Option<Output> {
    let line = event.site.map(|site| (site.program, site.line));
    let (category, text) = match &event.kind {
        EventKind::Warning { message } => (Category::Stderr, format!("warning: {message}")),
        EventKind::OutputGiven { name: Some(name), value } => (Category::Stdout, format!("{name}: {value}")),
        EventKind::Retrying { attempt, retries, error, .. } => {
            (Category::Console, format!("retry {attempt} of {retries}: {error}"))
        }
        EventKind::Commanded { command, by } => {
            let what = match command {
                Command::Pause => "the run was paused".to_owned(),
                Command::Continue => "the run was continued".to_owned(),
                Command::Stop => "the run was stopped".to_owned(),
                Command::Skip { request } => format!("session {} was skipped", request.0),
                Command::Retry { request } => format!("session {} starts again", request.0),
                Command::Reply { request, .. } => format!("session {} got its reply", request.0),
                Command::Prompt { request, .. } => format!("session {} got another prompt", request.0),
                Command::SetLimit { limit } => format!("the limit is {limit} now"),
            };
            (Category::Console, format!("{what} {by}"))
        }
        EventKind::VariableSet { name, value, by } => {
            (Category::Console, format!("`{name}` was set to {} {by}", shown(value)))
        }
        _ => return None,
    };
    Some(Output { line, ..Output::new(category, text) })
}

/// How a run ended, in a line.
pub(crate) fn end_text(end: &RunEnd) -> Output {
    match (end.status, &end.error) {
        (RunStatus::Completed, _) => {
            let value = match &end.value {
                Value::Null => String::new(),
                value => format!("{value}\n"),
            };
            Output::new(Category::Stdout, format!("{value}The run has completed."))
        }
        (RunStatus::Failed, Some(error)) => {
            let place = if error.line > 0 { format!(" at line {}", error.line) } else { String::new() };
            Output::new(Category::Stderr, format!("The program failed{place}: {error}"))
        }
        (_, Some(error)) => Output::new(Category::Console, format!("The run has stopped: {error}")),
        (_, None) => Output::new(Category::Console, "The run has stopped."),
    }
}

/// A run that this process executes.
pub(crate) struct Live {
    pub(crate) run: SmolStr,
    /// What it was started with, for another execution of the program.
    pub(crate) request: Box<RunRequest>,
    pub(crate) desk: Questions,
    pub(crate) commands: CommandSender,
    /// Lets the prepared run start.
    go: Option<Sender<()>>,
    stop: Option<oneshot::Sender<String>>,
    thread: Option<JoinHandle<()>>,
    _attendance: Attendance,
}

/// What is known of a run before it starts.
struct Prepared {
    run: SmolStr,
    commands: CommandSender,
    notes: Vec<String>,
}

impl Live {
    /// Prepares a run on a thread of its own. It starts with [`Live::start`].
    pub(crate) fn prepare(request: RunRequest, shared: &Arc<Shared>) -> Result<Self, String> {
        let (ready, prepared) = mpsc::channel();
        let (go, gone) = mpsc::channel::<()>();
        let (stop, stopped) = oneshot::channel::<String>();
        let desk = Questions::default();
        let attendance = desk.attend();
        let questions = desk.clone();
        let shared = Arc::clone(shared);
        let started_with = Box::new(request.clone());
        let execute = move || {
            let is_new = !matches!(request.start, Start::Resume { .. });
            let project = request.project.clone();
            let mut run = match prepare(request) {
                Ok(run) => run,
                Err(failure) => return drop(ready.send(Err(failure.for_editor()))),
            };
            run.gate = Some(Arc::clone(&shared) as Arc<dyn Gate>);
            let (id, commands) = (SmolStr::new(run.run()), run.commands());
            let notes = run.notes.clone();
            let sent = ready.send(Ok(Prepared { run: id.clone(), commands, notes }));
            if sent.is_err() || gone.recv().is_err() {
                // A run that never started is not listed.
                drop(run);
                if is_new {
                    let _ = project.remove_run(&id);
                }
                return;
            }
            let notifier = run.notifier();
            let told = Arc::downgrade(&shared);
            run.tell(move |sentence| {
                if let Some(shared) = told.upgrade() {
                    shared.send(Input::Output(Output::new(Category::Stderr, sentence.to_owned())));
                }
            });
            let finished = run.execute(RunHooks {
                questions,
                observer: &mut |event, _| shared.observe(event),
                interrupted: Box::pin(async move {
                    match stopped.await {
                        Ok(reason) => reason,
                        Err(_) => std::future::pending().await,
                    }
                }),
                narration: None,
            });
            for problem in notifier.settle() {
                shared.send(Input::Output(Output::new(Category::Stderr, problem)));
            }
            shared.end(match finished {
                Ok(finished) => end_text(&finished.end),
                Err(failure) => Output::new(Category::Stderr, failure.for_editor()),
            });
        };
        let thread = thread::Builder::new().name("run".to_owned()).spawn(execute);
        let thread = thread.map_err(|error| format!("a run cannot be started: {error}"))?;
        let Prepared { run, commands, notes } =
            prepared.recv().unwrap_or_else(|_| Err("a defect in prose has ended the run".to_owned()))?;
        let _ = notes;
        Ok(Self {
            run,
            request: started_with,
            desk,
            commands,
            go: Some(go),
            stop: Some(stop),
            thread: Some(thread),
            _attendance: attendance,
        })
    }

    /// Lets the run start, and follows its questions.
    pub(crate) fn start(&mut self, inputs: &Sender<Input>) {
        let Some(go) = self.go.take() else { return };
        let _ = go.send(());
        let (desk, inputs) = (self.desk.clone(), inputs.clone());
        let follow = move || {
            let mut seen = std::collections::BTreeSet::new();
            while let Some(question) = futures_executor::block_on(desk.next(&mut seen)) {
                if inputs.send(Input::Question(question)).is_err() {
                    break;
                }
            }
        };
        // Without the thread, questions are answered in other ways.
        let _ = thread::Builder::new().name("questions".to_owned()).spawn(follow);
    }

    /// Interrupts the run; it can be resumed.
    pub(crate) fn interrupt(&mut self, reason: &str) {
        self.go = None;
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(reason.to_owned());
        }
    }

    /// The number of sessions at work.
    pub(crate) fn count_at_work(&self) -> usize {
        let status = futures_executor::block_on(self.commands.status());
        status.map_or(0, |status| status.sessions.iter().filter(|session| session.is_at_work).count())
    }

    /// Waits until the run has ended.
    pub(crate) fn join(mut self) {
        self.go = None;
        if let Some(thread) = self.thread.take() {
            // A panic was reported where it happened.
            let _ = thread.join();
        }
    }

    /// Gives the run a command, and waits until it is recorded.
    pub(crate) fn command(&self, command: Command) -> Result<(), String> {
        let sent = self.commands.send(command, user(AnswerSource::Editor));
        futures_executor::block_on(sent).map_err(|error| error.to_string())
    }
}

/// A run that another process executes.
pub(crate) struct Attached {
    /// The folder of the run.
    pub(crate) folder: PathBuf,
    /// Whether this debugger has paused the run.
    is_paused: bool,
    closer: Closer,
}

impl Attached {
    /// Follows the events of a run, on a thread of its own.
    pub(crate) fn follow(client: Client, folder: &Path, shared: &Arc<Shared>) -> Result<Self, String> {
        let mut watcher = client.attach(0).map_err(|error| error.to_string())?;
        let closer = watcher.closer().map_err(|error| error.to_string())?;
        // What has happened is there when the client first asks.
        while watcher.is_behind()
            && let Some(watched) = watcher.next_event().map_err(|error| error.to_string())?
        {
            shared.lock().push(watched.event);
        }
        shared.follow();
        let shared = Arc::clone(shared);
        let follow = move || {
            loop {
                match watcher.next_event() {
                    Ok(Some(watched)) => {
                        shared.lock().push(watched.event.clone());
                        if let Some(output) = output_of(&watched.event).filter(|_| watched.is_live) {
                            shared.send(Input::Output(output));
                        }
                        shared.follow();
                    }
                    Ok(None) => break,
                    Err(error) => {
                        shared.send(Input::Output(Output::new(Category::Stderr, error.to_string())));
                        break;
                    }
                }
            }
            let ended = shared.lock().timeline.events().iter().rev().find_map(|event| match &event.kind {
                EventKind::RunEnded(end) => Some(end_text(end)),
                _ => None,
            });
            let gone = || Output::new(Category::Console, "The process of the run is not reachable any more.");
            shared.end(ended.unwrap_or_else(gone));
        };
        let thread = thread::Builder::new().name("attached".to_owned()).spawn(follow);
        thread.map_err(|error| format!("the run cannot be followed: {error}"))?;
        Ok(Self { folder: folder.to_owned(), is_paused: false, closer })
    }

    /// Gives the run a command.
    pub(crate) fn command(&self, command: Command) -> Result<(), String> {
        let mut client = Client::connect(&self.folder).map_err(|error| error.to_string())?;
        client.command(command, &user(AnswerSource::Editor)).map_err(|error| error.to_string())
    }

    /// Pauses the run.
    pub(crate) fn pause(&mut self) -> Result<(), String> {
        self.command(Command::Pause)?;
        self.is_paused = true;
        Ok(())
    }

    /// Continues the run, if this debugger has paused it.
    pub(crate) fn unpause(&mut self) {
        if std::mem::take(&mut self.is_paused) {
            // Another client may have continued it.
            let _ = self.command(Command::Continue);
        }
    }

    /// Answers a question of the run.
    pub(crate) fn answer(&self, text: &str) -> Result<(), String> {
        let mut client = Client::connect(&self.folder).map_err(|error| error.to_string())?;
        client.answer(None, text, &user(AnswerSource::Editor)).map_err(|error| error.to_string())
    }

    /// Leaves the run to itself. What the debugger has paused continues.
    pub(crate) fn leave(mut self) {
        self.unpause();
        self.closer.close();
    }
}
