//! Names and their values, inputs and outputs.

use prose_vm::effect::{Binding, BindingKind};
use prose_vm::event::Event;
use prose_vm::value::Value;
use smol_str::SmolStr;

use super::Narrator;
use crate::markers::Marker;
use crate::text::{self, Length};

/// What is said of a name that got a value.
pub(super) struct Bound<'a> {
    pub(super) value: &'a Value,
    pub(super) is_reply: bool,
    pub(super) was: Option<&'a str>,
    pub(super) is_mutable: bool,
    pub(super) is_anonymous: bool,
}

impl Narrator {
    pub(super) fn bound(&mut self, event: &Event, binding: &Binding, bound: &Bound<'_>) {
        // Inputs and outputs have markers of their own, and so have the names of branches.
        let is_narrated = matches!(binding.kind, BindingKind::Input | BindingKind::Output)
            || bound.is_anonymous
            || self.lone_name(&event.place).is_some_and(|name| name == binding.name)
            || self.is_joined(event, &binding.name);
        if is_narrated {
            return;
        }
        let name = &binding.name;
        let value =
            if bound.is_reply { "<result>".to_owned() } else { text::value(bound.value, self.length) };
        let is_of_import = self.gave.take().is_some_and(|place| place == event.place);
        let mut words = match (bound.was, bound.is_mutable) {
            (Some(was), _) => {
                let was = text::quoted(was, text::Length::Shortened);
                format!("{name} = {value} (reassignment, was: {was})")
            }
            // The outputs of a program have just been narrated, one by one.
            _ if is_of_import => match bound.value {
                Value::Object(entries) => {
                    let entries = entries.iter().map(|(name, value)| (name.as_str(), value));
                    format!("{name} = {{ {} }}", text::entries_of(entries, text::Length::Shortened))
                }
                _ => format!("{name} = {value}"),
            },
            _ if bound.is_reply => format!("{} {name} = {value}", binding.kind.name()),
            (None, true) => format!("{} {name} = {value} (mutable)", binding.kind.name()),
            (None, false) => format!("{} {name} = {value} (immutable)", binding.kind.name()),
        };
        if binding.frame != 0 {
            words.push_str(&format!(" (execution_id: {})", binding.frame));
        }
        self.say(event, Marker::Binding, words);
    }

    pub(super) fn resolved(&mut self, event: &Event, name: &str, frame: u32) {
        let scope = match frame {
            0 => "root scope".to_owned(),
            frame => format!("execution_id {frame} (parent scope)"),
        };
        self.say(event, Marker::Binding, format!("Resolving '{name}': found in {scope}"));
    }

    /// The inputs of the program that was started. Those of imported programs were narrated with their call.
    pub(super) fn inputs_received(&mut self, inputs: &[(SmolStr, Value)]) {
        if self.imports > 0 || inputs.is_empty() {
            return;
        }
        self.blank();
        self.put(0, Marker::Input, "Inputs received:");
        for (name, value) in inputs {
            self.detail(1, format!("{name} = {} (from caller)", text::input(value, self.length)));
        }
    }

    pub(super) fn input_asked(&mut self, event: &Event, name: Option<&str>, prompt: &str) {
        let prompt = text::quoted(prompt, self.length);
        let name = name.map(|name| format!("{name}, ")).unwrap_or_default();
        self.say(event, Marker::Input, format!("Waiting for input: {name}{prompt}"));
    }

    pub(super) fn input_given(&mut self, event: &Event, name: Option<&str>, value: &Value) {
        if *value == Value::Null {
            // An optional input was not given. It is stated so that a run that is resumed from the narration does not ask again.
            if self.length == Length::Whole {
                let name = name.map(|name| format!(": {name}")).unwrap_or_default();
                self.say(event, Marker::Input, format!("Input not given{name}"));
            }
            return;
        }
        let value = text::input(value, self.length);
        let name = name.map(|name| format!("{name} = ")).unwrap_or_default();
        self.say(event, Marker::Input, format!("Input received: {name}{value} (from caller)"));
    }

    pub(super) fn output_given(&mut self, event: &Event, name: Option<&str>, value: &Value) {
        let value = self.narrated(value, self.replied.as_deref());
        let name = name.map(|name| format!(" {name}")).unwrap_or_default();
        self.say(event, Marker::Output, format!("output{name} = {value} (will return to caller)"));
    }

    /// A value, or only a reference to it where it has been narrated whole as the result of a session: what stands in a context twice costs twice.
    pub(super) fn narrated(&self, value: &Value, reply: Option<&str>) -> String {
        match value {
            Value::Text(text) if self.length == text::Length::Whole && reply == Some(text) => {
                "<result>".to_owned()
            }
            _ => text::value(value, self.length),
        }
    }

    fn is_joined(&self, event: &Event, name: &str) -> bool {
        let parallel = self.parallel_around(event.place.as_str());
        parallel.is_some_and(|parallel| parallel.joined.iter().any(|joined| joined == name))
    }
}
