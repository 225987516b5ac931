//! A session: prompts start a program, answer its questions and resume it.

mod requests;

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use prose_acp::{Chunk, SessionNotification, StopReason, Update, code, error};
use prose_run::Start;
use prose_run::questions::AnswerError;
use prose_vm::event::{Event, RunEnd, RunStatus};
use prose_vm::program::Program;
use prose_vm::questions::{AnswerSource, OpenQuestion, QuestionId, QuestionKind};
use prose_vm::value::Value;
use serde_json::Value as Json;
use smol_str::SmolStr;
use tokio::sync::{Mutex as AsyncMutex, watch};

use self::requests::Requests;
use super::commands::{self, Offered};
use super::connection::Connection;
use super::report;
use super::runs_of_session;
use super::updates::Shown;
use crate::folder::Folder;
use crate::runnable::{Runnable, Unloaded};
use crate::runs::{Launch, LiveRun, Runs, recorded};

/// A session of the protocol.
pub(super) struct Session {
    /// Its id, which is that of its first run. Later runs name it in their folders.
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
    /// The number of questions that the client was asked with options.
    questions: AtomicU64,
    /// Held while updates are sent, so that they stay in order.
    sending: AsyncMutex<()>,
}

/// What the next prompt is for.
pub(super) enum Stage {
    /// It starts a program. `failed` is a run that can be resumed with a command.
    Ready { failed: Option<SmolStr> },
    /// It gives inputs that the program needs before it starts.
    Gathering { path: String, given: Vec<(SmolStr, Value)>, asked: Option<SmolStr> },
    /// It answers a question of a run: the one that was written last.
    Live { live: Arc<LiveRun>, asked: Option<QuestionId> },
    /// It resumes a run, and answers the question that the run waited for.
    Stopped { run: SmolStr, awaited: Option<Awaited> },
    /// Another process executes the run.
    Elsewhere(SmolStr),
    /// The run cannot be resumed here, and why.
    Unavailable(String),
}

/// The question that a stopped run waited for.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Awaited {
    /// This one.
    Question(Box<OpenQuestion>),
    /// The first one for an input, since the process of the run was killed.
    Input,
}

impl Awaited {
    pub(super) fn question(question: OpenQuestion) -> Self {
        Self::Question(Box::new(question))
    }

    /// Whether it is this question of the resumed run.
    fn is(&self, question: &OpenQuestion) -> bool {
        match self {
            Awaited::Question(asked) => asked.kind == question.kind && asked.asked_at == question.asked_at,
            Awaited::Input => matches!(question.kind, QuestionKind::Input { .. }),
        }
    }
}

