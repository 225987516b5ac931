//! Requests that change what a run does. Every change is an event of the journal, with who made it (decision 25).
//!
//! What has not happened yet changes in the run itself. A change of what is recorded starts a fork, with which the debugger continues.

use std::io::Write;
use std::sync::Arc;

use prose_run::questions::user;
use prose_run::{ForkRequest, Point, Start};
use prose_vm::activity::AnswerSource;
use prose_vm::command::Command;
use prose_vm::effect::RequestId;
use prose_vm::event::EventKind;
use prose_vm::runner::now;
use prose_vm::value::Value;
use serde_json::Value as Json;
use smol_str::SmolStr;

use super::stack::{Frame, Handle, frames};
use super::{Adapter, Session, body};
use crate::live::{Category, Output};
use crate::timeline::Seen;
use crate::values;

/// A session at the stop.
struct SessionHere {
    request: RequestId,
    /// The event that starts it.
    start: usize,
    /// The event with its outcome.
    outcome: Option<usize>,
}

impl<W: Write> Adapter<W> {
    pub(super) fn set_variable(&mut self, arguments: dapts::SetVariableArguments) -> Result<Json, String> {
        let handle = self.handles.find(u64::from(arguments.variables_reference))?;
        let (name, value) = (arguments.name, arguments.value);
        // A text may be written with quotes or without.
        let text = || -> Arc<str> {
            serde_json::from_str::<String>(&value).unwrap_or_else(|_| value.clone()).into()
        };
        let value = match (&handle, name.as_str()) {
            (Handle::Session(_), "prompt") => {
                self.give_prompt(text())?;
                Value::Text(text())
            }
            (Handle::Session(_), "reply" | "status" | "failure") => {
                self.give_reply(text())?;
                Value::Text(text())
            }
            (Handle::Session(_), _) => {
                return Err(format!("`{name}` cannot be changed; the prompt and the reply of a session can"));
            }
            (Handle::Locals(frame) | Handle::Inputs(frame), _) => {
                self.change_variable(Some(*frame), &name, &value)?
            }
            (Handle::Program(frame), _) => {
                let mut frame = *frame;
                frame.part = self.debuggee().timeline.root_of(frame.part);
                self.change_variable(Some(frame), &name, &value)?
            }
            (Handle::Run, _) => return Err("what the run has done cannot be changed".to_owned()),
            (Handle::Value(_), _) => {
                return Err("a part of a value cannot be changed; change the whole variable".to_owned());
            }
        };
        body(self.set_to(&value))
    }

    /// What is answered about a variable or an expression that has this value now.
    fn set_to(&mut self, value: &Value) -> dapts::SetVariableResponse {
        let (named, indexed) = values::counts(value);
        dapts::SetVariableResponse {
            value: values::shown(value),
            ty: Some(value.kind().to_owned()),
            variables_reference: Some(self.reference(value) as u32),
            named_variables: Some(named as u32).filter(|_| named > 0),
            indexed_variables: Some(indexed as u32).filter(|_| indexed > 0),
            ..Default::default()
        }
    }

    pub(super) fn set_expression(
        &mut self,
        arguments: dapts::SetExpressionArguments,
    ) -> Result<Json, String> {
        let name = arguments.expression.trim();
        let is_name =
            !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
        if !is_name {
            return Err(format!(
                "`{name}` is not a variable; a part of a value changes with the whole variable"
            ));
        }
        let frame = self.frame(arguments.frame_id)?;
        let value = self.change_variable(frame, name, &arguments.value)?;
        let dapts::SetVariableResponse {
            value,
            ty,
            variables_reference,
            named_variables,
            indexed_variables,
            ..
        } = self.set_to(&value);
        body(dapts::SetExpressionResponse {
            value,
            ty,
            variables_reference,
            named_variables,
            indexed_variables,
            ..Default::default()
        })
    }

    /// The session at the stop: the one at work, or the next one of the statement that is known.
    fn session_here(&self) -> Result<SessionHere, String> {
        let debuggee = self.debuggee();
        let (timeline, cursor) = (&debuggee.timeline, debuggee.cursor());
        let frame = frames(&debuggee, debuggee.thread()).first().copied();
        let session = frame.and_then(|frame| timeline.session_at(frame.part, cursor));
        let session = session.and_then(|id| timeline.node(id)).ok_or("no session is at this statement")?;
        let Some(EventKind::SessionStarted { request, .. }) =
            timeline.event(session.start).map(|event| &event.kind)
        else {
            return Err("no session is at this statement".to_owned());
        };
        let outcome = timeline.outcome_at(*request, session.start);
        Ok(SessionHere { request: *request, start: session.start, outcome })
    }

