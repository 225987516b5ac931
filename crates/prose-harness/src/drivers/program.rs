//! The programs of agents that drivers start.

use std::io;
use std::path::Path;

use prose_vm::effect::Failure;

use crate::command::environment;
use crate::process::{self, Program};

/// The program of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentProgram {
    /// Its name, which is searched in `PATH`, or its path.
    pub program: String,
    /// The arguments before those of the driver.
    pub arguments: Vec<String>,
    /// The environment variables that it receives in addition to [`crate::command::ALWAYS_PASSED`]; a trailing `*` is a wildcard.
    pub variables: Vec<String>,
    /// Names of models that it does not support, so that it uses its default.
    pub unknown_models: Vec<String>,
    /// How to install it, as a command.
    pub install: &'static str,
}

impl AgentProgram {
    /// The program with further arguments, in a folder.
    pub(super) fn start(&self, arguments: &[String], folder: &Path) -> Program {
        Program {
            program: self.program.clone(),
            arguments: self.arguments.iter().chain(arguments).cloned().collect(),
            folder: folder.to_owned(),
            variables: environment::passed(&self.variables),
        }
    }
}

/// The failure of a program that does not start, with a hint how to fix it.
pub(super) fn not_started(name: &str, agent: &AgentProgram, folder: &Path, error: &io::Error) -> Failure {
    process::not_started(name, &agent.program, folder, Some(agent.install), error)
}

/// The warning about an unsupported model.
pub(super) fn unknown_model(name: &str, model: &str) -> String {
    format!(
        "{name} does not support the model `{model}` and uses its default; map `{model}` in `[models]` in `prose.toml`"
    )
}
