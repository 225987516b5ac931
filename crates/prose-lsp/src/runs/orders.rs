//! The commands about runs, with their arguments.

use prose_vm::value::Value as ProgramValue;
use serde::Deserialize;
use serde_json::{Map, Value};
use smol_str::SmolStr;

use crate::protocol::request::Answer;

/// What a person wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunCommandKind {
    /// Run a program, or one of its blocks.
    Run,
    /// See what its sessions would be told.
    DryRun,
    /// Go on with a run.
    Resume,
    /// See the first of the errors that keep a program from being run.
    ShowError,
    /// End a run, or all runs of a program.
    Cancel,
}

pub(crate) const RUN: &str = "prose.run";
pub(crate) const DRY_RUN: &str = "prose.dryRun";
pub(crate) const RESUME: &str = "prose.resume";
pub(crate) const SHOW_ERROR: &str = "prose.showError";
pub(crate) const CANCEL: &str = "prose.cancel";

/// The names of the commands.
pub(crate) const COMMANDS: &[(&str, RunCommandKind)] = &[
    (RUN, RunCommandKind::Run),
    (DRY_RUN, RunCommandKind::DryRun),
    (RESUME, RunCommandKind::Resume),
    (SHOW_ERROR, RunCommandKind::ShowError),
    (CANCEL, RunCommandKind::Cancel),
];

/// A command about a run.
pub(crate) struct RunCommand {
    pub(crate) what: RunCommandKind,
    pub(crate) given: Given,
    pub(crate) answer: Answer,
}

/// The argument of a command, as docs/editor-commands.md describes it.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Given {
    /// The program.
    pub(crate) uri: Option<String>,
    /// The run, where there may be several.
    pub(crate) run: Option<SmolStr>,
    /// The block, if not the whole program is meant.
    pub(crate) block: Option<SmolStr>,
    /// The inputs of the program.
    #[serde(default)]
    inputs: Map<String, Value>,
    /// The parameters of the block.
    #[serde(default)]
    arguments: Map<String, Value>,
    /// Who answers sessions.
    pub(crate) harness: Option<String>,
    /// The file that the harness `script` answers from.
    pub(crate) script: Option<String>,
    /// Whether a run goes on although its program has changed.
    #[serde(default)]
    pub(crate) accept_changes: bool,
}

impl Given {
    /// The inputs and the parameters, which are the inputs of the program that runs a block.
    pub(crate) fn inputs(&self) -> Vec<(SmolStr, ProgramValue)> {
        let given = self.inputs.iter().chain(&self.arguments);
        given.map(|(name, value)| (name.into(), ProgramValue::from_json(value))).collect()
    }
}

impl RunCommand {
    /// Which of the commands about runs the parameters of `workspace/executeCommand` name, if they name one.
    pub(crate) fn kind(params: &Value) -> Option<RunCommandKind> {
        let name = name(params);
        COMMANDS.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
    }

    /// Reads the parameters of `workspace/executeCommand`.
    pub(crate) fn read(what: RunCommandKind, params: &Value, answer: Answer) -> Result<Self, String> {
        let name = name(params);
        let argument = params.pointer("/arguments/0").unwrap_or(&Value::Null);
        let given = Given::deserialize(argument).map_err(|problem| {
            format!("`{name}` takes one argument, such as {{ \"uri\": \"file:///…\" }}: {problem}")
        })?;
        if given.uri.is_none() && (what != RunCommandKind::Cancel || given.run.is_none()) {
            return Err(format!(
                "`{name}` has to be told which program it is about: {{ \"uri\": \"file:///…\" }}"
            ));
        }
        Ok(Self { what, given, answer })
    }
}

fn name(params: &Value) -> &str {
    params.get("command").and_then(Value::as_str).unwrap_or_default()
}
