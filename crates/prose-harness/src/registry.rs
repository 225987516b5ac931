//! The table of all harnesses, for the command line, editors and the documentation.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use prose_files::{Limit, ReadError};
use prose_syntax::suggest;
use prose_vm::harness::{Harness, RunFolders};

use crate::command::{Agent, Argument, Command, CommandSettings};
use crate::decide::PromptedDecisions;
use crate::drivers::AgentProgram;
use crate::drivers::claude::Claude;
use crate::drivers::codex::Codex;
use crate::offline::Offline;
use crate::script::{Script, ScriptErrors};

/// The settings for creating harnesses.
#[derive(Debug, Clone)]
pub struct HarnessSettings {
    /// The folders of the run.
    pub folders: RunFolders,
    /// The seed of the offline harness.
    pub seed: u64,
    /// The delay of each reply of the offline harness.
    pub delay: Duration,
    /// The path of the script.
    pub script: Option<PathBuf>,
    /// The agent commands that the project configures, by the name of the harness.
    pub commands: BTreeMap<String, CommandSettings>,
    /// The environment variables that all agents receive in addition to the default ones; a trailing `*` is a wildcard.
    pub environment: Vec<String>,
}

impl HarnessSettings {
    /// The settings of a project without configuration.
    pub fn new(folders: RunFolders) -> Self {
        Self {
            folders,
            seed: 0,
            delay: Duration::ZERO,
            script: None,
            commands: BTreeMap::new(),
            environment: Vec::new(),
        }
    }
}

/// A harness.
pub struct HarnessInfo {
    /// Its name.
    pub name: &'static str,
    /// Its description in one line.
    pub description: &'static str,
    /// The program that it starts.
    starts: Starts,
    make: Make,
}

/// The program that a harness starts for each session.
enum Starts {
    /// None.
    Nothing,
    /// The program of an agent, unless the project configures another one.
    Agent(Agent),
    /// The program that the project configures.
    Named,
}

type Make = fn(&'static str, &HarnessSettings) -> Result<Arc<dyn Harness>, HarnessError>;

/// All harnesses. The first one is the default.
pub const HARNESSES: &[HarnessInfo] = &[
    HarnessInfo {
        name: "offline",
        description: "generates placeholder replies without a model",
        starts: Starts::Nothing,
        make: |_, settings| Ok(Arc::new(Offline::new(settings.seed).with_delay(settings.delay))),
    },
    HarnessInfo {
        name: "script",
        description: "takes replies from a file",
        starts: Starts::Nothing,
        make: script,
    },
    HarnessInfo {
        name: "claude",
        description: "starts Claude Code, `claude -p`, for each session",
        starts: Starts::Agent(Agent::Claude),
        make: |name, settings| match settings.commands.get(name) {
            Some(own) => Ok(command(name, settings, || own.clone())),
            None => {
                let program = program(Agent::Claude, settings);
                Ok(Arc::new(PromptedDecisions(Claude::new(program, settings.folders.clone()))))
            }
        },
    },
    HarnessInfo {
        name: "codex",
        description: "uses Codex by one `codex app-server` for all sessions",
        starts: Starts::Agent(Agent::Codex),
        make: |name, settings| match settings.commands.get(name) {
            Some(own) => Ok(command(name, settings, || own.clone())),
            None => {
                let program = program(Agent::Codex, settings);
                Ok(Arc::new(PromptedDecisions(Codex::new(program, settings.folders.clone()))))
            }
        },
    },
    HarnessInfo {
        name: "opencode",
        description: "starts OpenCode, `opencode run`, for each session",
        starts: Starts::Agent(Agent::OpenCode),
        make: |name, settings| Ok(command(name, settings, || Agent::OpenCode.settings())),
    },
    HarnessInfo {
        name: "command",
        description: "starts any command that reads a prompt and writes a reply",
        starts: Starts::Named,
        make: |name, settings| match settings.commands.get(name) {
            Some(own) => Ok(command(name, settings, || own.clone())),
            None => Err(HarnessError::NoCommand),
        },
    },
];

/// The program that a harness starts for each session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentCommand {
    /// The program and its arguments. For an agent, only the program: its arguments are not chosen by the project.
    pub command: Vec<String>,
    /// The environment variables that it receives in addition to the default ones; a trailing `*` is a wildcard.
    pub variables: Vec<String>,
}

