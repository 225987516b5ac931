//! `prose runs pause`, `continue`, `stop`, `skip`, `retry` and `set-limit`: commands to a run that another process executes.

use std::io::Write;
use std::time::Duration;

use prose_run::Project;
use prose_run::control::{Client, ControlError};
use prose_state::runs::RunState;
use prose_vm::activity::AnswerSource;
use prose_vm::budget::Maximum;
use prose_vm::command::{Command, SessionReport};
use prose_vm::effect::RequestId;
use prose_vm::place::NamedLine;
use prose_vm::questions::Attribution;

use crate::cli::run::LimitArgs;
use crate::cli::runs::RunsCommand;
use crate::command_error::CommandError;
use crate::run::waiting;
use crate::runs::details::details;
use crate::terminal::{Terminal, one_line};

/// How long `prose runs stop` waits for the process to release the run.
const RELEASE_TIME: Duration = Duration::from_secs(10);

/// The person at this command line.
pub(super) fn person() -> Attribution {
    prose_run::questions::user(AnswerSource::CommandLine)
}

/// Connects to the run whose id contains a text, or to the last run.
pub(super) fn connect(project: &Project, part: Option<&str>) -> Result<Client, CommandError> {
    connect_for(project, part, "")
}

/// The same for a command that `prose resume` has flags for.
fn connect_for(project: &Project, part: Option<&str>, flags: &str) -> Result<Client, CommandError> {
    let details = details(project, part).map_err(CommandError::Message)?;
    let run = &details.summary;
    Client::connect(&run.folder).map_err(|error| match error {
        ControlError::NotRunning => {
            CommandError::Message(match (run.status, waiting::command(&run.id, &run.waiting)) {
                (RunState::Completed, _) => format!("run {} has completed", run.id),
                (_, Some(command)) => {
                    format!("run {} waits without a process; answer it with `{command}`", run.id)
                }
                _ if run.status.can_be_resumed() => format!(
                    "run {} is not being executed ({}); resume it with `prose resume {}{flags}`",
                    run.id,
                    run.status.name(),
                    run.id
                ),
                (status, None) => format!("run {} is not being executed ({})", run.id, status.name()),
            })
        }
        error => CommandError::Message(format!("run {}: {error}", run.id)),
    })
}

/// Gives a run a command.
pub(super) fn command(
    project: &Project,
    command: &RunsCommand,
    terminal: &Terminal,
) -> Result<(), CommandError> {
    let mut out = terminal.stdout();
    let person = person();
    match command {
        RunsCommand::Pause { run } => {
            let mut client = connect(project, Some(run))?;
            let id = send(&mut client, Command::Pause, &person)?;
            writeln!(
                out,
                "paused {id}; running sessions complete; continue it with `prose runs continue {id}`"
            )?;
        }
        RunsCommand::Continue { run } => {
            let mut client = connect(project, Some(run))?;
            let id = send(&mut client, Command::Continue, &person)?;
            writeln!(out, "continued {id}")?;
        }
        RunsCommand::Stop { run } => {
            let mut client = connect(project, Some(run))?;
            let id = send(&mut client, Command::Stop, &person)?;
            let is_released = client.wait_for_end(RELEASE_TIME);
            let agents = if is_released { "" } else { "; its agents are still ending" };
            writeln!(out, "stopped {id}{agents}; resume it with `prose resume {id}`")?;
        }
        RunsCommand::Skip { run, session } => {
            let mut client = connect(project, Some(run))?;
            let session = find(&mut client, session.as_deref(), |_| true)?;
            let id = send(&mut client, Command::Skip { request: session.request }, &person)?;
            writeln!(out, "skipped {} of {id}; its result is empty", described(&session))?;
        }
        RunsCommand::Retry { run, session } => {
            let mut client = connect(project, Some(run))?;
            let session = find(&mut client, session.as_deref(), |session| session.is_at_work)?;
            let id = send(&mut client, Command::Retry { request: session.request }, &person)?;
            writeln!(out, "{} of {id} starts again", described(&session))?;
        }
        RunsCommand::SetLimit { run, limits } => {
            let mut client = connect_for(project, Some(run), &flags(limits))?;
            for limit in maxima(limits) {
                let id = send(&mut client, Command::SetLimit { limit }, &person)?;
                writeln!(out, "the limit of {id} is {limit}")?;
            }
        }
        // Those that need no process.
        _ => {}
    }
    Ok(())
}

/// The flags that resume a run with limits.
fn flags(limits: &LimitArgs) -> String {
    let flags = maxima(limits).map(|limit| match limit {
        Maximum::Cost(cost) => format!(" --{} {cost}", limit.key()),
        Maximum::Tokens(tokens) => format!(" --{} {tokens}", limit.key()),
        Maximum::Sessions(sessions) => format!(" --{} {sessions}", limit.key()),
    });
    flags.collect()
}

fn send(client: &mut Client, command: Command, by: &Attribution) -> Result<String, CommandError> {
    let run = client.run().to_owned();
    let sent = client.command(command, by);
    sent.map_err(|error| CommandError::Message(format!("run {run}: {error}")))?;
    Ok(run)
}

fn maxima(limits: &LimitArgs) -> impl Iterator<Item = Maximum> {
    let cost = limits.max_cost.map(Maximum::Cost);
    let tokens = limits.max_tokens.map(Maximum::Tokens);
    cost.into_iter().chain(tokens).chain(limits.max_sessions.map(Maximum::Sessions))
}

/// The session that a text names: by its number, its agent or the name of its result. Without a text, the only one.
fn find(
    client: &mut Client,
    text: Option<&str>,
    can: impl Fn(&SessionReport) -> bool,
) -> Result<SessionReport, CommandError> {
    let run = client.run().to_owned();
    let status = client.status().map_err(|error| CommandError::Message(format!("run {run}: {error}")))?;
    let number = text.and_then(|text| text.parse().ok()).map(RequestId);
    let is_meant = |session: &SessionReport| {
        text.is_none_or(|text| {
            number == Some(session.request) || session.agent.as_deref() == Some(text) || session.name == text
        })
    };
    let possible: Vec<SessionReport> = status.sessions.into_iter().filter(can).collect();
    let mut meant = possible.iter().filter(|session| is_meant(session));
    match (meant.next(), meant.next()) {
        (Some(session), None) => return Ok(session.clone()),
        _ if possible.is_empty() => {
            return Err(CommandError::Message(format!("run {run} has no session at work")));
        }
        _ => {}
    }
    let several =
        text.map_or(String::new(), |text| format!("`{}` names not exactly one session; ", one_line(text)));
    let sessions: Vec<String> = possible.iter().map(described).collect();
    Err(CommandError::Message(format!(
        "run {run}: {several}pass the number of one of these: {}",
        sessions.join(", ")
    )))
}

/// A session in a few words.
fn described(session: &SessionReport) -> String {
    let who = session.agent.as_deref().map_or(String::new(), |agent| format!(", agent {agent}"));
    let line = NamedLine { program: session.program.clone(), line: session.line }.to_string();
    let line = one_line(&line);
    format!("session {} ({line}{who})", session.request.0)
}
