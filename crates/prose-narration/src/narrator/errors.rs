//! Errors and what catches them.

use prose_vm::error::{ErrorKind, RuntimeError};
use prose_vm::event::{Event, TryPart};
use prose_vm::place::Place;

use super::sessions::kind_word;
use super::{Construct, Narrator, parents};
use crate::markers::Marker;
use crate::text;

/// A `try` that runs.
#[derive(Debug)]
pub(super) struct Try {
    indent: usize,
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
        let it = Try { indent, part: Part::Body };
        self.constructs.insert(event.place.as_str().to_owned(), Construct::Try(it));
    }

    /// Failures of sessions have been told as such.
    pub(super) fn raised(&mut self, event: &Event, error: &RuntimeError) {
        let indent = self.indent_of_statement(event);
        let message = text::message(&error.message, self.extent);
        match error.kind {
            ErrorKind::Session | ErrorKind::Timeout => {}
            ErrorKind::RecursionLimitExceeded => {
                self.put(indent, Marker::Error, format!("RecursionLimitExceeded: {message}"));
            }
            ErrorKind::Thrown => self.put(indent, Marker::Warning, format!("Error thrown: {message}")),
            kind => self.put(indent, Marker::Warning, format!("Error ({}): {message}", kind_word(kind))),
        }
    }

    pub(super) fn caught(&mut self, event: &Event, name: Option<&str>, error: &RuntimeError) {
        let Some(it) = self.try_around(&event.place) else { return };
        it.part = Part::Catch;
        let indent = it.indent;
        if let Some(name) = name {
            let message = text::quoted(&error.message, self.extent);
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

    pub(super) fn try_ended(&mut self, event: &Event, part: TryPart) {
        if part == TryPart::Body {
            self.forget(&event.place, |construct| matches!(construct, Construct::Try(_)));
        }
    }

    fn try_around(&mut self, place: &Place) -> Option<&mut Try> {
        let key = parents(place.as_str())
            .find(|around| matches!(self.constructs.get(*around), Some(Construct::Try(_))))?;
        match self.constructs.get_mut(key) {
            Some(Construct::Try(it)) => Some(it),
            _ => None,
        }
    }
}
