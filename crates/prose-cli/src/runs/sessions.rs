//! The sessions of a run, as far as their agents reported something.

use std::io::{self, Write};
use std::path::Path;

use prose_state::agent_log;
use prose_view::{Attempt, Node, View, usage_text};
use prose_vm::activity::AskedPermission;

use crate::terminal::{BOLD, WARNING, counted, first_line, one_line, time};

/// Writes what the agents of a run reported: usage, tool calls, denials and their sessions. Nothing for a run without such reports.
pub(super) fn write(view: &View, folder: &Path, out: &mut impl Write) -> io::Result<()> {
    let sessions: Vec<(&Node, &Attempt)> = view
        .nodes()
        .filter_map(|(_, node)| Some((node, node.session()?)))
        .flat_map(|(node, session)| session.attempts.iter().map(move |attempt| (node, attempt)))
        .filter(|(_, attempt)| reports_something(attempt))
        .collect();
    if sessions.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{BOLD}sessions{BOLD:#}")?;
    for (node, attempt) in sessions {
        let Some(session) = node.session() else { continue };
        let agent = session.agent.as_ref().map_or(String::new(), |agent| format!("{agent}: "));
        let number = session.attempts.iter().position(|other| other.request == attempt.request);
        let number = match number {
            Some(number) if session.attempts.len() > 1 => format!(" (attempt {})", number + 1),
            _ => String::new(),
        };
        let status = format!("{:?}", attempt.status).to_lowercase();
        let calls = (attempt.calls > 0).then(|| counted(attempt.calls as usize, "tool call"));
        let facts: Vec<String> =
            [Some(status), calls, attempt.usage.map(usage_text)].into_iter().flatten().collect();
        let line = node.site.map_or(String::new(), |site| format!("line {}: ", site.line));
        writeln!(out, "  {line}{agent}{}{number}: {}", first_line(&node.label), facts.join(", "))?;
        if let Some(agent) = &attempt.session {
            let model = agent.model.as_ref().map_or(String::new(), |model| format!(" with {model}"));
            writeln!(out, "    session {}{model}", one_line(&agent.id))?;
            if let Some(transcript) = &agent.transcript {
                writeln!(out, "    transcript {}", one_line(&transcript.to_string_lossy()))?;
            }
        }
        if let Some(error) = &attempt.error {
            writeln!(out, "    error: {}", first_line(&error.message))?;
        }
        for denial in &attempt.denials {
            let reason =
                if denial.reason.is_empty() { String::new() } else { format!(" ({})", denial.reason) };
            writeln!(
                out,
                "    {WARNING}denied{WARNING:#}: {}{}",
                first_line(&denial.title),
                one_line(&reason)
            )?;
        }
        for asked in &attempt.questions {
            let answer = answer_text(asked);
            writeln!(
                out,
                "    asked: {} ({}): {answer}",
                first_line(&asked.question.title),
                one_line(&asked.question.rule)
            )?;
        }
        let log = agent_log::path(attempt.request, &session.name);
        if folder.join(&log).is_file() {
            writeln!(out, "    log {}", one_line(&log))?;
        }
    }
    Ok(())
}

/// The answer to a permission question, with who gave it, where and when.
fn answer_text(asked: &AskedPermission) -> String {
    let word = match asked.is_allowed {
        Some(true) => "allowed",
        Some(false) => "denied",
        None if asked.from.is_some() => "denied",
        None => return "not answered".to_owned(),
    };
    let by = asked.by.as_ref().map_or(String::new(), |by| format!(" by {}", one_line(by)));
    let from = asked.from.map_or(String::new(), |from| format!(" {}", from.phrase()));
    let at = asked.answered_at.map_or(String::new(), |at| format!(", {}", time(at)));
    format!("{word}{by}{from}{at}")
}

fn reports_something(attempt: &Attempt) -> bool {
    attempt.usage.is_some()
        || attempt.calls > 0
        || !attempt.denials.is_empty()
        || !attempt.questions.is_empty()
        || attempt.session.is_some()
}
