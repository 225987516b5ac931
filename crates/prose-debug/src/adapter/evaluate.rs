//! Requests about expressions: hover, watches, the debug console, and completion.

use std::io::Write;

use prose_vm::value::Value;
use serde_json::Value as Json;

use super::stack::{Frame, frames};
use super::{Adapter, Session, body};
use crate::breakpoints::special;
use crate::debuggee::{Debuggee, Step};
use crate::expression::Expression;
use crate::values;

/// What can be written in the debug console in addition to expressions, with what it does.
const COMMANDS: [(&str, &str); 8] = [
    (":reply", "gives the session a reply; the agent is not asked"),
    (":prompt", "asks the session with another prompt"),
    (":skip", "ends the session with an empty result"),
    (":retry", "starts the session again"),
    (":fork", "continues with a fork of the run, which asks again what comes after this point"),
    (":answer", "answers the question of the run"),
    (":session", "continues to the next session"),
    (":help", "lists these commands"),
];

/// The value of a name as a frame sees it.
fn look_up(debuggee: &Debuggee, frame: Option<Frame>, name: &str) -> Option<Value> {
    let (timeline, cursor) = (&debuggee.timeline, debuggee.cursor());
    let seen = frame.and_then(|frame| timeline.look_up(frame.part, cursor, name));
    seen.or_else(|| special(timeline, cursor, name))
}

impl<W: Write> Adapter<W> {
    pub(super) fn frame(&self, id: Option<u64>) -> Result<Option<Frame>, String> {
        match id.filter(|id| *id > 0) {
            Some(id) => self.handles.find_frame(id).map(Some),
            None => {
                let debuggee = self.debuggee();
                Ok(frames(&debuggee, debuggee.thread()).first().copied())
            }
        }
    }

    pub(super) fn evaluate(&mut self, arguments: dapts::EvaluateArguments) -> Result<Json, String> {
        let text = arguments.expression.trim().to_owned();
        let is_whole = arguments.context == Some(dapts::EvaluateArgumentsContext::Clipboard);
        if text.starts_with(':') {
            let result = self.command(&text)?;
            return body(dapts::EvaluateResponse { result, ..Default::default() });
        }
        let frame = self.frame(arguments.frame_id)?;
        let expression = Expression::parse(&text)?;
        let value = {
            let debuggee = self.debuggee();
            expression.value(&|name| look_up(&debuggee, frame, name))?
        };
        let (named, indexed) = values::counts(&value);
        body(dapts::EvaluateResponse {
            result: if is_whole { value.to_string() } else { values::shown(&value) },
            ty: Some(value.kind().to_owned()),
            variables_reference: self.reference(&value) as u32,
            named_variables: Some(named as u32).filter(|_| named > 0),
            indexed_variables: Some(indexed as u32).filter(|_| indexed > 0),
            ..Default::default()
        })
    }

    /// Performs a command of the debug console.
    fn command(&mut self, text: &str) -> Result<String, String> {
        let (command, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let rest = rest.trim();
        match command {
            ":reply" if rest.is_empty() => Err("`:reply` takes the reply".to_owned()),
            ":reply" => self.give_reply(rest.into()),
            ":prompt" if rest.is_empty() => Err("`:prompt` takes the prompt".to_owned()),
            ":prompt" => self.give_prompt(rest.into()),
            ":skip" => self.skip_session(),
            ":retry" => self.retry_session(),
            ":fork" => self.fork_here(),
            ":answer" => {
                self.give_answer(rest)?;
                Ok("The question is answered.".to_owned())
            }
            ":session" => {
                let thread = self.debuggee().thread();
                if self.debuggee().is_running() {
                    return Err("the run is executed; pause it first".to_owned());
                }
                self.move_on(Step::Session, thread);
                Ok("Continues to the next session.".to_owned())
            }
            _ => {
                let lines = COMMANDS.map(|(name, what)| format!("{name:<9} {what}"));
                Ok(lines.join("\n"))
            }
        }
    }

    fn give_answer(&self, text: &str) -> Result<(), String> {
        match &self.session {
            Session::Live(live) => {
                let by = prose_run::questions::user(prose_vm::activity::AnswerSource::Editor);
                live.desk.answer(None, text, by).map_err(|error| error.to_string())
            }
            Session::Attached(attached) => attached.answer(text),
            Session::Recorded | Session::None => Err("a run that has ended asks nothing".to_owned()),
        }
    }

    pub(super) fn completions(&mut self, arguments: dapts::CompletionsArguments) -> Result<Json, String> {
        let column = (arguments.column as usize).saturating_sub(1);
        let text: String = arguments.text.chars().take(column).collect();
        let item = |label: &str, detail: Option<&str>| dapts::CompletionItem {
            label: label.to_owned(),
            detail: detail.map(str::to_owned),
            text: None,
            ty: None,
            length: None,
            start: None,
            selection_start: None,
            selection_length: None,
            sort_text: None,
        };
        if text.trim_start().starts_with(':') {
            let commands = COMMANDS.iter().map(|(name, what)| dapts::CompletionItem {
                text: Some(name.trim_start_matches(':').to_owned()),
                ..item(name, Some(what))
            });
            return body(dapts::CompletionsResponse { targets: commands.collect() });
        }
        let frame = self.frame(arguments.frame_id)?;
        let debuggee = self.debuggee();
        // After a dot come the fields of what is before it.
        let start =
            text.rfind(|letter: char| !(letter.is_alphanumeric() || letter == '_')).map_or(0, |at| at + 1);
        let path = text[..start].strip_suffix('.').map(|base| {
            let is_outside = |letter: char| !(letter.is_alphanumeric() || "_.[]\"".contains(letter));
            base.rfind(is_outside).map_or(base, |at| &base[at + 1..])
        });
        let targets = match path.and_then(Expression::path) {
            Some(path) => {
                let value = path.value(&|name| look_up(&debuggee, frame, name));
                let rows = value.map(|value| values::rows(&value, 0, usize::MAX)).unwrap_or_default();
                let named = rows.iter().filter(|row| !row.name.starts_with('['));
                named.map(|row| item(&row.name, Some(row.value.kind()))).collect()
            }
            None => {
                let (timeline, cursor) = (&debuggee.timeline, debuggee.cursor());
                let part = frame.map_or(crate::timeline::RUN, |frame| frame.part);
                let mut names: Vec<_> = timeline.variables(part, cursor);
                for outer in timeline.variables(timeline.root_of(part), cursor) {
                    if names.iter().all(|known| known.name != outer.name) {
                        names.push(outer);
                    }
                }
                names.iter().map(|variable| item(&variable.name, Some(variable.value.kind()))).collect()
            }
        };
        body(dapts::CompletionsResponse { targets })
    }
}
