//! Errors and what catches them.

use prose_vm::error::{ErrorKind, RuntimeError};
use prose_vm::event::Event;
use prose_vm::place::Place;

use super::{Construct, Narrator};
use crate::markers::Marker;
use crate::text;

/// A `try` that runs.
#[derive(Debug)]
pub(super) struct Try {
    indent: usize,
    /// The frame that it is executed in. What a block does that is called from it is narrated as that of the block.
    pub(super) frame: u32,
    pub(super) part: Part,
}

/// Parts of a `try`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Body,
    Catch,
    Finally,
}

impl Part {
    /// What the end of a session is called in it.
    pub(super) fn success(self) -> &'static str {
        match self {
            Part::Body => "Session complete",
            Part::Catch => "Recovery complete",
            Part::Finally => "Cleanup complete",
        }
    }
}

impl Narrator {
    pub(super) fn try_started(&mut self, event: &Event) {
        let indent = self.indent_of_statement(event);
        self.put(indent, Marker::Try, "Entering try block");
        let it = Try { indent, frame: event.frame, part: Part::Body };
        self.start(&event.place, Construct::Try(it));
    }

    /// What failed has been narrated; the error that comes of it says nothing new.
    pub(super) fn raised(&mut self, event: &Event, error: &RuntimeError) {
        if self.failed.take().is_some_and(|message| message == error.message) {
            return;
        }
        let message = text::message(&error.to_string(), self.length);
        match error.kind {
            ErrorKind::RecursionLimitExceeded => self.say(event, Marker::Error, message),
            ErrorKind::Thrown => self.say(event, Marker::Warning, format!("Error thrown: {message}")),
            kind => self.say(event, Marker::Warning, format!("Error ({}): {message}", kind_word(kind))),
        }
    }

    pub(super) fn caught(&mut self, event: &Event, name: Option<&str>, error: &RuntimeError) {
        let Some(it) = self.try_around(&event.place) else { return };
        it.part = Part::Catch;
        let indent = it.indent;
        if let Some(name) = name {
            let message = text::quoted(&error.message, self.length);
            self.put(indent, Marker::Binding, format!("{name} = {{message: {message}}}"));
        }
        self.put(indent, Marker::Try, "Executing catch block");
    }

    pub(super) fn finally_started(&mut self, event: &Event) {
        let Some(it) = self.try_around(&event.place) else { return };
        it.part = Part::Finally;
        let indent = it.indent;
        self.put(indent, Marker::Try, "Executing finally block");
    }

    fn try_around(&mut self, place: &Place) -> Option<&mut Try> {
        self.find_mut(place, |construct| match construct {
            Construct::Try(it) => Some(it),
            _ => None,
        })
    }
}

/// A kind of error as journals write it.
pub(super) fn kind_word(kind: ErrorKind) -> String {
    match serde_json::to_value(kind) {
        Ok(serde_json::Value::String(word)) => word,
        _ => "other".into(),
    }
}