    /// Gives the run a command.
    pub(super) fn send(&self, command: Command) -> Result<(), String> {
        match &self.session {
            Session::Live(live) => live.command(command),
            Session::Attached(attached) => attached.command(command),
            Session::Recorded | Session::None => Err("no process executes the run".to_owned()),
        }
    }

    /// Gives the session at the stop a command, in a fork if it has its outcome already or nobody executes the run. Returns whether it is in a fork.
    fn command_session(&mut self, command: impl Fn(RequestId) -> Command) -> Result<bool, String> {
        let session = self.session_here()?;
        let is_executed = matches!(self.session, Session::Live(_) | Session::Attached(_));
        if session.outcome.is_none() && is_executed {
            self.send(command(session.request))?;
            return Ok(false);
        }
        self.fork_before(&session)?;
        let SessionHere { request, .. } = self.session_here()?;
        self.send(command(request))?;
        Ok(true)
    }

    /// Continues with a fork in which a session has not been asked yet.
    fn fork_before(&mut self, session: &SessionHere) -> Result<(), String> {
        let (before, count) = {
            let debuggee = self.debuggee();
            let (timeline, cursor) = (&debuggee.timeline, debuggee.cursor());
            let seq = |index| timeline.event(index).map_or(0, |event| event.seq);
            let before = match session.outcome {
                Some(outcome) => seq(outcome),
                None => seq(cursor.max(session.start)) + 1,
            };
            (before, timeline.count_until(cursor.min(session.start)))
        };
        self.fork(ForkRequest { from: Some(Point::Event(before)), ..ForkRequest::default() }, count)
    }

    /// Ends the session at the stop with a reply.
    pub(super) fn give_reply(&mut self, text: Arc<str>) -> Result<String, String> {
        let session = self.session_here()?;
        let Some(outcome) = session.outcome else {
            let is_fork =
                self.command_session(|request| Command::Reply { request, text: Arc::clone(&text) })?;
            return Ok(with_fork("The session has this reply; the agent is not asked.", is_fork));
        };
        let (point, count) = {
            let debuggee = self.debuggee();
            let timeline = &debuggee.timeline;
            let seq = timeline.event(outcome).map_or(0, |event| event.seq);
            let count = timeline.count_until(debuggee.cursor()).min(timeline.count_until(outcome) + 1);
            (Point::Event(seq), count)
        };
        let by = Some(user(AnswerSource::Editor));
        let replies = vec![(point, text)];
        self.fork(ForkRequest { replies, by, ..ForkRequest::default() }, count)?;
        Ok(with_fork("The session has this reply.", true))
    }

    /// Asks the session at the stop with another prompt.
    pub(super) fn give_prompt(&mut self, text: Arc<str>) -> Result<String, String> {
        let is_fork = self.command_session(|request| Command::Prompt { request, text: Arc::clone(&text) })?;
        Ok(with_fork("The session is asked with this prompt.", is_fork))
    }

    /// Ends the session at the stop with an empty result.
    pub(super) fn skip_session(&mut self) -> Result<String, String> {
        let is_fork = self.command_session(|request| Command::Skip { request })?;
        Ok(with_fork("The session ends with an empty result.", is_fork))
    }

    /// Asks the session at the stop again.
    pub(super) fn retry_session(&mut self) -> Result<String, String> {
        let session = self.session_here()?;
        let is_fork = session.outcome.is_some() || matches!(self.session, Session::Recorded);
        match is_fork {
            true => self.fork_before(&session)?,
            false => self.send(Command::Retry { request: session.request })?,
        }
        Ok(with_fork("The session starts again.", is_fork))
    }

    /// Continues with a fork in which what comes after the stop is asked again.
    pub(super) fn fork_here(&mut self) -> Result<String, String> {
        let (before, count) = {
            let debuggee = self.debuggee();
            if debuggee.is_running() {
                return Err("the run is executed; pause it first".to_owned());
            }
            let (timeline, cursor) = (&debuggee.timeline, debuggee.cursor());
            if matches!(self.session, Session::Live(_)) && !timeline.has_results_after(cursor) {
                return Err("nothing was asked after this point, so nothing can be asked again".to_owned());
            }
            (timeline.event(cursor).map_or(1, |event| event.seq + 1), timeline.count_until(cursor))
        };
        self.fork(ForkRequest { from: Some(Point::Event(before)), ..ForkRequest::default() }, count)?;
        Ok("The debugger continues with a fork of the run.".to_owned())
    }

