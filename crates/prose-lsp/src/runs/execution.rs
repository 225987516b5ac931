//! The execution of a run, on its thread.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::mpsc::channel;

use prose_run::{
    DryRun, FinishedRun, PreparedRun, Questions, RunFailure, RunHooks, RunRequest, Start, flag_that_raises,
};
use prose_syntax::text::counted;
use prose_vm::event::{Event, EventKind, RunStatus};
use prose_vm::place::NamedLine;
use prose_vm::value::Value as ProgramValue;
use serde_json::{Value, json};
use smol_str::SmolStr;
use tokio::sync::mpsc::UnboundedReceiver;

use crate::protocol::answer::{Answer, refuse, send};
use crate::protocol::json::json as text;
use crate::protocol::lsp::MessageType;
use crate::protocol::notification::Notification;
use crate::protocol::session::Session;
use crate::protocol::uri::{DocumentUri, uri_of_path};
use crate::runs::fork::{Decision, ForkOrder};
use crate::runs::questions::EditorUser;
use crate::runs::registry::{Runs, Stop, Ticket};
use crate::runs::reporter::Reporter;

/// A run to start.
pub(crate) struct Launch {
    pub(crate) request: RunRequest,
    /// The fork to plan before it starts.
    pub(crate) fork: Option<ForkOrder>,
    /// The name of the program in the editor.
    pub(crate) uri: DocumentUri,
    /// Its text.
    pub(crate) text: Arc<str>,
    /// The line of the document, counted from 0, that is its first one.
    pub(crate) first_line: usize,
    /// The inputs that came with the command.
    pub(crate) given: Vec<(SmolStr, ProgramValue)>,
    pub(crate) session: Arc<Session>,
    pub(crate) answer: Answer,
}

/// Prepares a run, answers the command, and runs the program to its end.
pub(super) fn execute(
    runs: &Arc<Runs>,
    ticket: Ticket,
    launch: Launch,
    mut stopped: UnboundedReceiver<Stop>,
) {
    let Launch { mut request, fork, uri, first_line, given, session, answer, .. } = launch;
    let is_dry = request.start == Start::Dry;
    let name = request.program.name.clone();
    // A client that has its answer must not find a run to stop.
    let forget = || drop(runs.runs.remove(&ticket));
    if let Some(fork) = fork {
        match fork.decide(&mut request, first_line, &runs.client_requests, &mut stopped) {
            Ok(Decision::Start) => {}
            Ok(Decision::Result(result)) => {
                forget();
                return send(answer, Ok(text(&result)));
            }
            Err(refusal) => {
                forget();
                return refuse(answer, refusal);
            }
        }
    }
    request.take_last_values();
    let prepared = match prose_run::prepare(request) {
        Ok(prepared) => prepared,
        Err(failure) => {
            forget();
            return refuse(answer, failure.for_editor());
        }
    };
    if is_dry {
        let prompts = dry_run(prepared, first_line, given, stopped);
        forget();
        return send(
            answer,
            prompts.map(|prompts| text(&prompts)).map_err(crate::protocol::request::Failure::Refused),
        );
    }
    let id: SmolStr = prepared.run().into();
    if let Some(mut run) = runs.runs.get_mut(&ticket) {
        run.folder.clone_from(&prepared.folder);
    }
    runs.has_files(ticket, &uri, &id);
    let folder = prepared.folder.as_deref().and_then(uri_of_path);
    let limits = prepared.limits();
    let started =
        json!({ "run": id, "folder": folder.as_deref(), "harness": prepared.harness(), "limits": limits });
    send(answer, Ok(text(&started)));
    for note in &prepared.notes {
        show_message(runs, MessageType::WARNING, format!("{name}: {note}"));
    }
    let reporter =
        Reporter { runs, ticket, id: id.clone(), uri, session: &session, limits, is_elsewhere: false };
    let notifier = prepared.notifier();
    let (told, title) = (Arc::downgrade(runs), name.clone());
    prepared.tell(move |sentence| {
        if let Some(runs) = told.upgrade() {
            show_message(&runs, MessageType::WARNING, format!("{title}: {sentence}"));
        }
    });
    reporter.begin(&format!("Running {name}"));
    let is_made_up = prepared.harness() == "offline";
    let client = runs.client_requests.clone();
    let user =
        EditorUser { client, asks_inputs: session.asks_inputs, run: id.clone(), program: name.clone() };
    let (finished, why) = watched(prepared, &Questions::new(given), user, stopped, &reporter);
    let (kind, message) =
        summary(&name, first_line, &finished, why.as_ref(), is_made_up, session.asks_inputs);
    if let Some(mut run) = runs.runs.get_mut(&ticket) {
        run.is_over = true;
        // A run that could not be recorded any more has no last event.
        run.view.interrupt();
    }
    reporter.end(&message);
    match kind {
        Some(kind) if session.reports_ends => {
            let can_resume = finished.as_ref().is_ok_and(|finished| {
                let status = finished.end.status;
                status != RunStatus::Completed && finished.unrecorded.is_none()
            });
            let ended = json!({
                "run": id, "uri": &*reporter.uri, "folder": folder.as_deref(), "type": kind, "message": message, "canResume": can_resume,
                "raise": can_raise(&finished),
            });
            runs.send_to_client(vec![Notification::new("prose/runEnded", &ended)]);
        }
        Some(kind) => show_message(runs, kind, message),
        None => {}
    }
    for problem in notifier.settle() {
        show_message(runs, MessageType::WARNING, format!("{name}: {problem}"));
    }
}

