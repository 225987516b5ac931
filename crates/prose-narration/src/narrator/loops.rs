//! Loops and pipelines.

use prose_vm::event::{Event, LoopEnd, LoopKind};
use prose_vm::place::Place;
use smol_str::SmolStr;

use super::{Construct, Narrator};
use crate::markers::Marker;
use crate::text;

/// A loop that runs.
#[derive(Debug)]
pub(super) struct Loop {
    pub(super) indent: usize,
    pub(super) kind: LoopKind,
    max: Option<u32>,
    /// What the check before the first iteration said, which is narrated only where the iterations do not state it (D1).
    pub(super) first: Option<FirstCheck>,
}

/// The check before the first iteration.
#[derive(Debug, Default)]
pub(super) struct FirstCheck {
    pub(super) verdicts: u32,
    pub(super) lines: Vec<String>,
}

impl Narrator {
    pub(super) fn loop_started(&mut self, event: &Event, kind: LoopKind, header: &str, max: Option<u32>) {
        let indent = self.indent_of_statement(event);
        let is_said = self.statement(&event.place).is_some_and(|statement| statement.is_said);
        let header = text::one_line(header);
        let mut words = "Starting loop".to_owned();
        if !is_said {
            match kind {
                LoopKind::Forever => {}
                LoopKind::Until => words.push_str(&format!(" until {header}")),
                LoopKind::While => words.push_str(&format!(" while {header}")),
                LoopKind::Repeat => words = format!("Starting repeat {header}"),
                LoopKind::For => words = format!("Starting for {header}"),
            }
            if let Some(max) =
                max.filter(|_| matches!(kind, LoopKind::Forever | LoopKind::Until | LoopKind::While))
            {
                words.push_str(&format!(" (max: {max})"));
            }
        }
        self.put(indent, Marker::Loop, words);
        let it = Loop { indent, kind, max, first: Some(FirstCheck::default()) };
        self.start(&event.place, Construct::Loop(it));
    }

    pub(super) fn iteration_started(&mut self, event: &Event, number: u32, max: Option<u32>) {
        let Some(it) = self.loop_around(&event.place) else { return };
        let (indent, kind) = (it.indent, it.kind);
        let first = it.first.take();
        // That an iteration starts states the verdict, if there was one only.
        if let Some(first) = first.filter(|first| first.verdicts > 1) {
            self.details(indent + 1, first.lines);
        }
        let of = match (kind, max) {
            (_, None) => String::new(),
            (LoopKind::Repeat | LoopKind::For, Some(count)) => format!(" of {count}"),
            (_, Some(max)) => format!(" of max {max}"),
        };
        self.blank();
        self.put(indent, Marker::Loop, format!("Iteration {number}{of}"));
    }

    pub(super) fn loop_ended(&mut self, event: &Event, why: LoopEnd, iterations: u32) {
        let Some(it) = self.loop_around(&event.place) else { return };
        let (indent, kind, max) = (it.indent, it.kind, it.max);
        // No iteration states the verdict that ended the loop at once, and a run that is resumed from the narration would ask for it once more.
        if let Some(first) = it.first.take().filter(|first| first.verdicts > 0) {
            self.details(indent + 1, first.lines);
        }
        let words = match why {
            LoopEnd::Satisfied if kind == LoopKind::While => {
                format!("condition no longer satisfied at iteration {iterations}")
            }
            LoopEnd::Satisfied => format!("condition satisfied at iteration {iterations}"),
            LoopEnd::NoProgress => format!("no progress at iteration {iterations}"),
            LoopEnd::Max => format!("max iterations reached ({})", max.unwrap_or(iterations)),
            LoopEnd::Exhausted => format!("all {iterations} iterations done"),
            LoopEnd::Left => format!("left at iteration {iterations}"),
            LoopEnd::Failed => format!("failed at iteration {iterations}"),
        };
        self.blank();
        self.put(indent, Marker::Loop, format!("Loop exited: {words}"));
        self.forget(&event.place, |construct| matches!(construct, Construct::Loop(_)));
    }

    /// The innermost loop that a place is in.
    pub(super) fn loop_around(&mut self, place: &Place) -> Option<&mut Loop> {
        self.find_mut(place, |construct| match construct {
            Construct::Loop(it) => Some(it),
            _ => None,
        })
    }

    pub(super) fn pipeline_started(&mut self, event: &Event, stages: &[SmolStr], items: u32) {
        let stages = stages.join(" | ");
        self.say(event, Marker::Pipeline, format!("Starting pipeline: {stages} ({items} items)"));
    }

    pub(super) fn stage_started(&mut self, event: &Event, operator: &str, items: u32) {
        if operator == "pmap" {
            self.start(&event.place, Construct::Stage);
        }
        self.say(event, Marker::Pipeline, format!("Stage {operator}: {items} items"));
    }

    pub(super) fn stage_ended(&mut self, event: &Event, operator: &str, items: u32) {
        self.forget(&event.place, |construct| matches!(construct, Construct::Stage));
        self.say(event, Marker::Pipeline, format!("Stage {operator} complete: {items} items"));
    }
}
