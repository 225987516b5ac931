//! How a run stands, in words and as JSON: one of this server, one of another process, or one without a process.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use prose_state::StateError;
use prose_state::runs::RunState;
use prose_syntax::text::{counted, one_line};
use prose_view::{Census, View, duration};
use prose_vm::choices;
use prose_vm::event::RunEnd;
use prose_vm::questions::OpenQuestion;
use prose_vm::runner::now;
use prose_vm::value::Value;
use serde_json::{Map, json};

use super::questions::{for_person, is_input};
use super::reply::{Reply, data};
use crate::elsewhere::Elsewhere;
use crate::report::{ending, used};
use crate::runs::{self, LiveRun};

/// The maximum length of an output in the state of a run, in bytes. `read_value` returns the rest.
const MAX_OUTPUT: usize = 4_000;

/// The number of failures and missing results in the state of a run.
const MAX_FAILURES: usize = 20;

/// How a run stands.
struct State<'a> {
    run: &'a str,
    program: Option<&'a str>,
    status: &'static str,
    /// Who executes it, if that is another process.
    executed_by: Option<String>,
    /// Why that process cannot be asked.
    problem: Option<&'a str>,
    view: Option<&'a View>,
    is_ended: bool,
    end: Option<&'a RunEnd>,
    /// Why it did not complete.
    error: Option<String>,
    questions: Vec<OpenQuestion>,
    bindings: Vec<&'a str>,
    warnings: Vec<String>,
    can_be_resumed: bool,
    folder: Option<PathBuf>,
}

/// How a run of this server stands.
pub(super) fn of_live(live: &LiveRun) -> Reply {
    let ended = live.end();
    let questions = live.desk.open();
    let view = live.view();
    let status = match &ended {
        None if questions.is_empty() => "running",
        None => RunState::Waiting.name(),
        Some(Err(_)) => RunState::Interrupted.name(),
        Some(Ok(end)) => RunState::of(end).name(),
    };
    let end = ended.as_ref().and_then(|ended| ended.as_ref().ok());
    let questions = end.map_or(questions, |end| end.waiting.clone());
    State {
        run: &live.id,
        program: view.head().map(|head| head.program.as_str()),
        status,
        executed_by: None,
        problem: None,
        view: Some(&view),
        is_ended: ended.is_some(),
        end,
        error: match &ended {
            Some(Ok(end)) => end.error.as_ref().map(|error| error.to_string()),
            Some(Err(failure)) => Some(failure.clone()),
            None => None,
        },
        questions,
        bindings: Vec::new(),
        warnings: live.warnings(),
        can_be_resumed: ended.is_some() && end.is_none_or(|end| RunState::of(end).can_be_resumed()),
        folder: live.project.run(&live.id).ok(),
    }
    .reply()
}

/// How a run stands that this server does not execute.
pub(super) fn of_recorded(found: &Elsewhere) -> Reply {
    let details = &found.recorded.details;
    let summary = &details.summary;
    let mut view = view_of(&summary.folder).ok();
    // The process of a run that has no end was killed.
    if let Some(view) = view.as_mut().filter(|_| !found.is_executed) {
        view.interrupt();
    }
    let status = match found.is_executed && !found.open.is_empty() {
        true => RunState::Waiting,
        false => summary.status,
    };
    State {
        run: &summary.id,
        program: summary.program.as_deref(),
        status: status.name(),
        executed_by: summary.status.process().map(|process| match process {
            Some(process) => format!("process {process}"),
            None => "another process".to_owned(),
        }),
        problem: found.problem.as_deref(),
        view: view.as_ref(),
        is_ended: !found.is_executed,
        end: details.end.as_ref().filter(|_| !found.is_executed),
        error: summary.error.clone(),
        questions: found.open.clone(),
        bindings: details.bindings.iter().map(|binding| binding.name.as_str()).collect(),
        warnings: Vec::new(),
        can_be_resumed: summary.status.can_be_resumed(),
        folder: Some(summary.folder.clone()),
    }
    .reply()
}

fn view_of(folder: &Path) -> Result<View, StateError> {
    let mut view = View::default();
    runs::events(folder)?.for_each(|event| view.apply(&event));
    Ok(view)
}

