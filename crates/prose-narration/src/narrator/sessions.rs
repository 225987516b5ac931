//! Sessions: what is asked of subagents, and what they answer.

use std::sync::Arc;

use prose_vm::effect::{MemoryPlace, Outcome, RequestId, SessionTask};
use prose_vm::error::{ErrorKind, RuntimeError};
use prose_vm::event::{Event, StatementKind};

use super::errors::{Part, kind_word};
use super::statements::without_binding;
use super::{Construct, Narrator};
use crate::markers::Marker;
use crate::text::{self, Length};

/// A session that runs.
#[derive(Debug)]
pub(super) struct Session {
    indent: usize,
    /// What its line says when it ends well.
    success: &'static str,
}

impl Narrator {
    pub(super) fn session_started(&mut self, event: &Event, request: RequestId, task: &SessionTask) {
        let indent = self.indent_of_statement(event);
        let mut session = Session { indent, success: "Session complete" };
        // An attempt after a failure has been announced by the line that mentions the retry.
        if task.attempt == 0 {
            self.note_session_in_branch(&event.place);
            if self.is_lone(&event.place) {
                self.add_task(event, &task.task);
            } else {
                session.success = self.narrate_session(event, indent, task);
            }
        } else if let Some(part) = self.part_of_try(event) {
            session.success = part.success();
        }
        self.sessions.insert(request, session);
    }

