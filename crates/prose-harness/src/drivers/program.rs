//! The programs of agents that drivers start.

use std::collections::HashSet;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use super::provider::KnownProvider;
use crate::command::environment;
use crate::gate::Gate;
use crate::process::Program;

/// A known agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownAgent {
    /// Its program, which is searched in `PATH`.
    pub program: &'static str,
    /// The command that installs it.
    pub install: &'static str,
    /// The environment variables with its keys and settings; a trailing `*` is a wildcard.
    pub variables: &'static [&'static str],
    /// The arguments with which it succeeds if it is signed in; `None` if it cannot be asked.
    pub sign_in_status: Option<&'static [&'static str]>,
    /// Names of models that it does not support, so that it uses its default.
    pub unknown_models: &'static [&'static str],
    /// The model of sessions that name none, as far as it is known.
    pub default_model: Option<&'static str>,
}

/// Names of models that stand for the sizes of one provider's models (R24, decision 5).
pub(super) const SIZES: &[&str] = &["haiku", "sonnet", "opus"];

impl KnownAgent {
    /// Claude Code.
    pub const CLAUDE: Self = Self {
        program: "claude",
        install: "npm install -g @anthropic-ai/claude-code",
        variables: &["ANTHROPIC_*", "CLAUDE_*", "API_TIMEOUT_MS"],
        sign_in_status: Some(&["auth", "status"]),
        unknown_models: &[],
        default_model: Some("sonnet"),
    };
    /// Codex.
    pub const CODEX: Self = Self {
        program: "codex",
        install: "npm install -g @openai/codex",
        variables: &["OPENAI_*", "CODEX_*"],
        sign_in_status: Some(&["login", "status"]),
        unknown_models: SIZES,
        default_model: None,
    };
    /// OpenCode.
    pub const OPENCODE: Self = Self {
        program: "opencode",
        install: "npm install -g opencode-ai",
        variables: &["OPENCODE_*", "ANTHROPIC_*", "OPENAI_*", "GEMINI_*", "OPENROUTER_*"],
        // It lists credentials, and models without any can be used.
        sign_in_status: None,
        unknown_models: SIZES,
        default_model: None,
    };
}

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

/// The provider that an agent uses with a key of the environment, and the variable with another address.
const PROVIDERS_OF_AGENTS: &[(&str, &str, &str)] = &[
    ("claude", "anthropic", "ANTHROPIC_BASE_URL"),
    ("claude-agent-acp", "anthropic", "ANTHROPIC_BASE_URL"),
    ("codex", "openai", "OPENAI_BASE_URL"),
    ("codex-acp", "openai", "OPENAI_BASE_URL"),
    ("gemini", "google", "GOOGLE_GEMINI_BASE_URL"),
];

impl AgentProgram {
    /// The program of a known agent, with further arguments and environment variables.
    pub fn of(agent: KnownAgent, arguments: &[&str], environment: &[String]) -> Self {
        let variables = agent.variables.iter().map(|name| (*name).to_owned());
        Self {
            program: agent.program.to_owned(),
            arguments: arguments.iter().map(|argument| (*argument).to_owned()).collect(),
            variables: variables.chain(environment.iter().cloned()).collect(),
            unknown_models: agent.unknown_models.iter().map(|name| (*name).to_owned()).collect(),
            install: agent.install,
        }
    }

    /// The gate of the provider that an agent uses. Agents that are signed in to an account share one without a key.
    /// `gates` is the folder of gates that all processes of the user share.
    pub(super) fn gate(&self, name: &str, gates: Option<&Path>) -> Arc<Gate> {
        let variables = environment::passed(&self.variables);
        let value = |wanted: &str| {
            let found = variables.iter().find(|(name, _)| name == wanted);
            found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
        };
        let of_agent = PROVIDERS_OF_AGENTS.iter().find(|(agent, ..)| *agent == name);
        let Some((provider, address)) =
            of_agent.and_then(|(_, provider, address)| Some((KnownProvider::named(provider)?, address)))
        else {
            return Gate::of(name, None, gates);
        };
        let address = value(address).or(provider.base_url).unwrap_or_default();
        match provider.key_variable.and_then(value) {
            Some(key) => Gate::of(address.trim_end_matches('/'), Some(key), gates),
            None => Gate::of(provider.name, None, gates),
        }
    }

    /// The program with further arguments, in a folder.
    pub(super) fn start(&self, arguments: &[String], folder: &Path) -> Program {
        Program {
            program: self.program.clone(),
            arguments: self.arguments.iter().chain(arguments).cloned().collect(),
            folder: folder.to_owned(),
            variables: environment::passed(&self.variables),
            files: Vec::new(),
        }
    }
}

/// The models that an agent does not support.
#[derive(Debug)]
pub(super) struct UnknownModels {
    names: Vec<String>,
    /// Those that were already reported.
    told: Mutex<HashSet<String>>,
}

impl UnknownModels {
    pub(super) fn new(program: &AgentProgram) -> Self {
        Self { names: program.unknown_models.clone(), told: Mutex::default() }
    }

    /// The model if the agent supports it, otherwise a warning at the first time.
    pub(super) fn supported<'m>(
        &self,
        agent: &str,
        model: Option<&'m str>,
    ) -> (Option<&'m str>, Option<String>) {
        match model {
            Some(unknown) if self.names.iter().any(|name| name == unknown) => {
                let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
                (None, told.insert(unknown.to_owned()).then(|| unknown_model(agent, unknown)))
            }
            model => (model, None),
        }
    }
}

/// The warning about an unsupported model.
pub(super) fn unknown_model(name: &str, model: &str) -> String {
    format!(
        "{name} does not support the model `{model}` and uses its default; map `{model}` in `[models]` in `prose.toml`"
    )
}