/// Runs a program and reports it to the client. Returns also the reason why it was stopped, if it was.
fn watched(
    prepared: PreparedRun,
    questions: &Questions,
    user: EditorUser,
    mut stopped: UnboundedReceiver<Stop>,
    reporter: &Reporter<'_>,
) -> (Result<FinishedRun, RunFailure>, Option<Stop>) {
    let why = Cell::new(None);
    let interrupted = async {
        match stopped.recv().await {
            Some(stop) => {
                why.set(Some(stop.clone()));
                stop.reason()
            }
            None => std::future::pending().await,
        }
    };
    let (events, reported) = channel();
    let finished = std::thread::scope(|scope| {
        // Where there is no thread for it, the program runs all the same.
        let reporting = std::thread::Builder::new().name("run-reporter".to_owned());
        let reporting = reporting.spawn_scoped(scope, move || reporter.report(&reported));
        if let Err(error) = &reporting {
            tracing::error!("cannot start the thread that reports a run: {error}");
        }
        // Without a thread that asks, the run waits.
        let asking = std::thread::Builder::new().name("run-questions".to_owned());
        let attendance = questions.attend();
        if let Err(error) = asking.spawn_scoped(scope, move || user.ask_all(questions, attendance)) {
            tracing::error!("cannot start the thread that asks the questions of a run: {error}");
        }
        let mut last = None;
        let mut observer = |event: &Event, _: bool| match event.kind {
            // The client asks for lenses when it gets this event, and until its files are released, the run counts as running.
            EventKind::RunEnded(_) => last = Some(event.clone()),
            // The receiver lives as long as the program runs.
            _ => drop(events.send(event.clone())),
        };
        let finished = prepared.execute(RunHooks {
            questions: questions.clone(),
            observer: &mut observer,
            interrupted: Box::pin(interrupted),
            narration: None,
        });
        if let Some(event) = last {
            let _ = events.send(event);
        }
        drop(events);
        finished
    });
    (finished, why.take())
}

/// The prompts of all sessions, conditions and choices. Lines are those of the document whose `first_line` is that of the program.
fn dry_run(
    prepared: PreparedRun,
    first_line: usize,
    given: Vec<(SmolStr, ProgramValue)>,
    mut stopped: UnboundedReceiver<Stop>,
) -> Result<Value, String> {
    let mut prompts = Vec::new();
    let mut report = |line: Option<NamedLine>, reported: DryRun<'_>| {
        let line = line.map(|line| line.in_document(first_line as u32));
        if let DryRun::Prompt(prompt) = reported {
            prompts.push(json!({
                "kind": prompt.kind(),
                "line": line.as_ref().map(|line| line.line),
                "program": line.as_ref().and_then(|line| line.program.as_ref()),
                "agent": prompt.agent(),
                "model": prompt.model(),
                "prompt": prompt.prompt(),
                "system": prompt.system(),
            }));
        }
    };
    let interrupted = async {
        match stopped.recv().await {
            Some(stop) => stop.reason(),
            None => std::future::pending().await,
        }
    };
    let end = prepared.rehearse(given, Box::pin(interrupted), &mut report);
    let failed = end
        .map_err(|failure| failure.for_editor())?
        .error
        .map(|error| json!({ "line": first_line + error.line as usize, "message": error.to_string() }));
    Ok(json!({ "prompts": prompts, "failed": failed }))
}

