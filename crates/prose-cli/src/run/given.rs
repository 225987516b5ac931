//! Inputs that are given on the command line, in a file or at the terminal.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use prose_syntax::suggest::nearest;
use prose_vm::effect::InputRequest;
use prose_vm::harness::Answer;
use prose_vm::program::Program;
use prose_vm::runner::{Inputs, NoInputs};
use prose_vm::value::Value;
use smol_str::SmolStr;

use super::progress::Bars;
use super::terminal_inputs::TerminalInputs;

/// The inputs of a run: those of the file, and those of the command line in their place. What the program does not take is refused.
pub(crate) fn read(
    given: &[(String, String)],
    file: Option<&Path>,
    program: &Program,
) -> Result<Vec<(SmolStr, Value)>, String> {
    let mut inputs = match file {
        Some(path) => read_file(path)?,
        None => Vec::new(),
    };
    for (name, value) in given {
        inputs.retain(|(known, _)| known != name);
        inputs.push((name.into(), Value::text(value.as_str())));
    }
    for (name, _) in &inputs {
        if program.takes_input(name) {
            continue;
        }
        let names = program.inputs();
        let hint = match nearest(name, &names, |name| name) {
            Some(near) => format!("did you mean `{near}`?"),
            None if names.is_empty() => "it has none".to_owned(),
            None => format!("it has `{}`", names.join("`, `")),
        };
        return Err(format!("the program has no input `{name}`; {hint}"));
    }
    Ok(inputs)
}

fn read_file(path: &Path) -> Result<Vec<(SmolStr, Value)>, String> {
    let shown = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|error| format!("the inputs in `{shown}` cannot be read: {error}"))?;
    let is_json = path.extension().is_some_and(|extension| extension == "json");
    let json: serde_json::Value = if is_json {
        serde_json::from_str(&text).map_err(|error| format!("`{shown}` is no JSON: {error}"))?
    } else {
        toml::from_str(&text).map_err(|error| format!("`{shown}` is no TOML: {error}"))?
    };
    match json {
        serde_json::Value::Object(entries) => {
            Ok(entries.iter().map(|(name, value)| (name.into(), Value::from_json(value))).collect())
        }
        _ => Err(format!("`{shown}` should hold an object with a value for each input")),
    }
}

/// What is given for inputs that the program waits for.
#[derive(Default)]
pub(crate) struct GivenInputs {
    given: Mutex<HashMap<SmolStr, Value>>,
    terminal: Option<TerminalInputs>,
    makes_up: bool,
}

impl GivenInputs {
    /// Those of the command line.
    pub(crate) fn new(given: &[(String, String)]) -> Self {
        let given = given.iter().map(|(name, value)| (name.into(), Value::text(value.as_str())));
        Self { given: Mutex::new(given.collect()), ..Self::default() }
    }

    /// The same, and the person at the terminal for the rest, if there is one.
    pub(crate) fn before(mut self, bars: Bars) -> Self {
        self.terminal = TerminalInputs::new(bars);
        self
    }

    /// The same; what is not given is made up, for dry runs.
    pub(crate) fn made_up(mut self) -> Self {
        self.makes_up = true;
        self
    }
}

impl Inputs for GivenInputs {
    fn give<'a>(&'a self, input: &'a InputRequest) -> Answer<'a, Value> {
        let given = input
            .name
            .as_ref()
            .and_then(|name| self.given.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned());
        if let Some(value) = given {
            return Box::pin(async move { Ok(value) });
        }
        if self.makes_up {
            let name = input.name.clone().unwrap_or_else(|| "input".into());
            return Box::pin(async move { Ok(Value::text(format!("[{name}]"))) });
        }
        match &self.terminal {
            Some(terminal) => terminal.give(input),
            None => NoInputs.give(input),
        }
    }
}
