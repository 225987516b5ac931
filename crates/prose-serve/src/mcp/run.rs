//! `run`, `resume`, `answer` and `stop`: what an agent does with the runs of a project, also with those that other processes execute.
//!
//! An agent answers inputs only. Permissions and limits are under the settings of the project and not under those of the agent: a person answers them, from
//! any process.

use std::sync::Arc;
use std::time::Duration;

use prose_config::Config;
use prose_run::control::{Client, ControlError, START_TIME};
use prose_run::questions::{resolve_value, user};
use prose_run::{Start, TrustSubject};
use prose_syntax::text::{beginning, one_line};
use prose_vm::command::{Command, CommandError};
use prose_vm::questions::AnswerSource;
use prose_vm::runner;
use rmcp::model::{CallToolResult, ProgressNotificationParam, ProgressToken};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Map, Value};
use smol_str::SmolStr;
use tokio::time::Instant;

use super::questions::asked_input;
use super::reply::Reply;
use super::state;
use super::{runnable_of, value_of};
use crate::elsewhere::Elsewhere;
use crate::folder::Folder;
use crate::runnable::Runnable;
use crate::runs::{Found, Launch, LiveRun, Recorded, Runs, recorded};

/// How often the progress of a run is reported to a client that waits for it.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);

/// How often the process of another run is asked for its questions while a client waits for them.
const ASKING_INTERVAL: Duration = Duration::from_millis(250);

/// How long a run of another process may take to release its files after it was stopped.
const RELEASE_TIME: Duration = Duration::from_secs(10);

/// What a call waits for in addition to the end of its run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wait {
    /// The longest time.
    pub(super) longest: Duration,
    /// Whether a question ends it.
    pub(super) ends_at_question: bool,
}

/// Checks that the user lets clients run the programs of a project.
fn check_allowed(folder: &Folder, config: &Config, subject: &TrustSubject) -> Result<(), String> {
    if !config.mcp.run {
        return Err("the project does not let clients run programs; ask the user to set `run = true` in the table `[mcp]` of its prose.toml, or to run the \
                    program with `prose run`"
            .to_owned());
    }
    folder.trust().check(subject).map_err(|_| {
        let project = subject.folder.display();
        format!("the user does not trust the project {project}; ask the user to run `prose trust` in it")
    })
}

fn check_program(runnable: &Runnable, folder: &Folder) -> Result<(), String> {
    check_allowed(folder, runnable.loaded.rules.config(), &runnable.subject(folder))
}

/// Checks the same for a run that this server has not started.
fn check_run(recorded: &Recorded, folder: &Folder) -> Result<(), String> {
    let root = &recorded.project.root;
    let rules = Folder::rules_in(root);
    check_allowed(folder, rules.config(), &TrustSubject::new(root, rules.config()))
}

/// Starts a run.
pub(super) async fn start(
    runs: &Arc<Runs>,
    path: String,
    inputs: Map<String, Value>,
) -> Result<Found, String> {
    let launch = move |folder: &Folder| {
        let runnable = runnable_of(folder, &path, &inputs)?;
        let missing = runnable.program.missing_at_start(|key| inputs.contains_key(key.as_str()));
        if let [first, ..] = missing.as_slice() {
            let names = missing.join("`, `");
            return Err(format!(
                "the program needs the inputs `{names}`; pass them as `inputs`: {{ \"{first}\": … }}"
            ));
        }
        check_program(&runnable, folder)?;
        Ok(Launch::new(runnable.request(folder, Start::New), AnswerSource::Mcp))
    };
    runs.launch(launch).await.map(Found::Live)
}

/// Resumes a run.
pub(super) async fn resume(
    runs: &Arc<Runs>,
    run: String,
    inputs: Map<String, Value>,
) -> Result<Found, String> {
    let of_runs = Arc::clone(runs);
    let launch = move |folder: &Folder| {
        let recorded = recorded(folder, &run)?;
        let id = recorded.id().clone();
        if of_runs.live_run(&id).is_some_and(|live| live.end().is_none()) {
            return Err(format!("run {id} has not ended; call `status`"));
        }
        let known = recorded.details.head.as_ref().map_or(&[][..], |head| &head.inputs);
        if let Some(known) = inputs.keys().find(|name| known.iter().any(|(known, _)| known == *name)) {
            return Err(format!("input `{known}` of a resumed run cannot be changed; start a new run"));
        }
        let runnable = super::with_inputs(recorded.runnable(folder)?, &inputs)?;
        check_program(&runnable, folder)?;
        let given = runnable.inputs.clone();
        let request = runnable.request(folder, recorded.resumes());
        Ok(Launch { given, ..Launch::new(request, AnswerSource::Mcp) })
    };
    runs.launch(launch).await.map(Found::Live)
}

