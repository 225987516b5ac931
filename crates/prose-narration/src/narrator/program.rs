//! The start and the end of runs, and what programs define.

use prose_vm::budget::Maximum;
use prose_vm::event::{DefinedAgent, DefinedBlock, Event, RunEnd, RunHead, RunStatus, StateMode};

use super::Narrator;
use crate::markers::Marker;
use crate::suitability::announcement;
use crate::text;

/// A limit as the flag that sets it.
fn flag(limit: &Maximum) -> String {
    let key = limit.key();
    match limit {
        Maximum::Cost(cost) => format!("--{key} {cost}"),
        Maximum::Tokens(tokens) => format!("--{key} {tokens}"),
        Maximum::Sessions(sessions) => format!("--{key} {sessions}"),
    }
}

impl Narrator {
    /// Says where the state is kept, and of which program, so that a run can be resumed from its narration alone.
    pub(super) fn run_started(&mut self, head: &RunHead) {
        if head.state != StateMode::InContext {
            return;
        }
        let (lines, warning) = announcement(self.size.as_ref());
        self.details(0, lines);
        self.detail(1, format!("Program: {} (run {}, sha256 {})", head.from, head.run, head.sha256));
        let timeout = head.timeout_ms.map(|time| format!("--timeout {time}ms"));
        let limits: Vec<String> = head.caps.iter().map(flag).chain(timeout).collect();
        if !limits.is_empty() {
            self.detail(1, format!("Limits: {}", limits.join(" ")));
        }
        if let Some(warning) = warning {
            self.put(0, Marker::Warning, warning);
        }
        self.blank();
    }

    pub(super) fn defined(
        &mut self,
        event: &Event,
        program: u32,
        agents: &[DefinedAgent],
        blocks: &[DefinedBlock],
        statements: u32,
    ) {
        let indent = match program {
            0 => {
                self.statements = statements;
                self.blank();
                self.put(0, Marker::Program, "Program Start");
                1
            }
            _ if agents.is_empty() && blocks.is_empty() => return,
            _ => self.indent(event),
        };
        self.detail(indent, "Collecting definitions...");
        for agent in agents {
            let mut about = Vec::new();
            about.extend(agent.model.as_ref().map(|model| format!("model: {model}")));
            about.extend(agent.memory.as_ref().map(|memory| format!("memory: {}", memory.folder)));
            let about = if about.is_empty() { String::new() } else { format!(" ({})", about.join(", ")) };
            self.detail(indent, format!("- Agent: {}{about}", agent.name));
        }
        for block in blocks {
            self.detail(indent, format!("- Block: {}({})", block.name, block.params.join(", ")));
        }
        if program == 0 {
            self.blank();
        }
    }

    pub(super) fn warned(&mut self, event: &Event, message: &str) {
        self.say(event, Marker::Warning, text::message(message, self.length));
    }

    pub(super) fn resumed(&mut self) {
        self.blank();
        self.put(0, Marker::Program, format!("Program Resumed at {}", self.position_words()));
        self.call_stack();
    }

    pub(super) fn run_ended(&mut self, end: &RunEnd) {
        self.blank();
        match (end.status, &end.error) {
            (RunStatus::Completed, _) => self.put(0, Marker::Program, "Program Complete"),
            (RunStatus::Failed, error) => {
                let message = error.as_ref().map_or(String::new(), |error| {
                    format!(": {}", text::message(&error.to_string(), self.length))
                });
                self.put(0, Marker::Program, format!("Program Failed at {}{message}", self.position_words()));
            }
            (RunStatus::Interrupted | RunStatus::Waiting, _) => {
                self.put(0, Marker::Program, format!("Program Interrupted at {}", self.position_words()));
                self.call_stack();
            }
        }
    }

    fn position_words(&self) -> String {
        format!("Statement {} of {}", self.position, self.statements)
    }
}
