//! A session: prompts start a program, answer its questions and resume it.

mod answers;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use prose_acp::{Chunk, SessionNotification, StopReason, Update, code, error};
use prose_run::Start;
use prose_vm::event::{Event, RunEnd, RunStatus};
use prose_vm::program::Program;
use prose_vm::value::Value;
use serde_json::Value as Json;
use smol_str::SmolStr;
use tokio::sync::{Mutex as AsyncMutex, watch};

use self::answers::Answers;
use super::commands::{self, Offered};
use super::connection::Connection;
use super::report;
use super::updates::Shown;
use crate::folder::Folder;
use crate::questions::{Answer, OpenQuestion, QuestionKind};
use crate::runnable::{Runnable, Unloaded};
use crate::runs::{Launch, LiveRun, Runs, recorded};

/// A session of the protocol.
pub(super) struct Session {
    /// Its id, which is that of its first run.
    pub(super) id: SmolStr,
    pub(super) folder: Arc<Folder>,
    pub(super) runs: Arc<Runs>,
    /// The path of the program that the server was started for.
    pub(super) program: Option<String>,
    pub(super) connection: Arc<Connection>,
    /// The flag that cancels the turn at work.
    turn: Mutex<Option<watch::Sender<bool>>>,
    pub(super) stage: AsyncMutex<Stage>,
    shown: Mutex<Arc<Shown>>,
    /// Held while updates are sent, so that they stay in order.
    sending: AsyncMutex<()>,
}

/// What the next prompt is for.
pub(super) enum Stage {
    /// It starts a program. `failed` is a run that can be resumed with a command.
    Ready { failed: Option<SmolStr> },
    /// It gives inputs that the program needs before it starts.
    Gathering { path: String, given: Vec<(SmolStr, Value)>, asked: Option<SmolStr> },
    /// It answers a question of a run.
    Live(Arc<LiveRun>),
    /// It resumes a run, and answers the question that the run waited for.
    Stopped { run: SmolStr, waits: bool },
    /// Another process executes the run.
    Elsewhere(String),
}

/// The end of a turn.
pub(super) struct Turn {
    pub(super) stop: StopReason,
    pub(super) end: Option<RunEnd>,
}

impl Turn {
    fn ended(stop: StopReason) -> Self {
        Self { stop, end: None }
    }
}

/// The flag of a turn. Dropping it ends the turn.
pub(super) struct TurnGuard {
    session: Arc<Session>,
    pub(super) cancelled: watch::Receiver<bool>,
}

impl Drop for TurnGuard {
    fn drop(&mut self) {
        *self.session.turn() = None;
    }
}

impl Session {
    pub(super) fn new(
        id: SmolStr,
        folder: Arc<Folder>,
        program: Option<String>,
        connection: Arc<Connection>,
    ) -> Self {
        Self {
            id,
            runs: Arc::new(Runs::new(Arc::clone(&folder))),
            folder,
            program,
            connection,
            turn: Mutex::default(),
            stage: AsyncMutex::new(Stage::Ready { failed: None }),
            shown: Mutex::default(),
            sending: AsyncMutex::default(),
        }
    }

