//! `prose runs show --session`: one session with its prompts and replies.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;

use prose_run::Project;
use prose_view::{Node, Session};
use prose_vm::effect::{Outcome, RequestId, SessionTask};
use prose_vm::event::EventKind;
use serde::Serialize;

use crate::command_error::CommandError;
use crate::runs::details::{details, view_of};
use crate::runs::sessions::{status, write_attempt};
use crate::terminal::{BOLD, Terminal, first_line, lines, one_line};

/// What an attempt of a session was asked, and what came of it.
#[derive(Default, Serialize)]
struct Exchange {
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<Arc<SessionTask>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<Outcome>,
}

/// Shows the session that a text names: by the number of one of its requests, its agent or the name of its result.
pub(super) fn show(
    project: &Project,
    run: Option<&str>,
    session: &str,
    is_json: bool,
    terminal: &Terminal,
) -> Result<(), CommandError> {
    let details = details(project, run).map_err(CommandError::Message)?;
    let run = &details.summary;
    let mut exchanges: BTreeMap<RequestId, Exchange> = BTreeMap::new();
    let mut view = view_of(&run.folder, |event| match &event.kind {
        EventKind::SessionStarted { request, task } => {
            exchanges.entry(*request).or_default().task = Some(Arc::clone(task));
        }
        EventKind::Effect { request, effect, outcome, .. } if effect == "session" => {
            exchanges.entry(*request).or_default().outcome = Some(outcome.clone());
        }
        _ => {}
    })?;
    if !run.status.is_executed() {
        view.interrupt();
    }
    let sessions: Vec<(&Node, &Session)> =
        view.nodes().filter_map(|(_, node)| Some((node, node.session()?))).collect();
    let (node, found) = find(&sessions, session, &run.id)?;
    let mut out = terminal.stdout();
    if is_json {
        let exchanges: Vec<_> = found
            .attempts
            .iter()
            .map(|attempt| {
                let exchange = exchanges.get(&attempt.request);
                serde_json::json!({ "request": attempt.request, "attempt": attempt, "exchange": exchange })
            })
            .collect();
        let shown = serde_json::json!({
            "run": run.id,
            "name": found.name,
            "agent": found.agent,
            "model": found.model,
            "file": found.file,
            "place": node.place,
            "site": node.site,
            "status": node.status,
            "attempts": exchanges,
        });
        serde_json::to_writer(&mut out, &shown).map_err(io::Error::from)?;
        writeln!(out)?;
        return Ok(());
    }
    writeln!(out, "{BOLD}{}{BOLD:#} of {}: {}", described(found), run.id, status(node.status))?;
    let line = view.line_prefix(node.site);
    writeln!(out, "place:    {}", line.trim_end().trim_end_matches(':'))?;
    for (key, value) in [("agent", found.agent.as_deref()), ("model", found.model.as_deref())] {
        if let Some(value) = value {
            writeln!(out, "{:10}{}", format!("{key}:"), one_line(value))?;
        }
    }
    writeln!(out, "result:   {} in {}", one_line(&found.name), one_line(&found.file))?;
    for (number, attempt) in found.attempts.iter().enumerate() {
        let of = match found.attempts.len() {
            1 => String::new(),
            _ => format!(" of attempt {}", number + 1),
        };
        write_attempt(attempt, number, found, &run.folder, &mut out)?;
        let Some(Exchange { task, outcome }) = exchanges.get(&attempt.request) else { continue };
        let texts = [
            ("system", task.as_ref().and_then(|task| task.system.as_deref())),
            ("prompt", task.as_ref().map(|task| &*task.prompt)),
            (
                "reply",
                outcome.as_ref().and_then(|outcome| match outcome {
                    Outcome::Reply(reply) => Some(&*reply.text),
                    _ => None,
                }),
            ),
        ];
        for (name, text) in texts {
            if let Some(text) = text {
                writeln!(out, "\n{BOLD}{name}{of}{BOLD:#}\n{}", lines(text.trim_end()))?;
            }
        }
    }
    Ok(())
}

fn find<'a>(
    sessions: &[(&'a Node, &'a Session)],
    text: &str,
    run: &str,
) -> Result<(&'a Node, &'a Session), CommandError> {
    let number = text.parse().ok().map(RequestId);
    let has_number =
        |session: &Session| session.attempts.iter().any(|attempt| Some(attempt.request) == number);
    let is_meant = |session: &Session| {
        session.agent.as_deref() == Some(text) || session.name == text || has_number(session)
    };
    let mut meant = sessions.iter().filter(|(_, session)| is_meant(session));
    if let (Some(session), None) = (meant.next(), meant.next()) {
        return Ok(*session);
    }
    let all: Vec<String> = sessions.iter().take(20).map(|(_, session)| described(session)).collect();
    let hint = match all.is_empty() {
        true => "it has no sessions".to_owned(),
        false => format!("pass the number of one of these: {}", all.join(", ")),
    };
    Err(CommandError::Message(format!(
        "`{}` names not exactly one session of run {run}; {hint}",
        one_line(text)
    )))
}

/// `session 3 (draft, agent writer)`.
fn described(session: &Session) -> String {
    let number = session.attempts.first().map_or(String::new(), |attempt| format!(" {}", attempt.request.0));
    let agent = session.agent.as_deref().map_or(String::new(), |agent| format!(", agent {agent}"));
    format!("session{number} ({}{agent})", first_line(&session.name))
}