    /// Gives a variable another value at the start of the statement at the stop. `frame` is the one in which the client shows the variable.
    fn change_variable(&mut self, frame: Option<Frame>, name: &str, written: &str) -> Result<Value, String> {
        let (seq, count, value, is_new) = {
            let debuggee = self.debuggee();
            if debuggee.is_running() {
                return Err("the run is executed; pause it first".to_owned());
            }
            let (timeline, cursor) = (&debuggee.timeline, debuggee.cursor());
            let start = timeline.before_changes(cursor);
            let event = timeline.event(start);
            let event = event.filter(|event| matches!(event.kind, EventKind::StatementStarted { .. }));
            let event = event.ok_or("variables are set at the start of a statement; step to the next one")?;
            let here = timeline.find(timeline.node_at(start), cursor, name);
            let shown = frame.map_or_else(|| here.clone(), |frame| timeline.find(frame.part, cursor, name));
            let before = match (&shown, &here) {
                (None, _) => return Err(format!("`{name}` has no value at this point of the run")),
                (Some(Seen::Local(..)), _) => {
                    return Err(format!("`{name}` belongs to the body around it and keeps its value there"));
                }
                (Some(Seen::Scope(shown, value)), Some(Seen::Scope(here, _))) if shown == here => value,
                _ => {
                    return Err(format!(
                        "the statement at the stop does not see this `{name}`; set it at a statement that does"
                    ));
                }
            };
            let is_new = matches!(self.session, Session::Live(_)) && !debuggee.has_stepped_back();
            if is_new && timeline.has_prompts_after(start) {
                return Err("the session of this statement has another prompt already; set variables before its prompt"
                    .to_owned());
            }
            (event.seq, timeline.count_until(start), parsed(written, before), is_new)
        };
        let variable = (SmolStr::new(name), value.clone());
        if is_new {
            self.change_in_run(seq, count, variable)?;
        } else {
            let by = Some(user(AnswerSource::Editor));
            let from = Some(Point::Event(seq));
            self.fork(ForkRequest { from, variables: vec![variable], by, ..ForkRequest::default() }, count)?;
        }
        Ok(value)
    }

    /// Records that a variable was set at a statement of the run that this process executes, and continues the run from there.
    fn change_in_run(&mut self, seq: u64, count: usize, variable: (SmolStr, Value)) -> Result<(), String> {
        self.check_nothing_at_work()?;
        let Session::Live(mut live) = std::mem::replace(&mut self.session, Session::None) else {
            return Err("no process executes the run".to_owned());
        };
        let mut request = (*live.request).clone();
        let run = live.run.clone();
        request.start = Start::Resume { run: run.clone(), accept_changes: false };
        // The program has computed more than the debugger shows; it computes that again with the new value.
        self.shared.silence();
        live.interrupt("a variable was set in the debugger");
        live.join();
        let by = user(AnswerSource::Editor);
        let said = format!("`{}` was set to {}", variable.0, values::shown(&variable.1));
        let set = request.project.set_variable(&run, seq, variable, by, now());
        if let Err(why) = self.execute_again(request, count) {
            self.ends = true;
            return Err(format!("{why}; run {run} was interrupted, and `prose resume {run}` continues it"));
        }
        match set {
            Ok(true) => {
                // A client that does not read any more is noticed by the response.
                let _ = self.write_output(&Output::new(Category::Console, said));
                Ok(())
            }
            Ok(false) => {
                Err("the run has come to another statement; the variable keeps its value".to_owned())
            }
            Err(error) => Err(error.to_string()),
        }
    }
}

fn with_fork(text: &str, is_fork: bool) -> String {
    let more = if is_fork { " The debugger continues with a fork of the run." } else { "" };
    format!("{text}{more}")
}

/// The value that a person writes for a variable: JSON, or a text without quotes. A variable with a text keeps a text.
fn parsed(written: &str, before: &Value) -> Value {
    match serde_json::from_str::<Json>(written) {
        Ok(Json::String(text)) => Value::from(text.as_str()),
        Ok(json) if !matches!(before, Value::Text(_)) => Value::from_json(&json),
        _ => Value::from(written),
    }
}