/// The answer to a question that a resumed run asks again.
struct Answer {
    to: Awaited,
    text: Value,
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
            questions: AtomicU64::new(0),
            sending: AsyncMutex::default(),
        }
    }

    fn turn(&self) -> MutexGuard<'_, Option<watch::Sender<bool>>> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn shown(&self) -> Arc<Shown> {
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
            && let Stage::Live { live, .. } = &*stage
        {
            live.stop();
        }
    }

    /// Ends the session: a turn at work is cancelled, unless its run waits for an answer, which it does from now on without a process.
    pub(super) async fn close(&self) {
        if !self.runs.is_asking()
            && let Some(turn) = self.turn().as_ref()
        {
            turn.send_replace(true);
        }
        self.runs.stop_all().await;
    }

    /// The number of the next question with options. Questions of resumed runs have numbers of earlier ones.
    fn next_question(&self) -> u64 {
        self.questions.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Sends an update.
    pub(super) async fn update(&self, update: Update) {
        let params = SessionNotification { session_id: self.id.to_string(), update };
        self.connection.notify("session/update", &params).await;
    }

    /// Sends what happened in the run.
    pub(super) async fn flush(&self) {
        self.send(&self.shown()).await;
    }

    /// Sends what was shown and not sent yet.
    pub(super) async fn send(&self, shown: &Shown) {
        let _sending = self.sending.lock().await;
        for update in shown.take() {
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
        if let Stage::Live { live, .. } = &*stage
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
        let (live, answer) = match next {
            Next::Asked(question) => {
                self.write(Chunk::text(question)).await;
                return Ok(Turn::ended(StopReason::EndTurn));
            }
            Next::Follow(live, answer) => (live, answer),
        };
        *stage = Stage::Live { live: Arc::clone(&live), asked: None };
        match self.follow(&live, answer, cancelled.clone()).await {
            Followed::Asked(question) => {
                self.write(Chunk::text(report::question(&question))).await;
                *stage = Stage::Live { live, asked: Some(question.id) };
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
        let of_another_process = match stage {
            Stage::Elsewhere(run) => Some(run.clone()),
            Stage::Stopped { run, .. } if !self.is_stopped(run.clone()).await => Some(run.clone()),
            _ => None,
        };
        if let Some(run) = of_another_process {
            // Without the run, the next prompt starts another one.
            *stage = Stage::Ready { failed: None };
            *stage = self.stage_of(run).await?;
        }
        if is_command && (named.is_some() || word == commands::RESUME) {
            if let Stage::Live { live, .. } = stage {
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
            Stage::Live { live, asked } => {
                let open = live.desk.open();
                let asked = open.iter().find(|question| Some(question.id) == *asked).or(open.first());
                // Without a question, it was answered or given up in the meantime.
                if let Some(question) = asked {
                    self.answer(live, question.id, &Value::text(text.trim())).await;
                }
                Ok(Next::Follow(Arc::clone(live), None))
            }
            Stage::Stopped { run, awaited } => {
                let answer = awaited.clone().map(|to| Answer { to, text: Value::text(text.trim()) });
                self.resume(run.clone(), answer).await
            }
            Stage::Elsewhere(run) => Err(invalid(report::executed_elsewhere(run))),
            Stage::Unavailable(reason) => Err(invalid(reason.clone())),
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
                    if let Err(refusal) = program.input_value(&name, &value) {
                        let question = commands::question(&program, &name);
                        *stage = Stage::Gathering { path, given, asked: Some(name) };
                        return Ok(Next::Asked(format!("{refusal}\n\n{question}")));
                    }
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
        let session = self.id.clone();
        let launch = move |folder: &Folder| {
            let runnable = Runnable::load(folder, &path).map_err(|unloaded| unloaded.to_string())?;
            let mut request = runnable.with_inputs(given)?.request(folder, Start::New);
            request.id = Some(session.clone());
            let observer = move |event: &Event, _: bool| sink.event(event);
            let note = move |run: &str, folder: &Path| runs_of_session::note(run, folder, &session);
            Ok(Launch {
                prepared: Some(Box::new(note)),
                observer: Some(Box::new(observer)),
                ..Launch::new(request, AnswerSource::Acp)
            })
        };
        let live = self.runs.launch(launch).await.map_err(failed)?;
        self.watch(&live);
        Ok(Next::Follow(live, None))
    }

    /// Resumes a run. The answer is that to a question which it asks again.
    async fn resume(self: &Arc<Self>, run: SmolStr, answer: Option<Answer>) -> Result<Next, Json> {
        let sink = self.shown();
        let launch = move |folder: &Folder| {
            let recorded = recorded(folder, &run)?;
            let request = recorded.runnable(folder)?.request(folder, recorded.resumes());
            let observer = move |event: &Event, _: bool| sink.event(event);
            Ok(Launch { observer: Some(Box::new(observer)), ..Launch::new(request, AnswerSource::Acp) })
        };
        let live = self.runs.launch(launch).await.map_err(failed)?;
        self.watch(&live);
        Ok(Next::Follow(live, answer))
    }

    /// Answers a question with the text of a prompt. One that is not offered is reported, and the question is asked again.
    async fn answer(&self, live: &LiveRun, question: QuestionId, text: &Value) {
        // With other errors, it was answered elsewhere meanwhile.
        if let Err(AnswerError::Invalid(error)) = live.answer(question, text) {
            self.write(Chunk::notice(format!("{error}\n\n"))).await;
        }
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
    async fn follow(
        self: &Arc<Self>,
        live: &Arc<LiveRun>,
        mut answer: Option<Answer>,
        mut cancelled: watch::Receiver<bool>,
    ) -> Followed {
        let mut changes = live.changes();
        let mut requests = Requests::new(Arc::clone(self), Arc::clone(live), cancelled.clone());
        let mut is_cancelled = false;
        loop {
            if live.end().is_some() {
                requests.settle().await;
                return Followed::Ended;
            }
            if !is_cancelled && *cancelled.borrow() {
                is_cancelled = true;
                live.stop();
            }
            let mut open = if is_cancelled { Vec::new() } else { live.desk.open() };
            if let Some(question) = answer.as_ref().and_then(|answer| open.iter().find(|it| answer.to.is(it)))
                && let Some(Answer { text, .. }) = answer.take()
            {
                self.answer(live, question.id, &text).await;
                open = live.desk.open();
            }
            if let Some(question) = requests.ask(open) {
                return Followed::Asked(Box::new(question));
            }
            tokio::select! {
                () = changes.next(false) => {}
                () = requests.next() => {}
                // The sender lives until the turn ends.
                _ = cancelled.changed(), if !is_cancelled => {}
            }
        }
    }

    /// Reports the end of a run.
    async fn ended(&self, live: &LiveRun, cancelled: &watch::Receiver<bool>) -> (Stage, Result<Turn, Json>) {
        let run = live.id.clone();
        let stopped = |awaited| Stage::Stopped { run: run.clone(), awaited };
        let end = match live.end() {
            Some(Ok(end)) => end,
            Some(Err(reason)) => return (stopped(None), Err(failed(format!("run {run}: {reason}")))),
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
            RunStatus::Failed => (Stage::Ready { failed: Some(run.clone()) }, Err(failed(reason))),
            RunStatus::Interrupted if *cancelled.borrow() => {
                (stopped(None), Ok(Turn { stop: StopReason::Cancelled, end: Some(end) }))
            }
            RunStatus::Interrupted | RunStatus::Waiting => {
                self.write(Chunk::notice(format!("{reason}\n\n{}", report::RESUMES))).await;
                let awaited = end.waiting.first().cloned().map(Awaited::question);
                (stopped(awaited), Ok(Turn { stop: StopReason::MaxTurnRequests, end: Some(end) }))
            }
        }
    }
}

/// What a prompt leads to.
enum Next {
    /// A question to the user.
    Asked(String),
    /// A run at work, and the answer to a question that it asks again.
    Follow(Arc<LiveRun>, Option<Answer>),
}

/// What ended a turn.
enum Followed {
    Asked(Box<OpenQuestion>),
    Ended,
}

fn unloaded(unloaded: Unloaded) -> Json {
    failed(unloaded.to_string())
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