    fn turn(&self) -> MutexGuard<'_, Option<watch::Sender<bool>>> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn shown(&self) -> Arc<Shown> {
        Arc::clone(&self.shown.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn show(&self, shown: Arc<Shown>) {
        *self.shown.lock().unwrap_or_else(PoisonError::into_inner) = shown;
    }

    /// Begins a turn; none if one is at work.
    pub(super) fn begin_turn(self: &Arc<Self>) -> Option<TurnGuard> {
        let mut turn = self.turn();
        if turn.is_some() {
            return None;
        }
        let (sender, cancelled) = watch::channel(false);
        *turn = Some(sender);
        Some(TurnGuard { session: Arc::clone(self), cancelled })
    }

    /// Cancels the turn at work, or stops the run that waits for an answer.
    pub(super) fn cancel(&self) {
        if let Some(turn) = self.turn().as_ref() {
            turn.send_replace(true);
        } else if let Ok(stage) = self.stage.try_lock()
            && let Stage::Live(live) = &*stage
        {
            live.stop();
        }
    }

    /// Sends an update.
    pub(super) async fn update(&self, update: Update) {
        let params = SessionNotification { session_id: self.id.to_string(), update };
        self.connection.notify("session/update", &params).await;
    }

    /// Sends what happened in the run.
    pub(super) async fn flush(&self) {
        let _sending = self.sending.lock().await;
        for update in self.shown().take() {
            self.update(update).await;
        }
    }

    /// Writes to the user, after what happened in the run.
    pub(super) async fn write(&self, chunk: Chunk) {
        self.flush().await;
        self.update(Update::AgentMessageChunk(chunk)).await;
    }

    /// Handles a prompt.
    pub(super) async fn prompt(
        self: &Arc<Self>,
        text: &str,
        cancelled: watch::Receiver<bool>,
    ) -> Result<Turn, Json> {
        let mut stage = self.stage.lock().await;
        if let Stage::Live(live) = &*stage
            && live.end().is_some()
        {
            // It ended between two turns.
            let live = Arc::clone(live);
            let (next, turn) = self.ended(&live, &cancelled).await;
            *stage = next;
            if let Err(error) = turn {
                self.write(Chunk::notice(format!("{}\n", error["message"].as_str().unwrap_or_default())))
                    .await;
            }
        }
        let next = self.next(&mut stage, text).await?;
        let live = match next {
            Next::Asked(question) => {
                self.write(Chunk::text(question)).await;
                return Ok(Turn::ended(StopReason::EndTurn));
            }
            Next::Follow(live) => live,
        };
        *stage = Stage::Live(Arc::clone(&live));
        match self.follow(&live, cancelled.clone()).await {
            Followed::Asked(question) => {
                self.write(Chunk::text(question.prompt.to_string())).await;
                Ok(Turn::ended(StopReason::EndTurn))
            }
            Followed::Ended => {
                let (next, turn) = self.ended(&live, &cancelled).await;
                *stage = next;
                turn
            }
        }
    }

    /// What a prompt leads to.
    async fn next(self: &Arc<Self>, stage: &mut Stage, text: &str) -> Result<Next, Json> {
        let (word, rest, is_command) = commands::split(text);
        let named = commands::path_of(&self.folder, word);
        if is_command && (named.is_some() || word == commands::RESUME) {
            if let Stage::Live(live) = stage {
                return Err(invalid(format!(
                    "run {} is at work; answer its question, or cancel it",
                    live.id
                )));
            }
            if let Some(path) = named {
                if !self.serves(&path) {
                    return Err(invalid(format!("`{path}` is not served here")));
                }
                return self.start(stage, path, rest).await;
            }
            let (Stage::Stopped { run, .. } | Stage::Ready { failed: Some(run) }) = stage else {
                return Err(invalid("there is no run to resume; start a program".to_owned()));
            };
            return self.resume(run.clone(), None).await;
        }
        match stage {
            Stage::Live(live) => {
                let question = live.questions.open().into_iter().find(is_input);
                // Without a question, it was answered or given up in the meantime.
                if let Some(question) = question {
                    let answer = Answer::Input(Value::text(text.trim()));
                    live.questions.answer(Some(question.number), answer).map_err(invalid)?;
                }
                Ok(Next::Follow(Arc::clone(live)))
            }
            Stage::Stopped { run, waits } => {
                let answer = waits.then(|| Value::text(text.trim()));
                self.resume(run.clone(), answer).await
            }
            Stage::Elsewhere(reason) => Err(invalid(reason.clone())),
            Stage::Gathering { path, given, asked } => {
                let (path, given, asked) = (path.clone(), given.clone(), asked.clone());
                self.gather(stage, path, given, text, asked).await
            }
            Stage::Ready { .. } => match (&self.program, named) {
                (Some(program), _) => {
                    let program = program.clone();
                    self.start(stage, program, text).await
                }
                (None, Some(path)) => self.start(stage, path, rest).await,
                (None, None) => {
                    let offered = self.offered().await;
                    Ok(Next::Asked(commands::usage(&offered, word)))
                }
            },
        }
    }

    /// Whether a prompt can name a program.
    fn serves(&self, path: &str) -> bool {
        self.program.as_ref().is_none_or(|program| self.folder.place(program) == self.folder.place(path))
    }

    /// The programs that a prompt can name.
    pub(super) async fn offered(&self) -> Vec<Offered> {
        let folder = Arc::clone(&self.folder);
        let program = self.program.clone();
        let offered = tokio::task::spawn_blocking(move || match program {
            Some(_) => Vec::new(),
            None => commands::offered(&folder),
        });
        offered.await.unwrap_or_default()
    }

    async fn start(self: &Arc<Self>, stage: &mut Stage, path: String, text: &str) -> Result<Next, Json> {
        self.gather(stage, path, Vec::new(), text, None).await
    }

    /// Starts a program with the inputs in a text, or asks for the first one that is missing. `asked` is the input that a text without a name gives.
    async fn gather(
        self: &Arc<Self>,
        stage: &mut Stage,
        path: String,
        mut given: Vec<(SmolStr, Value)>,
        text: &str,
        asked: Option<SmolStr>,
    ) -> Result<Next, Json> {
        let (folder, named) = (Arc::clone(&self.folder), path.clone());
        let loading = tokio::task::spawn_blocking(move || {
            Runnable::load(&folder, &named).map(|runnable| Arc::clone(&runnable.program))
        });
        let program = loading.await.map_err(|_| defect())?.map_err(unloaded)?;
        let single = asked.or_else(|| commands::single_input(&program));
        let names = program.inputs();
        match commands::inputs_of(text, &names, single.as_ref()) {
            Some(inputs) => {
                for (name, value) in inputs {
                    given.retain(|(known, _)| *known != name);
                    given.push((name, value));
                }
            }
            None if names.is_empty() => {}
            None => {
                let lines: Vec<String> =
                    names.iter().map(|name| format!("- {}", commands::question(&program, name))).collect();
                *stage = Stage::Gathering { path, given, asked: None };
                return Ok(Next::Asked(format!(
                    "The program has several inputs. Write each as a line `name: value`:\n\n{}",
                    lines.join("\n")
                )));
            }
        }
        let missing = program.missing_at_start(|key| given.iter().any(|(name, _)| name == key));
        if let Some(first) = missing.first() {
            let question = commands::question(&program, first);
            *stage = Stage::Gathering { path, given, asked: Some(first.clone()) };
            return Ok(Next::Asked(question));
        }
        self.launch(program, path, given).await
    }

    async fn launch(
        self: &Arc<Self>,
        program: Arc<Program>,
        path: String,
        given: Vec<(SmolStr, Value)>,
    ) -> Result<Next, Json> {
        let file = self.folder.place(&path).ok().filter(|place| place.is_file());
        let shown = Arc::new(Shown::of_program(&program.outline(), file));
        let sink = Arc::clone(&shown);
        self.show(shown);
        let id = self.id.clone();
        let launch = move |folder: &Folder| {
            let runnable = Runnable::load(folder, &path).map_err(|unloaded| words(&unloaded))?;
            let mut request = runnable.with_inputs(given)?.request(folder, Start::New);
            request.id = Some(id);
            let observer = move |event: &Event, _: bool| sink.event(event);
            Ok(Launch { asks_user: true, observer: Some(Box::new(observer)), ..Launch::new(request) })
        };
        let live = self.runs.launch(launch).await.map_err(failed)?;
        self.watch(&live);
        Ok(Next::Follow(live))
    }

    /// Resumes a run. The answer is that to the first question which it asks.
    async fn resume(self: &Arc<Self>, run: SmolStr, answer: Option<Value>) -> Result<Next, Json> {
        let sink = self.shown();
        let launch = move |folder: &Folder| {
            let details = recorded(folder, &run)?;
            let Some(head) = &details.head else {
                return Err(format!(
                    "run {run} has no journal; resume it with `prose resume {run}` in a terminal"
                ));
            };
            let runnable = Runnable::load(folder, &head.from)
                .map_err(|unloaded| format!("run {run} cannot be resumed here: {}", words(&unloaded)))?;
            let request = runnable.request(folder, Start::Resume { run, accept_changes: false });
            let observer = move |event: &Event, _: bool| sink.event(event);
            Ok(Launch {
                next: answer,
                asks_user: true,
                observer: Some(Box::new(observer)),
                ..Launch::new(request)
            })
        };
        let live = self.runs.launch(launch).await.map_err(failed)?;
        self.watch(&live);
        Ok(Next::Follow(live))
    }

    /// Sends what happens in a run until it ends, also between turns.
    fn watch(self: &Arc<Self>, live: &Arc<LiveRun>) {
        let (session, live) = (Arc::clone(self), Arc::clone(live));
        tokio::spawn(async move {
            let mut changes = live.changes();
            while live.end().is_none() {
                session.flush().await;
                changes.next(true).await;
            }
            session.flush().await;
        });
    }

    /// Follows a run until it ends, or asks something that only a prompt can answer.
    async fn follow(self: &Arc<Self>, live: &Arc<LiveRun>, mut cancelled: watch::Receiver<bool>) -> Followed {
        let mut changes = live.changes();
        let mut answers = Answers::new(Arc::clone(self), Arc::clone(live));
        let mut is_cancelled = false;
        loop {
            if live.end().is_some() {
                return Followed::Ended;
            }
            if !is_cancelled && *cancelled.borrow() {
                is_cancelled = true;
                live.stop();
            }
            let asked = if is_cancelled { None } else { answers.ask(live.questions.open()) };
            if let Some(question) = asked {
                return Followed::Asked(question);
            }
            tokio::select! {
                () = changes.next(false) => {}
                () = answers.next() => {}
                // The sender lives until the turn ends.
                _ = cancelled.changed(), if !is_cancelled => {}
            }
        }
    }

    /// Reports the end of a run.
    async fn ended(&self, live: &LiveRun, cancelled: &watch::Receiver<bool>) -> (Stage, Result<Turn, Json>) {
        let run = live.id.clone();
        let stopped = Stage::Stopped { run: run.clone(), waits: false };
        let end = match live.end() {
            Some(Ok(end)) => end,
            Some(Err(reason)) => return (stopped, Err(failed(format!("run {run}: {reason}")))),
            None => return (Stage::Ready { failed: None }, Err(defect())),
        };
        self.flush().await;
        let warnings = self.shown().warnings();
        let result = report::result(&end);
        if !result.is_empty() && !end.status.is_stopped() {
            self.write(Chunk::text(result)).await;
        }
        let census = report::census(&run, &live.view(), &warnings);
        self.write(Chunk::notice(census)).await;
        let reason = report::error(&end);
        match end.status {
            RunStatus::Completed => {
                (Stage::Ready { failed: None }, Ok(Turn { stop: StopReason::EndTurn, end: Some(end) }))
            }
            RunStatus::Failed => (Stage::Ready { failed: Some(run) }, Err(failed(reason))),
            RunStatus::Interrupted if *cancelled.borrow() => {
                (stopped, Ok(Turn { stop: StopReason::Cancelled, end: Some(end) }))
            }
            RunStatus::Interrupted | RunStatus::Waiting => {
                self.write(Chunk::notice(format!("{reason}\n\n{}", report::RESUMES))).await;
                (stopped, Ok(Turn { stop: StopReason::MaxTurnRequests, end: Some(end) }))
            }
        }
    }
}

/// What a prompt leads to.
enum Next {
    /// A question to the user.
    Asked(String),
    /// A run at work.
    Follow(Arc<LiveRun>),
}

/// What ended a turn.
enum Followed {
    Asked(OpenQuestion),
    Ended,
}

pub(super) fn is_input(question: &OpenQuestion) -> bool {
    matches!(question.kind, QuestionKind::Input { .. })
}

fn words(unloaded: &Unloaded) -> String {
    match unloaded {
        Unloaded::Unread(reason) => reason.clone(),
        Unloaded::Refused(reason, errors) if errors.is_empty() => reason.clone(),
        Unloaded::Refused(reason, errors) => format!("{reason}:\n{}", errors.join("\n")),
    }
}

fn unloaded(unloaded: Unloaded) -> Json {
    failed(words(&unloaded))
}

fn failed(reason: String) -> Json {
    error(code::INTERNAL_ERROR, reason)
}

fn invalid(reason: String) -> Json {
    error(code::INVALID_REQUEST, reason)
}

fn defect() -> Json {
    error(code::INTERNAL_ERROR, "a defect in prose has ended this request")
}