/// The message at the end of a run, and its severity; none for what the user did.
fn summary(
    name: &str,
    first_line: usize,
    finished: &Result<FinishedRun, RunFailure>,
    why: Option<&Stop>,
    is_made_up: bool,
    asks_inputs: bool,
) -> (Option<MessageType>, String) {
    let finished = match finished {
        Ok(finished) => finished,
        Err(failure) => {
            return (Some(MessageType::ERROR), format!("{name} had to stop: {}", failure.for_editor()));
        }
    };
    let end = &finished.end;
    let reused = match finished.reused {
        0 => String::new(),
        count => format!(", {} of the earlier execution used again", counted(count as usize, "result")),
    };
    if let Some(error) = &finished.unrecorded {
        let message = format!("{name} ended, but its end cannot be recorded: {error}");
        return (Some(MessageType::ERROR), message);
    }
    let sessions = counted(end.sessions as usize, "session");
    let reason = end.error.as_ref().map_or_else(String::new, |error| error.to_string());
    match end.status {
        RunStatus::Completed if end.failures > 0 => {
            let failures = counted(end.failures as usize, "failure");
            let message = format!("{name} is done with {failures} that it handled: {sessions}{reused}");
            (Some(MessageType::WARNING), message)
        }
        RunStatus::Completed => {
            let made_up = if is_made_up {
                ". All answers are placeholders of the harness `offline`; `run.harness` chooses another one"
            } else {
                ""
            };
            (Some(MessageType::INFO), format!("{name} is done: {sessions}{reused}{made_up}"))
        }
        RunStatus::Failed => {
            let line = end.error.as_ref().map(|error| error.line).filter(|line| *line > 0);
            let place =
                line.map_or_else(String::new, |line| format!(" at line {}", first_line + line as usize));
            (Some(MessageType::ERROR), format!("{name} failed{place}: {reason}"))
        }
        RunStatus::Interrupted => {
            let kind = match why {
                Some(Stop::User | Stop::Shutdown) => None,
                None => Some(MessageType::WARNING),
            };
            (kind, format!("{name} was stopped: {reason}"))
        }
        RunStatus::Waiting => {
            let message = match end.waiting.as_slice() {
                [question] => format!("{name} waits for an answer: {}", question.summary()),
                questions => format!("{name} waits for {} answers", questions.len()),
            };
            let key = end.waiting.iter().find_map(|question| question.key.as_ref());
            let how = match key.filter(|_| !asks_inputs) {
                Some(key) => format!(
                    "Resume the run with it: `prose.resume` with {{ \"inputs\": {{ \"{key}\": … }} }}"
                ),
                None => "Resume the run to answer".to_owned(),
            };
            (Some(MessageType::WARNING), format!("{message} – {how}"))
        }
    }
}

/// The key of `prose.resume` that lets a run continue which has stopped at a limit; `None` if only a setting does.
fn can_raise(finished: &Result<FinishedRun, RunFailure>) -> Option<&'static str> {
    let end = &finished.as_ref().ok()?.end;
    let error = end.error.as_ref().filter(|_| end.status == RunStatus::Interrupted)?;
    match flag_that_raises(&error.message)? {
        "max-cost" => Some("maxCost"),
        "max-tokens" => Some("maxTokens"),
        _ => Some("maxSessions"),
    }
}

fn show_message(runs: &Runs, kind: MessageType, message: String) {
    let params = json!({ "type": kind, "message": message });
    runs.send_to_client(vec![Notification::new("window/showMessage", &params)]);
}