impl State<'_> {
    fn reply(self) -> Reply {
        let mut report = format!("run {}: {}\n", self.run, self.status);
        if let Some(program) = self.program {
            let _ = writeln!(report, "program: {}", one_line(program));
        }
        if let Some(process) = &self.executed_by {
            let _ = writeln!(report, "executed by {process}");
        }
        if let Some(problem) = self.problem {
            let _ = writeln!(report, "warning: {}", one_line(problem));
        }
        let census = self.view.filter(|_| self.is_ended).map(View::census);
        if let Some(view) = self.view {
            let sessions = counted(view.sessions_ended() as usize, "session");
            let _ = writeln!(report, "{sessions} ended, {}", used(view));
            for line in view.denied().filter_map(|(_, node)| view.line(node.site?)) {
                let _ = writeln!(report, "warning: a tool call was denied in the session at {line}");
            }
        }
        if let Some(census) = &census {
            report_census(census, &mut report);
        }
        for warning in &self.warnings {
            let _ = writeln!(report, "warning: {}", one_line(warning));
        }
        for question in &self.questions {
            report_question(self.run, question, &mut report);
        }
        let next = self.next();
        if let Some(next) = &next {
            let _ = writeln!(report, "{next}");
        }
        let mut outputs = Map::new();
        match self.end {
            Some(end) => outputs = report_end(end, self.run, &mut report),
            None => {
                if let Some(error) = self.error.as_ref().filter(|_| self.is_ended) {
                    let _ = write!(report, "the run was ended by a failure:\n{}", data(error));
                }
            }
        }
        if !self.bindings.is_empty() {
            let _ = writeln!(report, "bindings: {}", one_line(&self.bindings.join(", ")));
        }
        Reply::text(report).with_facts(json!({
            "run": self.run,
            "status": self.status,
            "program": self.program,
            "executedBy": self.executed_by,
            "sessions": self.view.map(View::sessions_ended),
            "questions": self.questions.iter().map(|question| facts(self.run, question)).collect::<Vec<_>>(),
            "outputs": outputs,
            "error": self.error,
            "line": self.end.and_then(|end| end.error.as_ref()).map(|error| error.line),
            "usage": self.view.and_then(View::root).and_then(|root| root.usage),
            "denied": self.view.map(denied),
            "census": census,
            "bindings": self.bindings,
            "canResume": self.can_be_resumed,
            "next": next,
            "folder": self.folder,
        }))
    }

    /// What a client can do next.
    fn next(&self) -> Option<String> {
        let has_input = self.questions.iter().any(is_input);
        match self.questions.as_slice() {
            [] if !self.is_ended => Some("call `status` to wait for it, or `stop`".to_owned()),
            [] => {
                self.can_be_resumed.then(|| "`resume` continues it; recorded results are reused".to_owned())
            }
            _ if has_input => Some("ask the user, then call `answer`".to_owned()),
            _ => Some("tell the user how to answer, then call `status`".to_owned()),
        }
    }
}

/// `question 1 for `topic` (optional), since 5s:`, and its text
fn report_question(run: &str, question: &OpenQuestion, report: &mut String) {
    let name = question.input().map_or(String::new(), |name| format!(" for `{name}`"));
    let optional = if question.is_optional { " (optional)" } else { "" };
    let since = duration(now().saturating_sub(question.since));
    let _ = writeln!(report, "question {}{name}{optional}, since {since}:", question.id);
    report.push_str(&data(&question.prompt));
    if let Some(note) = &question.note {
        let _ = writeln!(report, "  note: {}", one_line(note));
    }
    if !is_input(question) {
        let _ = writeln!(report, "  {}", for_person(run, question));
    } else if !question.choices.is_empty() {
        let _ = writeln!(report, "  answers: {}", choices::listed(&question.choices));
    }
}

fn facts(run: &str, question: &OpenQuestion) -> serde_json::Value {
    json!({
        "question": question.id,
        "about": question.kind.name(),
        "name": question.input(),
        "prompt": question.prompt,
        "choices": question.choices.iter().map(|choice| &choice.value).collect::<Vec<_>>(),
        "optional": question.is_optional,
        "since": question.since,
        "line": question.line,
        "program": question.program,
        "forPerson": (!is_input(question)).then(|| for_person(run, question)),
    })
}

/// The lines of sessions in which a tool call was denied: numbers, and texts such as `lib.prose:4` for those of imported programs.
fn denied(view: &View) -> Vec<serde_json::Value> {
    let lines = view.denied().filter_map(|(_, node)| view.line(node.site?));
    lines
        .map(|line| if line.program.is_some() { line.to_string().into() } else { line.line.into() })
        .collect()
}

/// Reports what became of the sessions of a run, and which failures its program handled.
fn report_census(census: &Census, report: &mut String) {
    let summary = Some(census.summary()).filter(|summary| !summary.is_empty());
    for line in summary.into_iter().chain(census.details(MAX_FAILURES)) {
        let _ = writeln!(report, "{}", one_line(&line));
    }
}

/// Reports the outputs and the error of a run, and returns the outputs.
fn report_end(end: &RunEnd, run: &str, report: &mut String) -> Map<String, serde_json::Value> {
    let mut outputs = Map::new();
    let unnamed = Some(("result".into(), end.value.clone()));
    let unnamed = unnamed.filter(|(_, value)| !matches!(value, Value::Null));
    for (name, value) in end.outputs.iter().cloned().chain(unnamed) {
        let text = value.to_string();
        let shown = &text[..text.floor_char_boundary(MAX_OUTPUT)];
        let _ = write!(report, "\n{name}:\n{}", data(shown));
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
        let _ = write!(report, "\n{}:\n{}", ending(end), data(&error.to_string()));
    }
    outputs
}
