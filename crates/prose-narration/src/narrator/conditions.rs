//! Verdicts and choices.

use prose_vm::effect::{Outcome, RequestId};
use prose_vm::event::{ConditionOf, Event, LoopKind};

use super::Narrator;
use crate::markers::Marker;
use crate::text;

impl Narrator {
    pub(super) fn condition_asked(
        &mut self,
        event: &Event,
        request: Option<RequestId>,
        text: &str,
        of: ConditionOf,
    ) {
        let text = text::one_line(text);
        // A condition that a program decides without a model is no discretion and stands without its marks.
        let is_bare = request.is_some() && !text.starts_with("**");
        let words = if is_bare { format!("Evaluating: **{text}**") } else { format!("Evaluating: {text}") };
        if let Some(request) = request {
            self.judging.insert(event.place.as_str().to_owned(), request);
        }
        match self.place_of_condition(event, of) {
            (indent, true) => self.hold_back(event, indent, Marker::Loop, words, false),
            (indent, false) => {
                let marker = if of == ConditionOf::Loop { Marker::Loop } else { Marker::Flow };
                self.put(indent, marker, words);
            }
        }
    }

    pub(super) fn condition_judged(&mut self, event: &Event, met: bool, reason: &str, of: ConditionOf) {
        let outcome =
            self.judging.remove(event.place.as_str()).and_then(|request| self.outcomes.remove(&request));
        let is_stuck = matches!(&outcome, Some(Outcome::Verdict(verdict)) if verdict.no_progress);
        let goes_on = of == ConditionOf::Loop && !is_stuck;
        let is_while = self.loop_around(&event.place).is_some_and(|it| it.kind == LoopKind::While)
            && of == ConditionOf::Loop;
        let mut words = if met { "Satisfied".to_owned() } else { "Not satisfied".to_owned() };
        match (reason.is_empty(), met) {
            (true, true) if is_while && goes_on => words.push_str(", continuing"),
            (true, false) if !is_while && goes_on => words.push_str(", continuing"),
            (_, true) => words.push('!'),
            (_, false) => {}
        }
        if is_stuck {
            words.push_str(", no progress");
        }
        if !reason.is_empty() {
            words.push_str(&format!(" ({})", text::message(reason, self.length)));
        }
        match self.place_of_condition(event, of) {
            (indent, true) => self.hold_back(event, indent, Marker::Flow, words, outcome.is_some()),
            (indent, false) => self.put(indent, Marker::Flow, words),
        }
    }

    /// How far a condition is indented, and whether it is that of a loop whose first iteration has not started.
    fn place_of_condition(&mut self, event: &Event, of: ConditionOf) -> (usize, bool) {
        let indent = self.indent_of_statement(event);
        match (of, self.loop_around(&event.place)) {
            (ConditionOf::Loop, Some(it)) => (it.indent + 1, it.first.is_some()),
            _ => (indent, false),
        }
    }

    fn hold_back(&mut self, event: &Event, indent: usize, marker: Marker, words: String, is_verdict: bool) {
        let marker = self.markers.write(marker);
        if let Some(first) = self.loop_around(&event.place).and_then(|it| it.first.as_mut()) {
            first.verdicts += u32::from(is_verdict);
            first.lines.push(format!("{marker} {words}"));
        } else {
            self.detail(indent, format!("{marker} {words}"));
        }
    }

    pub(super) fn chosen(&mut self, event: &Event, criterion: &str, label: &str, reason: &str) {
        let criterion = text::one_line(criterion);
        let label = text::quoted(label, text::Length::Whole);
        let reason = match reason {
            "" => String::new(),
            reason => format!(" ({})", text::message(reason, self.length)),
        };
        let stars = if criterion.starts_with("**") { "" } else { "**" };
        self.say(event, Marker::Flow, format!("Chose for {stars}{criterion}{stars}: {label}{reason}"));
    }
}
