//! The sessions of a run: how each ended, and what its agent reported.

use std::io::{self, Write};
use std::path::Path;

use prose_state::agent_log;
use prose_view::{Attempt, Node, Session, Status, Times, View, duration, usage_text};
use prose_vm::activity::AskedPermission;

use crate::terminal::{BOLD, WARNING, counted, first_line, one_line, time};

/// The most sessions that are listed, unless all are asked for.
const MAX_LISTED: usize = 50;

/// Writes the sessions of a run with what their agents reported: usage, tool calls, denials and their sessions. Of a long list, those that did not end
/// with a result in their first attempt come before the others.
pub(super) fn write(view: &View, folder: &Path, shows_all: bool, out: &mut impl Write) -> io::Result<()> {
    let sessions: Vec<(&Node, &Session)> =
        view.nodes().filter_map(|(_, node)| Some((node, node.session()?))).collect();
    let before = view.sessions_before_change();
    if sessions.is_empty() && before == 0 {
        return Ok(());
    }
    writeln!(out, "\n{BOLD}sessions{BOLD:#}")?;
    let max = if shows_all { usize::MAX } else { MAX_LISTED };
    for index in listed(&sessions, max) {
        let (node, session) = sessions[index];
        write_session(node, session, view, (view.times_of(node), view.end().is_some()), out)?;
        for (number, attempt) in session.attempts.iter().enumerate() {
            write_attempt(attempt, number, session, folder, out)?;
        }
    }
    let left_out = sessions.len().saturating_sub(max);
    if left_out > 0 {
        writeln!(out, "  {} more; pass `--all` to list them", counted(left_out, "session"))?;
    }
    if before > 0 {
        writeln!(out, "  {} more before the program changed", counted(before as usize, "session"))?;
    }
    Ok(())
}

/// The indices of the sessions to list, in the order of the run.
fn listed(sessions: &[(&Node, &Session)], max: usize) -> Vec<usize> {
    let is_plain = |index: &usize| {
        let (node, session) = sessions[*index];
        node.status == Status::Complete && session.attempts.iter().map(Attempt::times).sum::<usize>() == 1
    };
    let mut listed: Vec<usize> = (0..sessions.len()).filter(|index| !is_plain(index)).take(max).collect();
    let left = max - listed.len();
    listed.extend((0..sessions.len()).filter(is_plain).take(left));
    listed.sort_unstable();
    listed
}

/// `line 4: facts (historian): complete, 2 attempts, 3 tool calls, 1.2k tokens, $0.03, 1.4 s, waited 2 m 5 s for answers`
fn write_session(
    node: &Node,
    session: &Session,
    view: &View,
    (times, has_end): (Times, bool),
    out: &mut impl Write,
) -> io::Result<()> {
    let line = view.line_prefix(node.site);
    // The result of a session without a name is bound to a number.
    let label = match session.name.starts_with("anon_") && !node.label.is_empty() {
        true => &node.label,
        false => &session.name,
    };
    let agent = session.agent.as_ref().map_or(String::new(), |agent| format!(" ({})", one_line(agent)));
    let attempts = Some(session.attempts.iter().map(Attempt::times).sum()).filter(|count| *count > 1);
    let calls: u32 = session.attempts.iter().map(|attempt| attempt.calls).sum();
    let facts = [
        Some(status(node.status)),
        attempts.map(|count| counted(count, "attempt")),
        (calls > 0).then(|| counted(calls as usize, "tool call")),
        node.usage.map(usage_text),
        // The time at which a process was killed is not recorded.
        (node.status != Status::Interrupted || has_end).then(|| duration(times.work)),
        (times.waiting > 0).then(|| format!("waited {} for answers", duration(times.waiting))),
        (times.stopped > 0).then(|| format!("stopped for {}", duration(times.stopped))),
    ];
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    writeln!(out, "  {line}{}{agent}: {}", first_line(label), facts.join(", "))
}

/// The status as the census names it.
pub(super) fn status(status: Status) -> String {
    match status {
        Status::Skipped => "cancelled".to_owned(),
        status => format!("{status:?}").to_lowercase(),
    }
}

pub(super) fn write_attempt(
    attempt: &Attempt,
    number: usize,
    session: &Session,
    folder: &Path,
    out: &mut impl Write,
) -> io::Result<()> {
    if let Some(agent) = &attempt.session {
        let model = agent.model.as_ref().map_or(String::new(), |model| format!(" with {model}"));
        writeln!(out, "    session {}{model}", one_line(&agent.id))?;
        if let Some(transcript) = &agent.transcript {
            writeln!(out, "    transcript {}", one_line(&transcript.to_string_lossy()))?;
        }
    }
    if let Some(error) = &attempt.error {
        let of = match session.attempts.len() {
            1 => String::new(),
            _ => format!(" of attempt {}", number + 1),
        };
        writeln!(out, "    error{of}: {}", first_line(&error.message))?;
    }
    for denial in &attempt.denials {
        let reason = if denial.reason.is_empty() { String::new() } else { format!(" ({})", denial.reason) };
        writeln!(out, "    {WARNING}denied{WARNING:#}: {}{}", first_line(&denial.title), one_line(&reason))?;
    }
    for asked in &attempt.questions {
        let (title, rule) = (first_line(&asked.question.title), one_line(&asked.question.rule));
        writeln!(out, "    asked: {title} ({rule}): {}", answer_text(asked))?;
    }
    let log = agent_log::path(attempt.request, &session.name);
    if folder.join(&log).is_file() {
        writeln!(out, "    log {}", one_line(&log))?;
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
