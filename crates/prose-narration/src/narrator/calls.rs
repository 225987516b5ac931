//! Blocks and imported programs that are called.

use prose_vm::error::RuntimeError;
use prose_vm::event::Event;
use prose_vm::value::Value;
use smol_str::SmolStr;

use super::Narrator;
use crate::markers::Marker;
use crate::text;

/// The number of nested calls from which on the stack is narrated with each new one: two are plain from their own lines.
const SHOWN_FROM: u32 = 3;

/// The maximum number of calls of a stack that are narrated, from the innermost one.
const MAX_SHOWN: usize = 10;

/// A block that is executed.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) id: u32,
    block: SmolStr,
    depth: u32,
    parent: u32,
    pub(super) indent: usize,
}

impl Frame {
    /// Its line in a stack.
    fn line(&self, status: &str) -> String {
        let Frame { id, block, depth, .. } = self;
        format!("execution_id: {id} | block: {block} | depth: {depth} | status: {status}")
    }
}

impl Narrator {
    pub(super) fn frame_entered(
        &mut self,
        event: &Event,
        (id, block, depth, parent): (u32, &SmolStr, u32, u32),
        arguments: &[(SmolStr, SmolStr, Value)],
    ) {
        self.narrate_call(event);
        let indent = self.indent_of_statement(event);
        self.put(
            indent,
            Marker::FrameEntered,
            format!("Entering block: {block} (execution_id: {id}, depth: {depth})"),
        );
        if !arguments.is_empty() {
            let arguments: Vec<String> = arguments
                .iter()
                .map(|(name, source, _)| format!("{name}={}", text::one_line(source)))
                .collect();
            self.detail(indent + 1, format!("Arguments: {}", arguments.join(", ")));
        }
        if parent != 0 {
            self.detail(indent + 1, format!("Parent: execution_id {parent}"));
        }
        self.frames.push(Frame { id, block: block.clone(), depth, parent, indent });
        if depth >= SHOWN_FROM {
            self.stack_of(id, indent + 1);
        }
    }

    /// The calls that a call is in, itself first (F6).
    fn stack_of(&mut self, id: u32, indent: usize) {
        let find = |id: u32| self.frames.iter().rev().find(|frame| frame.id == id);
        let stack = std::iter::successors(find(id), |frame| find(frame.parent));
        let mut lines: Vec<String> = stack
            .take(MAX_SHOWN)
            .map(|frame| frame.line(if frame.id == id { "executing" } else { "waiting" }))
            .collect();
        let depth = find(id).map_or(0, |frame| frame.depth);
        if depth as usize > MAX_SHOWN {
            lines.push(format!("... ({} more)", depth as usize - MAX_SHOWN));
        }
        self.put(indent, Marker::CallStack, format!("Current stack (depth: {depth}):"));
        self.details(indent + 1, lines);
    }

    pub(super) fn frame_left(&mut self, id: u32, block: &str) {
        let Some(at) = self.frames.iter().rposition(|frame| frame.id == id) else { return };
        let frame = self.frames.remove(at);
        self.blank();
        self.put(frame.indent, Marker::FrameLeft, format!("Exiting block: {block} (execution_id: {id})"));
    }

    /// The blocks that are executed, the innermost first.
    pub(super) fn call_stack(&mut self) {
        let Some(top) = self.frames.iter().map(|frame| frame.depth).max() else { return };
        self.put(0, Marker::CallStack, format!("Current stack (depth: {top}):"));
        let lines: Vec<String> = self
            .frames
            .iter()
            .rev()
            .enumerate()
            .map(|(index, frame)| frame.line(if index == 0 { "executing" } else { "waiting" }))
            .collect();
        self.details(1, lines);
    }

    pub(super) fn imported(
        &mut self,
        event: &Event,
        path: &str,
        from: &str,
        inputs: &[SmolStr],
        outputs: &[SmolStr],
        alias: &str,
    ) {
        self.blank();
        let indent = self.indent(event);
        self.put(indent, Marker::Import, format!("Importing: {path}"));
        self.detail(indent + 1, format!("Fetching from: {from}"));
        self.detail(indent + 1, format!("Inputs expected: [{}]", inputs.join(", ")));
        self.detail(indent + 1, format!("Outputs provided: [{}]", outputs.join(", ")));
        self.detail(indent + 1, format!("Registered as: {alias}"));
    }

    pub(super) fn import_called(&mut self, event: &Event, alias: &str, inputs: &[(SmolStr, Value)]) {
        let indent = self.indent_of_statement(event);
        let pairs = inputs.iter().map(|(name, value)| (name.as_str(), value));
        let arguments = text::entries_of(pairs, text::Length::Shortened);
        self.put(indent, Marker::Import, format!("Invoking: {alias}({arguments})"));
        if !inputs.is_empty() {
            self.put(indent + 1, Marker::Input, "Passing inputs:");
            for (name, value) in inputs {
                self.detail(indent + 2, format!("{name} = {}", text::value(value, self.length)));
            }
        }
        self.imports += 1;
    }

    pub(super) fn import_ended(
        &mut self,
        event: &Event,
        alias: &str,
        outputs: &[(SmolStr, Value)],
        error: Option<&RuntimeError>,
    ) {
        self.imports = self.imports.saturating_sub(1);
        self.gave = Some(event.place.clone());
        let indent = self.indent_of_statement(event);
        if !outputs.is_empty() {
            self.blank();
            self.put(indent + 1, Marker::Output, "Received outputs:");
            for (name, value) in outputs {
                self.detail(indent + 2, format!("{name} = {}", text::value(value, self.length)));
            }
        }
        self.blank();
        match error {
            None => self.put(indent, Marker::Import, format!("Import complete: {alias}")),
            Some(error) => {
                let message = text::message(&error.to_string(), self.length);
                self.put(indent, Marker::Warning, format!("Import failed: {alias}: {message}"));
            }
        }
    }
}
