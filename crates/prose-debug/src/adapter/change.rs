//! Requests that change what a run does. Every change is an event of the journal, with who made it (decision 25).

use std::io::Write;
use std::sync::Arc;

use prose_vm::command::Command;
use prose_vm::effect::RequestId;
use prose_vm::event::EventKind;
use prose_vm::value::Value;
use serde_json::Value as Json;

use super::stack::{Handle, frames};
use super::{Adapter, Session, body};
use crate::values;

impl<W: Write> Adapter<W> {
    pub(super) fn set_variable(&mut self, arguments: dapts::SetVariableArguments) -> Result<Json, String> {
        let handle = self.handles.find(u64::from(arguments.variables_reference))?;
        let (name, value) = (arguments.name, arguments.value);
        // A text may be written with quotes or without.
        let text = || -> Arc<str> {
            serde_json::from_str::<String>(&value).unwrap_or_else(|_| value.clone()).into()
        };
        match (&handle, name.as_str()) {
            (Handle::Session(_), "prompt") => {
                self.give_prompt(text())?;
            }
            (Handle::Session(_), "reply" | "status") => {
                self.give_reply(text())?;
            }
            (Handle::Session(_), _) => {
                return Err(format!("`{name}` cannot be changed; the prompt and the reply of a session can"));
            }
            (Handle::Locals(_) | Handle::Inputs(_) | Handle::Program(_), _) => {
                let value = match serde_json::from_str::<Json>(&value) {
                    Ok(json) => Value::from_json(&json),
                    Err(_) => Value::from(value.as_str()),
                };
                return self.change_variable(&name, value);
            }
            (Handle::Run, _) => return Err("what the run has done cannot be changed".to_owned()),
            (Handle::Value(_), _) => {
                return Err("a part of a value cannot be changed; change the whole variable".to_owned());
            }
        }
        let shown = values::shown(&Value::Text(text()));
        body(dapts::SetVariableResponse { value: shown, ..Default::default() })
    }

    /// The session at the stop that has no outcome yet.
    pub(super) fn open_session(&self) -> Result<RequestId, String> {
        match &self.session {
            Session::Live(_) | Session::Attached(_) => {}
            Session::Recorded | Session::None => {
                return Err(format!("a run that has ended is not changed; {}", self.how_to_fork()));
            }
        }
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
        match timeline.outcome_of(*request, session.start, usize::MAX) {
            None => Ok(*request),
            Some(_) => {
                drop(debuggee);
                Err(format!("the session has its reply already; {}", self.how_to_fork()))
            }
        }
    }

    /// How the recorded part of the run is changed.
    fn how_to_fork(&self) -> String {
        let debuggee = self.debuggee();
        let run = debuggee.timeline.head().map_or("RUN", |head| head.run.as_str());
        let seq = debuggee.timeline.event(debuggee.cursor()).map_or(1, |event| event.seq);
        format!("`prose runs fork {run} --from @{seq}` makes a new run that changes it")
    }

    /// Gives the run a command.
    pub(super) fn send(&self, command: Command) -> Result<(), String> {
        match &self.session {
            Session::Live(live) => live.command(command),
            Session::Attached(attached) => attached.command(command),
            Session::Recorded | Session::None => Err("no process executes the run".to_owned()),
        }
    }

    /// Ends the session at the stop with a reply.
    pub(super) fn give_reply(&mut self, text: Arc<str>) -> Result<String, String> {
        let request = self.open_session()?;
        self.send(Command::Reply { request, text })?;
        Ok("The session has this reply; the agent is not asked.".to_owned())
    }

    /// Asks the session at the stop with another prompt.
    pub(super) fn give_prompt(&mut self, text: Arc<str>) -> Result<String, String> {
        let request = self.open_session()?;
        self.send(Command::Prompt { request, text })?;
        Ok("The session is asked with this prompt.".to_owned())
    }

    fn change_variable(&mut self, name: &str, value: Value) -> Result<Json, String> {
        let _ = value;
        Err(format!("`{name}` is bound by events that are recorded already; {}", {
            let debuggee = self.debuggee();
            let run = debuggee.timeline.head().map_or("RUN", |head| head.run.as_str()).to_owned();
            let seq = debuggee.timeline.event(debuggee.cursor()).map_or(1, |event| event.seq);
            format!("`prose runs fork {run} --from @{seq} --set {name}=…` makes a new run that changes it")
        }))
    }
}
