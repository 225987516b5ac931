//! Statements: where the run is.

use prose_vm::event::{Event, StatementKind};
use prose_vm::place::Place;

use super::{Construct, Narrator, parents};
use crate::markers::Marker;

/// A statement that has started.
#[derive(Debug)]
pub(super) struct Statement {
    pub(super) kind: StatementKind,
    pub(super) source: String,
    /// How far its lines are indented.
    pub(super) indent: usize,
    /// Whether a line with its number has said how it is written, so that what follows need not.
    pub(super) is_said: bool,
}

impl Narrator {
    /// The innermost statement that has started at a place or around it.
    pub(super) fn statement(&self, place: &Place) -> Option<&Statement> {
        self.statement_around(place.as_str())
    }

    pub(super) fn statement_around(&self, place: &str) -> Option<&Statement> {
        parents(place).find_map(|place| self.started.get(place))
    }

    /// A program of one statement needs no numbers: its statement is narrated like one inside another.
    pub(super) fn statement_started(
        &mut self,
        event: &Event,
        number: Option<u32>,
        source: &str,
        kind: StatementKind,
    ) {
        self.note_in_branch(&event.place, kind, source);
        let indent = self.indent(event);
        // The position of a run is that of the program that was started; what an imported one does is narrated like a body.
        let number = number.filter(|_| self.imports == 0);
        let is_numbered = number.is_some() && self.statements > 1;
        self.position = number.unwrap_or(self.position);
        if let Some(number) = number.filter(|_| is_numbered) {
            self.blank();
            let source = if source == "parallel" { "parallel block" } else { source };
            self.put(indent, Marker::Position, format!("Statement {number}: {source}"));
        }
        let statement = Statement { kind, source: source.to_owned(), indent, is_said: is_numbered };
        self.started.insert(event.place.as_str().to_owned(), statement);
    }

    /// Joined branches are remembered up to here, since their names are bound after the join; and an error may have led out of anything.
    pub(super) fn statement_ended(&mut self, event: &Event) {
        self.started.remove(event.place.as_str());
        self.forget(&event.place, |construct| !matches!(construct, Construct::Branch(_)));
    }

    /// Says which block is called, where no line has said it.
    pub(super) fn narrate_call(&mut self, event: &Event) {
        let Some(statement) = self.statement(&event.place).filter(|statement| !statement.is_said) else {
            return;
        };
        let (indent, source) = (statement.indent, without_binding(&statement.source).to_owned());
        if self.is_of_block(event) {
            self.blank();
        }
        self.put(indent, Marker::Position, source);
    }

    /// Whether a statement stands directly in the body of a block.
    pub(super) fn is_of_block(&self, event: &Event) -> bool {
        let indent = self.indent_of_statement(event);
        self.frames
            .iter()
            .rev()
            .find(|frame| frame.id == event.frame)
            .is_some_and(|it| indent == it.indent + 1)
    }
}

/// A statement without what it binds: `[Binding]` states that.
pub(crate) fn without_binding(source: &str) -> &str {
    let rest = ["let ", "const ", "output "].iter().find_map(|keyword| source.strip_prefix(keyword));
    match rest.unwrap_or(source).split_once('=') {
        Some((name, value))
            if !value.starts_with('=')
                && name.trim().chars().all(|c| c.is_alphanumeric() || "_-{}, ".contains(c))
                && (rest.is_some() || !name.trim().contains(' ')) =>
        {
            value.trim_start()
        }
        _ => rest.unwrap_or(source),
    }
}