/// Answers a question of a run: in its process, or in its files, after which it is resumed here.
pub(super) async fn answer(
    runs: &Arc<Runs>,
    run: String,
    question: Option<u64>,
    value: &Value,
) -> Result<Found, String> {
    let value = value_of(value)?;
    let recorded = match runs.blocking(move |runs| runs.find(&run)).await? {
        Found::Live(live) => {
            let asked = asked_input(&live.id, &live.desk.open(), question)?.id;
            live.answer(asked, &value).map_err(|error| error.to_string())?;
            return Ok(Found::Live(live));
        }
        Found::Recorded(recorded) => recorded,
    };
    let passing = {
        let value = value.clone();
        move |runs: &Runs| pass_answer(runs, recorded, question, &value)
    };
    let recorded = match runs.blocking(passing).await? {
        Passed::Taken(recorded) => return Ok(Found::Recorded(recorded)),
        Passed::NotExecuted(recorded) => recorded,
    };
    let launch = move |folder: &Folder| {
        let id = recorded.id();
        if recorded.waiting().is_empty() && recorded.details.summary.status.can_be_resumed() {
            return Err(format!("run {id} is not being executed; `resume` continues it, with `inputs`"));
        }
        let asked = asked_input(id, recorded.waiting(), question)?;
        let value = resolve_value(asked, &value).map_err(|error| error.to_string())?;
        let runnable = recorded.runnable(folder)?;
        check_program(&runnable, folder)?;
        let answered =
            recorded.project.record_answer(id, asked.id, value, user(AnswerSource::Mcp), runner::now());
        answered.map_err(|error| error.to_string())?;
        Ok(Launch::new(runnable.request(folder, recorded.resumes()), AnswerSource::Mcp))
    };
    runs.launch(launch).await.map(Found::Live)
}

/// Where the answer to a question of a run is to be recorded.
enum Passed {
    /// The process of the run has taken it.
    Taken(Box<Recorded>),
    /// No process executes the run, or it has just stopped.
    NotExecuted(Box<Recorded>),
}

/// Passes an answer to the process that executes a run, if one does.
fn pass_answer(
    runs: &Runs,
    recorded: Box<Recorded>,
    question: Option<u64>,
    value: &prose_vm::value::Value,
) -> Result<Passed, String> {
    if !recorded.details.summary.status.is_executed() {
        return Ok(Passed::NotExecuted(recorded));
    }
    check_run(&recorded, runs.folder())?;
    let id = recorded.id().clone();
    let mut client = connect(&recorded)?;
    let answered = match client.questions() {
        Ok(open) => {
            let asked = asked_input(&id, &open, question)?.id;
            client.answer(Some(asked), &value.to_string(), &user(AnswerSource::Mcp))
        }
        Err(error) => Err(error),
    };
    match answered {
        Ok(()) => Ok(Passed::Taken(recorded)),
        // A run that stops takes no answer. Its files do as soon as it has.
        Err(ControlError::Rejected(CommandError::Ended)) if client.wait_for_end(RELEASE_TIME) => {
            recorded.again().map(|recorded| Passed::NotExecuted(Box::new(recorded)))
        }
        Err(error) => Err(words(&id)(error)),
    }
}

/// Stops a run. It may continue for a moment.
pub(super) async fn stop(runs: &Arc<Runs>, run: String) -> Result<Found, String> {
    runs.blocking(move |runs| {
        let found = runs.find(&run)?;
        match &found {
            Found::Live(live) => live.stop(),
            Found::Recorded(recorded) => {
                let (id, status) = (recorded.id(), recorded.details.summary.status);
                if !status.is_executed() {
                    return Err(format!("run {id} ({}) is not being executed", status.name()));
                }
                check_run(recorded, runs.folder())?;
                let mut client = connect(recorded)?;
                client.command(Command::Stop, &user(AnswerSource::Mcp)).map_err(words(id))?;
                client.wait_for_end(RELEASE_TIME);
                return runs.find(id);
            }
        }
        Ok(found)
    })
    .await
}

