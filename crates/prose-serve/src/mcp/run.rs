//! `run`, `resume`, `status`, `answer`, `stop` and `read_value`: the runs of a project.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use prose_run::Start;
use prose_state::runs::{RunDetails, RunState};
use prose_state::{StateError, binding_file};
use prose_syntax::text::{beginning, counted, one_line};
use prose_view::{Census, View, duration, usage_text};
use prose_vm::event::{RunEnd, RunStatus};
use prose_vm::value::Value;
use rmcp::model::{CallToolResult, ProgressNotificationParam, ProgressToken};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Map, json};
use smol_str::SmolStr;
use tokio::time::Instant;

use super::reply::{MAX_TEXT, Reply};
use super::runnable_of;
use crate::folder::Folder;
use crate::questions::{Answer, QuestionKind};
use crate::runnable::Runnable;
use crate::runs::{self, Found, Launch, LiveRun, Runs, recorded};

/// The maximum length of an output in the state of a run, in bytes. `read_value` returns the rest.
const MAX_OUTPUT: usize = 4_000;

/// The number of runs in a list.
const MAX_RUNS: usize = 20;

/// The number of failures and missing results in the state of a run.
const MAX_FAILURES: usize = 20;

/// How often the progress of a run is reported to a client that waits for it.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);

/// What a call waits for in addition to the end of its run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wait {
    /// The longest time.
    pub(super) longest: Duration,
    /// Whether a question ends it.
    pub(super) ends_at_question: bool,
}

/// Checks that the user lets clients run the programs of the project.
fn check_allowed(runnable: &Runnable, folder: &Folder) -> Result<(), String> {
    if !runnable.loaded.rules.config().mcp.run {
        return Err("the project does not let clients run programs; ask the user to set `run = true` in the table `[mcp]` of its prose.toml, or to run the \
                    program with `prose run`"
            .to_owned());
    }
    let subject = runnable.subject(folder);
    folder.trust().check(&subject).map_err(|_| {
        let project = subject.folder.display();
        format!("the user does not trust the project {project}; ask the user to run `prose trust` in it")
    })
}

/// Starts a run.
pub(super) async fn start(
    runs: &Arc<Runs>,
    path: String,
    inputs: Map<String, serde_json::Value>,
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
        check_allowed(&runnable, folder)?;
        Ok(Launch::new(runnable.request(folder, Start::New)))
    };
    runs.launch(launch).await.map(Found::Live)
}

/// Resumes a run.
pub(super) async fn resume(
    runs: &Arc<Runs>,
    run: String,
    inputs: Map<String, serde_json::Value>,
) -> Result<Found, String> {
    if let Ok(Found::Live(live)) = runs.find(&run)
        && live.end().is_none()
    {
        return Err(format!("run {} has not ended; call `status`", live.id));
    }
    let launch = move |folder: &Folder| {
        let details = recorded(folder, &run)?;
        let id = details.summary.id.clone();
        let Some(head) = &details.head else {
            return Err(format!("run {id} has no journal; resume it with `prose resume {id}` in a terminal"));
        };
        if let Some(known) = inputs.keys().find(|name| head.inputs.iter().any(|(known, _)| known == *name)) {
            return Err(format!("input `{known}` of a resumed run cannot be changed; start a new run"));
        }
        let runnable = runnable_of(folder, &head.from, &inputs)
            .map_err(|reason| format!("run {id} cannot be resumed here: {reason}"))?;
        check_allowed(&runnable, folder)?;
        let given = runnable.inputs.clone();
        let request = runnable.request(folder, Start::Resume { run: id, accept_changes: false });
        Ok(Launch { given, ..Launch::new(request) })
    };
    runs.launch(launch).await.map(Found::Live)
}

