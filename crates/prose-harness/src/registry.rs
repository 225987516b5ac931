//! All harnesses by name: what the command line, editors and documentation offer.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use prose_files::{Limit, ReadError};
use prose_syntax::suggest;
use prose_vm::harness::{Harness, Workplace};

use crate::command::{Agent, Argument, Command, CommandSettings};
use crate::decide::Deciding;
use crate::offline::Offline;
use crate::script::{Script, ScriptErrors};

/// What harnesses are made with.
#[derive(Debug, Clone)]
pub struct HarnessSettings {
    /// Where the run works.
    pub workplace: Workplace,
    /// What decides what the offline harness answers.
    pub seed: u64,
    /// How long the offline harness takes for each answer.
    pub delay: Duration,
    /// The file of the script.
    pub script: Option<PathBuf>,
    /// How the programs of agents are started, by the name of the harness, where the project says so.
    pub commands: BTreeMap<String, CommandSettings>,
    /// The variables of the environment that all agents get besides those they need; `*` at the end stands for anything.
    pub environment: Vec<String>,
}

impl HarnessSettings {
    /// Those of a project that says nothing.
    pub fn new(workplace: Workplace) -> Self {
        Self {
            workplace,
            seed: 0,
            delay: Duration::ZERO,
            script: None,
            commands: BTreeMap::new(),
            environment: Vec::new(),
        }
    }
}

/// A harness that can be chosen.
pub struct HarnessInfo {
    /// What it is called.
    pub name: &'static str,
    /// What it is, in a line.
    pub description: &'static str,
    /// Which program it starts.
    starts: Starts,
    make: Make,
}

/// Which program a harness starts for each session.
enum Starts {
    /// None.
    Nothing,
    /// That of an agent, as long as the project names no other one.
    Agent(Agent),
    /// The one that the project names.
    Named,
}

type Make = fn(&'static str, &HarnessSettings) -> Result<Arc<dyn Harness>, HarnessError>;

/// All harnesses. The first one is used where none is configured.
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
        make: |name, settings| Ok(command(name, settings, || Agent::Claude.settings())),
    },
    HarnessInfo {
        name: "codex",
        description: "starts Codex, `codex exec`, for each session",
        starts: Starts::Agent(Agent::Codex),
        make: |name, settings| Ok(command(name, settings, || Agent::Codex.settings())),
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

/// A program that a harness starts for each session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Started {
    /// The program and its arguments. Of an agent, it is the program alone: its arguments are not the project's choice.
    pub command: Vec<String>,
    /// The variables of the environment that it gets besides those that every program gets; `*` at the end stands for anything.
    pub variables: Vec<String>,
}

/// What the harness of that name starts; none if it starts nothing, as one does not that cannot be made.
pub fn started(name: &str, settings: &HarnessSettings) -> Option<Started> {
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
    Some(Started { command, variables })
}

/// Makes the harness of that name.
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
    Ok(Arc::new(script))
}

fn command(
    name: &'static str,
    settings: &HarnessSettings,
    preset: impl FnOnce() -> CommandSettings,
) -> Arc<dyn Harness> {
    let mut own = settings.commands.get(name).cloned().unwrap_or_else(preset);
    own.variables.extend(settings.environment.iter().cloned());
    Arc::new(Deciding(Command::new(name, own, settings.workplace.clone())))
}

/// Why there is no harness.
#[derive(Debug)]
pub enum HarnessError {
    /// There is none of that name.
    Unknown(String),
    /// The script harness without a script.
    NoScript,
    /// The command harness without a command.
    NoCommand,
    /// A script that cannot be read from the disk.
    Unreadable(PathBuf, ReadError),
    /// A script with mistakes.
    Script(ScriptErrors),
}

impl fmt::Display for HarnessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HarnessError::Unknown(name) => {
                let names = HARNESSES.iter().map(|info| info.name);
                match suggest::nearest(name, names.clone(), |name| name) {
                    Some(meant) => write!(f, "there is no harness `{name}`; did you mean `{meant}`?"),
                    None => {
                        let names: Vec<_> = names.collect();
                        write!(f, "there is no harness `{name}`; there are `{}`", names.join("`, `"))
                    }
                }
            }
            HarnessError::NoScript => {
                f.write_str("the harness `script` needs a file to answer from; name it with `--script FILE.toml`")
            }
            HarnessError::NoCommand => f.write_str(
                "the harness `command` needs a program to start; name it in `run.command` of prose.toml, such as `command = [\"my-agent\", \"--quiet\"]`",
            ),
            HarnessError::Unreadable(path, error) => {
                write!(f, "the script `{}` {error}", path.display())
            }
            HarnessError::Script(errors) => errors.fmt(f),
        }
    }
}

impl std::error::Error for HarnessError {}