/// Connects to the process that executes a run.
fn connect(recorded: &Recorded) -> Result<Client, String> {
    Client::connect_within(&recorded.details.summary.folder, START_TIME).map_err(words(recorded.id()))
}

fn words(run: &SmolStr) -> impl Fn(ControlError) -> String {
    move |error| format!("run {run}: {error}")
}

/// Waits for a run, and returns how it stands. Progress is reported to a client that wants it.
pub(super) async fn state_after(
    runs: &Arc<Runs>,
    found: Result<Found, String>,
    wait: Wait,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResult, ErrorData> {
    let progress = Progress { token: context.meta.get_progress_token(), context };
    let deadline = Instant::now() + wait.longest;
    let reply = match found {
        Ok(Found::Live(live)) => live_state(&live, wait, deadline, &progress).await,
        Ok(Found::Recorded(recorded)) => recorded_state(runs, *recorded, wait, deadline, &progress).await,
        Err(reason) => Reply::error(reason),
    };
    Ok(reply.into())
}

async fn live_state(live: &LiveRun, wait: Wait, deadline: Instant, progress: &Progress<'_>) -> Reply {
    let mut reported = Instant::now();
    let mut changes = live.changes();
    let wants = progress.token.is_some();
    loop {
        let is_asked = wait.ends_at_question && !live.desk.open().is_empty();
        if live.end().is_some() || is_asked {
            break;
        }
        let is_due = wants && reported.elapsed() >= PROGRESS_INTERVAL;
        tokio::select! {
            () = tokio::time::sleep_until(deadline) => break,
            () = progress.context.ct.cancelled() => break,
            () = changes.next(is_due) => {
                if is_due {
                    let (sessions, current) = {
                        let view = live.view();
                        (view.sessions_ended(), view.current().cloned())
                    };
                    progress.report(sessions, &current.unwrap_or_default()).await;
                    reported = Instant::now();
                }
            }
            () = tokio::time::sleep_until(reported + PROGRESS_INTERVAL), if wants && !is_due => {}
        }
    }
    state::of_live(live)
}

/// How a run stands that this server does not execute. Its process is asked while it has one.
async fn recorded_state(
    runs: &Arc<Runs>,
    mut recorded: Recorded,
    wait: Wait,
    deadline: Instant,
    progress: &Progress<'_>,
) -> Reply {
    let mut reported = Instant::now();
    loop {
        let looking = runs.blocking(move |_| {
            let found = Elsewhere::look(recorded);
            // It may have ended meanwhile.
            if found.problem.is_some() { Ok(Elsewhere::look(found.recorded.again()?)) } else { Ok(found) }
        });
        let found = match looking.await {
            Ok(found) => found,
            Err(reason) => return Reply::error(reason),
        };
        let is_asked = wait.ends_at_question && !found.open.is_empty();
        let is_over = Instant::now() >= deadline || progress.context.ct.is_cancelled();
        if !found.is_executed || is_asked || is_over {
            let described = runs.blocking(move |_| Ok(state::of_recorded(&found))).await;
            return described.unwrap_or_else(Reply::error);
        }
        if progress.token.is_some() && reported.elapsed() >= PROGRESS_INTERVAL {
            progress.report(found.sessions, "").await;
            reported = Instant::now();
        }
        tokio::select! {
            () = tokio::time::sleep_until(deadline.min(Instant::now() + ASKING_INTERVAL)) => {}
            () = progress.context.ct.cancelled() => {}
        }
        let again = runs.blocking(move |_| found.recorded.again()).await;
        recorded = match again {
            Ok(again) => again,
            Err(reason) => return Reply::error(reason),
        };
    }
}

/// Reports to a client that waits.
struct Progress<'a> {
    token: Option<ProgressToken>,
    context: &'a RequestContext<RoleServer>,
}

impl Progress<'_> {
    async fn report(&self, sessions: u32, current: &str) {
        let Some(token) = &self.token else { return };
        let message = beginning(&one_line(current), 100);
        let params = ProgressNotificationParam::new(token.clone(), f64::from(sessions)).with_message(message);
        // A client that is gone is noticed by the transport.
        let _ = self.context.peer.notify_progress(params).await;
    }
}
