//! The views of a run after each of its events.

use std::borrow::Cow;

use prose_vm::event::{Event, EventKind};

use crate::delta::Delta;
use crate::view::View;

/// The fewest events between two checkpoints.
const MIN_APART: usize = 1024;

/// The events of a run with its view, from which the view after any earlier event is made: from the last checkpoint before it and the events since.
/// Checkpoints are at least as many events apart as there are open parts, so that they cost no more than the events.
#[derive(Debug, Clone, Default)]
pub struct History {
    events: Vec<Event>,
    view: View,
    checkpoints: Vec<View>,
}

impl History {
    /// Takes up the next event. A run that is told from its start again starts a new history.
    pub fn push(&mut self, event: Event) {
        if matches!(event.kind, EventKind::RunStarted(_)) {
            *self = Self::default();
        }
        self.view.apply(&event);
        self.events.push(event);
        let last = self.checkpoints.last().map_or(0, |view| view.revision as usize);
        if self.events.len() - last >= MIN_APART.max(self.view.open_parts()) {
            self.checkpoints.push(self.view.clone());
        }
    }

    /// The events.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// The view after the last event.
    pub fn view(&self) -> &View {
        &self.view
    }

    /// The view after all events up to the one with a number.
    pub fn at(&self, seq: u64) -> Cow<'_, View> {
        let count = self.count(seq);
        if count == self.events.len() {
            return Cow::Borrowed(&self.view);
        }
        let before = self.checkpoints.partition_point(|view| view.revision as usize <= count);
        let mut view =
            before.checked_sub(1).map_or_else(View::default, |last| self.checkpoints[last].clone());
        for event in &self.events[view.revision as usize..count] {
            view.apply(event);
        }
        Cow::Owned(view)
    }

    /// What changed from after the event with one number until after the event with another one.
    pub fn delta(&self, from: u64, to: u64) -> Delta<'_> {
        Delta::new(self.at(to), self.count(from) as u64)
    }

    /// How many events have numbers up to this one.
    fn count(&self, seq: u64) -> usize {
        self.events.partition_point(|event| event.seq <= seq)
    }
}