/// The command that a harness starts; `None` if it starts none or cannot be created.
pub fn agent_command(name: &str, settings: &HarnessSettings) -> Option<AgentCommand> {
    let info = HARNESSES.iter().find(|info| info.name == name)?;
    let preset = match info.starts {
        Starts::Nothing => return None,
        Starts::Agent(agent) => Some(agent.settings()),
        Starts::Named => None,
    };
    let own = settings.commands.get(name);
    let words = own.map(|own| {
        let texts = own.arguments.iter().flat_map(|argument| match argument {
            Argument::One(text) => std::slice::from_ref(text),
            Argument::All(texts) => texts,
        });
        std::iter::once(&own.program).chain(texts).cloned().collect()
    });
    let command = words.or_else(|| preset.as_ref().map(|preset| vec![preset.program.clone()]))?;
    let mut variables = own.or(preset.as_ref()).map(|it| it.variables.clone()).unwrap_or_default();
    variables.extend(settings.environment.iter().cloned());
    Some(AgentCommand { command, variables })
}

/// Whether a harness asks a model, which costs money.
pub fn asks_model(name: &str) -> bool {
    !matches!(name, "offline" | "script")
}

/// Creates a harness by name.
pub fn harness(name: &str, settings: &HarnessSettings) -> Result<Arc<dyn Harness>, HarnessError> {
    match HARNESSES.iter().find(|info| info.name == name) {
        Some(info) => (info.make)(info.name, settings),
        None => Err(HarnessError::Unknown(name.to_owned())),
    }
}

fn script(_: &'static str, settings: &HarnessSettings) -> Result<Arc<dyn Harness>, HarnessError> {
    let path = settings.script.as_ref().ok_or(HarnessError::NoScript)?;
    let read = prose_files::read_text(path, Limit::SCRIPT);
    let text = read.map_err(|error| HarnessError::Unreadable(path.clone(), error))?;
    let script =
        Script::parse(path.display().to_string(), &text, settings.seed).map_err(HarnessError::Script)?;
    Ok(Arc::new(script.in_folders(settings.folders.clone())))
}

fn command(
    name: &'static str,
    settings: &HarnessSettings,
    preset: impl FnOnce() -> CommandSettings,
) -> Arc<dyn Harness> {
    let mut own = settings.commands.get(name).cloned().unwrap_or_else(preset);
    own.variables.extend(settings.environment.iter().cloned());
    Arc::new(PromptedDecisions(Command::new(name, own, settings.folders.clone())))
}

/// The program of an agent for its driver.
fn program(agent: Agent, settings: &HarnessSettings) -> AgentProgram {
    let CommandSettings { program, mut variables, unknown_models, .. } = agent.settings();
    variables.extend(settings.environment.iter().cloned());
    AgentProgram { program, arguments: Vec::new(), variables, unknown_models, install: agent.install() }
}

/// The reason why a harness cannot be created.
#[derive(Debug)]
pub enum HarnessError {
    /// The name is unknown.
    Unknown(String),
    /// The harness `script` without a script.
    NoScript,
    /// The harness `command` without a command.
    NoCommand,
    /// The script cannot be read.
    Unreadable(PathBuf, ReadError),
    /// The script has errors.
    Script(ScriptErrors),
}

impl fmt::Display for HarnessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HarnessError::Unknown(name) => {
                let names = HARNESSES.iter().map(|info| info.name);
                match suggest::nearest(name, names.clone(), |name| name) {
                    Some(meant) => write!(f, "harness `{name}` does not exist; did you mean `{meant}`?"),
                    None => {
                        let names: Vec<_> = names.collect();
                        write!(f, "harness `{name}` does not exist; use one of `{}`", names.join("`, `"))
                    }
                }
            }
            HarnessError::NoScript => {
                f.write_str("harness `script` needs a script; pass it with `--script FILE.toml`")
            }
            HarnessError::NoCommand => f.write_str(
                "harness `command` needs a program to start; set it in `run.command` in `prose.toml`, such as `command = [\"my-agent\", \"--quiet\"]`",
            ),
            HarnessError::Unreadable(path, error) => {
                write!(f, "the script `{}` {error}", path.display())
            }
            HarnessError::Script(errors) => errors.fmt(f),
        }
    }
}

impl std::error::Error for HarnessError {}