    /// Narrates the task of a session; returns the words for its end.
    ///
    /// A statement of a program or of a block shows the call of the
    /// task below its line; in bodies a line has to do, and one for the context where some is passed.
    fn narrate_session(&mut self, event: &Event, indent: usize, task: &SessionTask) -> &'static str {
        let is_said = self.statement(&event.place).is_some_and(|statement| statement.is_said);
        let is_of_program = event.nesting == 0;
        if !is_said {
            if self.is_of_block(event) {
                self.blank();
            }
            let words = self.session_words(event, task);
            let executing =
                if is_of_program && self.part_of_try(event).is_none() { "Executing: " } else { "" };
            self.put(indent, Marker::Position, format!("{executing}{words}"));
        }
        if !self.statement(&event.place).is_some_and(|it| it.source.contains(&*task.task)) {
            let prompt = text::quoted(&task.task, Length::Shortened);
            self.detail(indent + 1, format!("Spawning with prompt: {prompt}"));
        }
        if let Some(model) = &task.model {
            self.detail(indent + 1, format!("Model: {model}"));
        }
        if let Some(part) = self.part_of_try(event) {
            return part.success();
        }
        if is_said || is_of_program || self.is_of_block(event) {
            let call =
                if task.context.is_empty() { "[Task tool call]" } else { "[Task with serialized context]" };
            self.detail(indent + 1, call);
        } else if !task.context.is_empty() {
            self.detail(indent, "[Task with serialized context]");
            return "Result";
        }
        "Session complete"
    }

    fn session_words(&self, event: &Event, task: &SessionTask) -> String {
        let source = self.statement(&event.place).and_then(|statement| {
            let has_one = statement.kind != StatementKind::Pipeline && !statement.source.contains("->");
            let source = without_binding(&statement.source);
            let is_session = source.starts_with("session") || source.starts_with("resume");
            (has_one && is_session).then(|| source.to_owned())
        });
        let mut words = source.unwrap_or_else(|| {
            let prompt = text::quoted(&task.task, Length::Shortened);
            match &task.agent {
                Some(agent) => format!("session {prompt}: {agent}"),
                None => format!("session {prompt}"),
            }
        });
        let names: Vec<&str> = task.context.iter().map(|item| item.name.as_str()).collect();
        match names.as_slice() {
            [] => {}
            [name] => words.push_str(&format!(" with context: {name}")),
            _ => words.push_str(&format!(" with context: {{{}}}", names.join(", "))),
        }
        words
    }

    pub(super) fn session_ended(&mut self, event: &Event, request: RequestId, error: Option<&RuntimeError>) {
        let Some(session) = self.sessions.remove(&request) else { return };
        match (self.outcomes.remove(&request), error) {
            (Some(Outcome::Reply(reply)), None) => {
                if let Some(name) = self.lone_name(&event.place) {
                    self.lone_replied(event, &name, &reply.text);
                } else {
                    let result = text::quoted(&reply.text, self.length);
                    self.put(session.indent, Marker::Success, format!("{}: {result}", session.success));
                }
                self.replied = Some(reply.text.clone());
            }
            (Some(Outcome::Failed(failure)), _) => {
                self.session_failed(event, session.indent, failure.kind, &failure.message);
            }
            (_, Some(error)) => self.session_failed(event, session.indent, error.kind, &error.message),
            // It was cancelled: the branch or the join states so.
            (_, None) => {}
        }
    }

    fn session_failed(&mut self, event: &Event, indent: usize, kind: ErrorKind, message: &str) {
        self.failed = Some(message.to_owned());
        let message = text::message(message, self.length);
        let kind = match kind {
            ErrorKind::Session => String::new(),
            kind => format!(" ({})", kind_word(kind)),
        };
        match self.lone_name(&event.place) {
            Some(name) => {
                let indent = self.indent_of_branch(&event.place);
                self.detail(indent, format!("- {name}: failed{kind}: {message}"));
            }
            None => self.put(indent, Marker::Warning, format!("Session failed{kind}: {message}")),
        }
    }

    pub(super) fn retrying(&mut self, event: &Event, attempt: u32, retries: u32, error: &RuntimeError) {
        let words =
            format!("Retry {attempt} of {retries}, error: {}", text::quoted(&error.message, self.length));
        match self.lone_name(&event.place) {
            Some(name) => {
                let indent = self.indent_of_branch(&event.place);
                let words = words.replacen("Retry", "retry", 1);
                self.detail(indent, format!("- {name}: {words}"));
            }
            None => self.say(event, Marker::Warning, words),
        }
    }

    /// What came of a request is narrated with the event that says what it means; a few have no such event.
    pub(super) fn effect(&mut self, event: &Event, request: RequestId, kind: &str, outcome: &Outcome) {
        if !matches!(kind, "session" | "sleep") && self.length == Length::Whole {
            self.narrate_at_length(&event.place);
        }
        match (kind, outcome) {
            ("extract" | "summarise", Outcome::Value(value)) if self.length == Length::Whole => {
                let verb = if kind == "extract" { "Extracted" } else { "Summarised" };
                self.say(event, Marker::Binding, format!("{verb}: {}", text::value(value, self.length)));
            }
            ("memory", Outcome::Memory(memory)) if self.length == Length::Whole => {
                let text = memory.text.as_deref().map_or("null".into(), |it| text::quoted(it, self.length));
                self.say(event, Marker::Binding, format!("Memory: {text} (segments: {})", memory.segments));
            }
            ("file", Outcome::Value(value)) if self.length == Length::Whole => {
                self.say(event, Marker::Binding, format!("File: {}", text::value(value, self.length)));
            }
            ("session", _) | ("judge", Outcome::Verdict(_)) => {
                self.outcomes.insert(request, outcome.clone());
            }
            // The warning after it says the same.
            ("file", Outcome::Failed(_)) if self.length != Length::Whole => {}
            ("file-check", Outcome::Failed(_)) => {}
            (_, Outcome::Failed(failure)) => {
                self.failed = Some(failure.message.clone());
                let message = text::message(&failure.message, self.length);
                let failed = kind_word(failure.kind);
                self.say(event, Marker::Warning, format!("No answer to {kind} ({failed}): {message}"));
            }
            _ => {}
        }
    }

    pub(super) fn memory_written(
        &mut self,
        event: &Event,
        place: &MemoryPlace,
        memory: &Arc<str>,
        segment: u32,
    ) {
        let memory = text::quoted(memory, self.length);
        let words = format!("memory of {} = {memory} (segment: {segment})", place.agent);
        self.say(event, Marker::Binding, words);
    }

    /// The part of the `try` that something happens directly in.
    fn part_of_try(&self, event: &Event) -> Option<Part> {
        match self.around(event.place.as_str()).next() {
            Some(Construct::Try(it)) if it.frame == event.frame => Some(it.part),
            _ => None,
        }
    }
}