/// Answers a question of a run.
pub(super) fn answer(
    runs: &Runs,
    run: &str,
    question: Option<u64>,
    value: &serde_json::Value,
) -> Result<Found, String> {
    let found = runs.find(run)?;
    match &found {
        Found::Live(live) => live.questions.answer(question, Answer::Input(Value::from_json(value)))?,
        Found::Recorded(details) => return Err(not_here(details, "answered")),
    }
    Ok(found)
}

/// Stops a run. It may continue for a moment.
pub(super) fn stop(runs: &Runs, run: &str) -> Result<Found, String> {
    let found = runs.find(run)?;
    match &found {
        Found::Live(live) => live.stop(),
        Found::Recorded(details) => return Err(not_here(details, "stopped")),
    }
    Ok(found)
}

/// Waits for a run, and returns how it stands. Progress is reported to a client that wants it.
pub(super) async fn state_after(
    found: Result<Found, String>,
    wait: Wait,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResult, ErrorData> {
    let live = match found {
        Ok(Found::Live(live)) => live,
        Ok(Found::Recorded(details)) => return Ok(recorded_state(&details).into()),
        Err(reason) => return Ok(Reply::error(reason).into()),
    };
    let token = context.meta.get_progress_token();
    let deadline = tokio::time::sleep_until(Instant::now() + wait.longest);
    tokio::pin!(deadline);
    let mut reported = Instant::now();
    let mut changes = live.changes();
    loop {
        let is_asked = wait.ends_at_question && !live.questions.open().is_empty();
        if live.end().is_some() || is_asked {
            break;
        }
        let is_due = token.is_some() && reported.elapsed() >= PROGRESS_INTERVAL;
        tokio::select! {
            () = &mut deadline => break,
            () = context.ct.cancelled() => break,
            () = changes.next(is_due) => {
                if let Some(token) = token.as_ref().filter(|_| is_due) {
                    notify_progress(&live, token, context).await;
                    reported = Instant::now();
                }
            }
            () = tokio::time::sleep_until(reported + PROGRESS_INTERVAL), if token.is_some() && !is_due => {}
        }
    }
    Ok(live_state(&live).into())
}

fn not_here(details: &RunDetails, what: &str) -> String {
    let (id, status) = (&details.summary.id, details.summary.status.name());
    format!("run {id} ({status}) was not started by this server and cannot be {what} here")
}

async fn notify_progress(live: &LiveRun, token: &ProgressToken, context: &RequestContext<RoleServer>) {
    let (progress, message) = {
        let view = live.view();
        let message = view.current().map_or_else(String::new, |current| beginning(current, 100));
        (f64::from(view.sessions_ended()), message)
    };
    let params = ProgressNotificationParam::new(token.clone(), progress).with_message(message);
    // A client that is gone is noticed by the transport.
    let _ = context.peer.notify_progress(params).await;
}

fn live_state(live: &LiveRun) -> Reply {
    let ended = live.end();
    let questions = live.questions.open();
    let view = live.view();
    let status = match &ended {
        None if questions.is_empty() => "running",
        None => "waiting",
        Some(Err(_)) => "interrupted",
        Some(Ok(end)) => RunState::of(end).name(),
    };
    let mut report = format!("run {}: {status}\n", live.id);
    report_progress(&view, &mut report);
    if ended.is_some() {
        report_census(&view.census(), &mut report);
    }
    for warning in live.warnings() {
        let _ = writeln!(report, "warning: {warning}");
    }
    for question in &questions {
        let (name, optional) = match &question.kind {
            QuestionKind::Input { name, is_optional } => (name.as_ref(), *is_optional),
            QuestionKind::Approval => (None, false),
        };
        let name = name.map_or(String::new(), |name| format!(" for `{name}`"));
        let optional = if optional { " (optional)" } else { "" };
        let _ = writeln!(report, "question {}{name}{optional}: {}", question.number, question.prompt);
    }
    let next = match (&ended, questions.is_empty()) {
        (None, true) => Some("call `status` to wait for it, or `stop`"),
        (None, false) => Some("ask the user, then call `answer`"),
        (Some(Ok(end)), _) if end.status == RunStatus::Completed => None,
        (Some(_), _) => Some("`resume` continues it; recorded results are reused"),
    };
    if let Some(next) = next {
        let _ = writeln!(report, "{next}");
    }
    let outputs = match &ended {
        Some(Ok(end)) => report_end(end, &live.id, &mut report),
        Some(Err(failure)) => {
            let _ = writeln!(report, "the run was ended by a failure: {failure}");
            json!({})
        }
        None => json!({}),
    };
    let questions = questions.iter().map(|question| {
        let name = match &question.kind {
            QuestionKind::Input { name, .. } => name.as_ref(),
            QuestionKind::Approval => None,
        };
        json!({ "question": question.number, "name": name, "prompt": question.prompt })
    });
    Reply::text(report).with_facts(json!({
        "run": live.id,
        "status": status,
        "sessions": view.sessions_ended(),
        "questions": questions.collect::<Vec<_>>(),
        "outputs": outputs,
        "error": match &ended {
            Some(Ok(end)) => end.error.as_ref().map(|error| error.to_string()),
            Some(Err(failure)) => Some(failure.clone()),
            None => None,
        },
        "line": match &ended {
            Some(Ok(end)) => end.error.as_ref().map(|error| error.line),
            _ => None,
        },
        "usage": view.root().and_then(|root| root.usage),
        "denied": denied(&view),
        "census": ended.is_some().then(|| view.census()),
        "next": next,
        "folder": live.project.run(&live.id).ok(),
    }))
}

/// The lines of sessions in which a tool call was denied.
fn denied(view: &View) -> Vec<u32> {
    view.denied().filter_map(|(_, node)| Some(node.site?.line)).collect()
}

fn recorded_state(details: &RunDetails) -> Reply {
    let RunDetails { summary, end, bindings, .. } = details;
    let mut report = format!("run {}: {}\n", summary.id, summary.status.name());
    if let Some(program) = &summary.program {
        let _ = writeln!(report, "program: {program}");
    }
    let view = view_of(&summary.folder).ok();
    let census = view.as_ref().map(View::census);
    if let Some(view) = &view {
        report_progress(view, &mut report);
    }
    if let Some(census) = &census {
        report_census(census, &mut report);
    }
    let outputs = end.as_ref().map_or_else(|| json!({}), |end| report_end(end, &summary.id, &mut report));
    if !bindings.is_empty() {
        let names: Vec<&str> = bindings.iter().map(|binding| binding.name.as_str()).collect();
        let _ = writeln!(report, "bindings: {}", names.join(", "));
    }
    if summary.status.can_be_resumed() {
        report.push_str("the run can be resumed: call `resume`\n");
    }
    Reply::text(report).with_facts(json!({
        "run": summary.id,
        "status": summary.status.name(),
        "program": summary.program,
        "sessions": summary.sessions,
        "usage": summary.usage,
        "outputs": outputs,
        "error": summary.error,
        "denied": view.as_ref().map(denied),
        "census": census,
        "bindings": bindings.iter().map(|binding| &binding.name).collect::<Vec<_>>(),
        "canResume": summary.status.can_be_resumed(),
        "folder": summary.folder,
    }))
}

fn view_of(folder: &Path) -> Result<View, StateError> {
    let mut view = View::default();
    runs::events(folder)?.for_each(|event| view.apply(&event));
    Ok(view)
}

fn report_progress(view: &View, report: &mut String) {
    let sessions = counted(view.sessions_ended() as usize, "session");
    let usage = view.root().and_then(|root| root.usage);
    let usage = usage.map_or(String::new(), |usage| format!(", {}", usage_text(usage)));
    let _ = writeln!(report, "{sessions} ended{usage}, {}", duration(view.now()));
    for line in denied(view) {
        let _ = writeln!(report, "warning: a tool call was denied in the session at line {line}");
    }
}

/// Reports what became of the sessions of a run, and which failures its program handled.
fn report_census(census: &Census, report: &mut String) {
    let summary = Some(census.summary()).filter(|summary| !summary.is_empty());
    for line in summary.into_iter().chain(census.details(MAX_FAILURES)) {
        let _ = writeln!(report, "{}", one_line(&line));
    }
}

/// Reports the outputs and the error of a run, and returns the outputs.
fn report_end(end: &RunEnd, run: &str, report: &mut String) -> serde_json::Value {
    let mut outputs = Map::new();
    let unnamed = Some((SmolStr::new_static("result"), end.value.clone()));
    let unnamed = unnamed.filter(|(_, value)| !matches!(value, Value::Null));
    for (name, value) in end.outputs.iter().cloned().chain(unnamed) {
        let text = value.to_string();
        let shown = &text[..text.floor_char_boundary(MAX_OUTPUT)];
        let _ = writeln!(report, "\n{name}:\n{shown}");
        if shown.len() < text.len() {
            let _ = writeln!(
                report,
                "… ({} bytes; call `read_value` with run {run}, name {name} and offset {})",
                text.len(),
                shown.len()
            );
        }
        outputs.insert(name.to_string(), shown.into());
    }
    if let Some(error) = &end.error {
        let place = if error.line > 0 { format!(" at line {}", error.line) } else { String::new() };
        let what = if end.status == RunStatus::Failed { "failed" } else { "was stopped" };
        let _ = writeln!(report, "\nthe program {what}{place}: {error}");
    }
    outputs.into()
}

/// Lists the latest runs.
pub(super) fn list(folder: &Folder) -> Reply {
    let runs = match runs::list(folder) {
        Ok(runs) => runs,
        Err(reason) => return Reply::error(reason),
    };
    let mut report = match runs.len() {
        0 => "there are no runs\n".to_owned(),
        count if count > MAX_RUNS => format!("the latest {MAX_RUNS} of {count} runs:\n"),
        count => format!("{}:\n", counted(count, "run")),
    };
    for run in runs.iter().take(MAX_RUNS) {
        let program = run.program.as_deref().unwrap_or("?");
        let error = run.error.as_deref().map_or(String::new(), |error| format!(": {}", one_line(error)));
        let _ = writeln!(report, "{}  {}  {}{error}", run.id, run.status.name(), one_line(program));
    }
    Reply::text(report)
}

/// Reads an output or a binding of a run.
pub(super) fn read_value(folder: &Folder, run: &str, name: &str, offset: usize) -> Reply {
    let details = match recorded(folder, run) {
        Ok(details) => details,
        Err(reason) => return Reply::error(reason),
    };
    let output = details.end.as_ref().and_then(|end| {
        let named = end.outputs.iter().find(|(output, _)| output == name).map(|(_, value)| value);
        named.or(Some(&end.value).filter(|value| name == "result" && !matches!(value, Value::Null)))
    });
    let text = match output {
        Some(value) => value.to_string(),
        None => {
            let Some(binding) = details.bindings.iter().find(|binding| binding.name == name) else {
                let names: Vec<&str> = details.bindings.iter().map(|binding| binding.name.as_str()).collect();
                return Reply::error(format!(
                    "run {} has no value `{name}`; its bindings are: {}",
                    details.summary.id,
                    names.join(", ")
                ));
            };
            match prose_files::read(&binding.path, prose_files::Limit::STATE) {
                Ok(bytes) => binding_file::read_bytes(&bytes),
                Err(error) => return Reply::error(format!("`{name}` {error}")),
            }
        }
    };
    let from = text.floor_char_boundary(offset);
    let to = text.floor_char_boundary(from.saturating_add(MAX_TEXT - 200));
    let rest = match text.len() - to {
        0 => String::new(),
        rest => format!("\n… ({rest} more bytes from offset {to})"),
    };
    Reply::text(format!("{}{rest}", &text[from..to]))
}
