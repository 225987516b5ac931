//! The points at which a fork can leave a recorded run, as users write them.

use std::str::FromStr;

use prose_vm::place::{NamedLine, Place, imported_name};

/// A point in a recorded run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Point {
    /// Before the first execution of the statement at a line.
    Line(NamedLine),
    /// Before a place in the execution.
    Place(Place),
    /// Before the event with a number.
    Event(u64),
    /// Before the last execution of the statement at which the run failed.
    Failure,
}

/// The written form of [`Point::Failure`].
const FAILURE: &str = "failure";

impl FromStr for Point {
    type Err = String;

    /// Reads `12`, `lib.prose:12`, `@340`, `s4/i2/1` and `failure`.
    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || {
            "expected a line such as `12` or `lib.prose:12`, a place such as `s4/i2/1`, an event such as `@340`, or `failure`"
                .to_owned()
        };
        if text == FAILURE {
            return Ok(Self::Failure);
        }
        if let Some(event) = text.strip_prefix('@') {
            return event.parse().map(Self::Event).map_err(|_| expected());
        }
        // No place has a colon.
        if let Some((program, line)) = text.rsplit_once(':') {
            let line = line.parse().ok().filter(|_| !program.is_empty()).ok_or_else(expected)?;
            return Ok(Self::Line(NamedLine { program: Some(imported_name(program)), line }));
        }
        if text.starts_with(|first: char| first.is_ascii_digit()) {
            return text.parse().map(Self::of_line).map_err(|_| expected());
        }
        match serde_json::from_value(text.into()) {
            Ok(place) if !text.is_empty() => Ok(Self::Place(place)),
            _ => Err(expected()),
        }
    }
}

impl Point {
    /// A line of the program of the run, from 1.
    pub fn of_line(line: u32) -> Self {
        Self::Line(NamedLine { program: None, line })
    }

    /// What messages call it that count lines in a document, in which the program starts after `first_line` lines.
    pub(crate) fn shown(&self, first_line: u32) -> String {
        match self {
            Point::Line(line) => line.clone().in_document(first_line).to_string(),
            Point::Place(place) => place.to_string(),
            Point::Event(event) => format!("event {event}"),
            Point::Failure => FAILURE.to_owned(),
        }
    }
}
