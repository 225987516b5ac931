//! The table of all harnesses, for the command line, editors and the documentation.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use prose_files::{Limit, ReadError};
use prose_syntax::suggest;
use prose_vm::harness::{Harness, RunFolders};
use smol_str::SmolStr;

use crate::command::{Agent, Argument, Command, CommandSettings};
use crate::decide::{PromptedDecisions, QuestionsTo, Sessions};
use crate::drivers::AgentProgram;
use crate::drivers::acp::{AGENTS, Acp, AcpAgent};
use crate::drivers::claude::Claude;
use crate::drivers::codex::Codex;
use crate::drivers::opencode::OpenCode;
use crate::drivers::provider::{PROVIDERS, Provider, ProviderSettings};
use crate::faults;
use crate::offline::Offline;
use crate::router::{self, Router};
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
    /// The provider of the harness `provider`.
    pub provider: ProviderSettings,
    /// The backend of decisions.
    pub judge: Route,
    /// The agents with a backend of their own.
    pub agents: BTreeMap<SmolStr, Route>,
    /// The names that the project gives to models.
    pub models: BTreeMap<String, String>,
}

/// A backend for some requests of a program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Route {
    /// The name of the harness, if it is another one than that of the program.
    pub harness: Option<String>,
    /// The model, if it is not left to the program or the harness.
    pub model: Option<String>,
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
            provider: ProviderSettings::new(&PROVIDERS[0]),
            judge: Route::default(),
            agents: BTreeMap::new(),
            models: BTreeMap::new(),
        }
    }

    /// The id of a model that settings name.
    fn model(&self, name: &str) -> SmolStr {
        self.models.get(name).map_or(name, String::as_str).into()
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
    /// The program of an agent that speaks the Agent Client Protocol, unless the project configures another one.
    Acp(&'static AcpAgent),
    /// The program that the project configures.
    Named,
    /// None, but it sends prompts to a provider.
    Requests,
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
                Ok(decisions(Claude::new(program, settings.folders.clone()), Some(CHEAPEST), settings))
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
                Ok(decisions(Codex::new(program, settings.folders.clone()), Some(CHEAPEST), settings))
            }
        },
    },
    HarnessInfo {
        name: "opencode",
        description: "starts OpenCode, `opencode run`, for each session",
        starts: Starts::Agent(Agent::OpenCode),
        make: |name, settings| match settings.commands.get(name) {
            Some(own) => Ok(command(name, settings, || own.clone())),
            None => {
                let program = program(Agent::OpenCode, settings);
                Ok(decisions(OpenCode::new(program, settings.folders.clone()), Some(CHEAPEST), settings))
            }
        },
    },
    acp_agent(&AGENTS[0]),
    acp_agent(&AGENTS[1]),
    acp_agent(&AGENTS[2]),
    acp_agent(&AGENTS[3]),
    acp_agent(&AGENTS[4]),
    HarnessInfo {
        name: "acp",
        description: "starts any agent of the Agent Client Protocol",
        starts: Starts::Named,
        make: |name, settings| acp(name, settings, None),
    },
    HarnessInfo {
        name: "command",
        description: "starts any command that reads a prompt and writes a reply",
        starts: Starts::Named,
        make: |name, settings| match settings.commands.get(name) {
            Some(own) => Ok(command(name, settings, || own.clone())),
            None => Err(HarnessError::NoCommand(name)),
        },
    },
    HarnessInfo {
        name: "provider",
        description: "sends prompts to a model of Anthropic, OpenAI, Gemini or a compatible server, without tools and files",
        starts: Starts::Requests,
        make: |_, settings| {
            let models = settings.models.clone();
            let provider =
                ProviderSettings { models, ..settings.provider.clone() }.with_key_from_environment();
            Ok(decisions(Provider::new(provider), Some(CHEAPEST), settings))
        },
    },
];

/// The name of the cheapest model of a harness.
const CHEAPEST: &str = "haiku";

/// The program of an agent that a harness starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownAgent {
    /// Its name, which is searched in `PATH`.
    pub program: &'static str,
    /// The command that installs it.
    pub install: &'static str,
    /// The environment variables with its keys and settings; a trailing `*` is a wildcard.
    pub variables: Vec<String>,
    /// The arguments with which it succeeds if it is signed in; `None` if it cannot be asked.
    pub sign_in_status: Option<&'static [&'static str]>,
    /// How to sign in to it.
    pub sign_in: Cow<'static, str>,
    /// Names of models that it does not support, so that it uses its default.
    pub unknown_models: Vec<String>,
}

/// The agent of a harness; `None` if it has none or the project configures it.
pub fn known_agent(name: &str) -> Option<KnownAgent> {
    match HARNESSES.iter().find(|info| info.name == name)?.starts {
        Starts::Agent(agent) => {
            let CommandSettings { variables, unknown_models, .. } = agent.settings();
            Some(KnownAgent {
                program: agent.program(),
                install: agent.install(),
                variables,
                sign_in_status: agent.sign_in_status(),
                sign_in: faults::sign_in(name),
                unknown_models,
            })
        }
        Starts::Acp(agent) => Some(KnownAgent {
            program: agent.program,
            install: agent.install,
            variables: agent.variables.iter().map(|name| (*name).to_owned()).collect(),
            sign_in_status: None,
            sign_in: faults::sign_in(name),
            unknown_models: Vec::new(),
        }),
        Starts::Nothing | Starts::Named | Starts::Requests => None,
    }
}

/// The program that a harness starts for each session, or the provider that it sends prompts to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentCommand {
    /// Whether it is the address of a provider instead of a program.
    pub is_address: bool,
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
        Starts::Requests => {
            let provider = &settings.provider;
            return Some(AgentCommand {
                is_address: true,
                command: provider.base_url().map(str::to_owned).into_iter().collect(),
                variables: provider.key_variable().map(str::to_owned).into_iter().collect(),
            });
        }
        Starts::Agent(agent) => Some(agent.settings()),
        Starts::Acp(agent) => Some(CommandSettings {
            variables: agent.variables.iter().map(|name| (*name).to_owned()).collect(),
            ..CommandSettings::new(agent.program)
        }),
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
    Some(AgentCommand { is_address: false, command, variables })
}

/// Whether a harness asks a model, which costs money.
pub fn asks_model(name: &str) -> bool {
    !matches!(name, "offline" | "script")
}

/// The names of the harnesses that a run uses, first the one of the program. Without a model nothing else is used either.
pub fn used_harnesses<'a>(name: &'a str, settings: &'a HarnessSettings) -> Vec<&'a str> {
    let mut names = vec![name];
    if asks_model(name) {
        let routes = std::iter::once(&settings.judge).chain(settings.agents.values());
        for other in routes.filter_map(|route| route.harness.as_deref()) {
            if !names.contains(&other) {
                names.push(other);
            }
        }
    }
    names
}

/// Creates the harness of a program by name, with those of its agents and decisions.
pub fn harness(name: &str, settings: &HarnessSettings) -> Result<Arc<dyn Harness>, HarnessError> {
    let rest = single(name, settings)?;
    let is_routed = settings.judge.harness.is_some() || !settings.agents.is_empty();
    if !asks_model(name) || !is_routed {
        return Ok(rest);
    }
    // The sessions of a harness share its connections and processes.
    let mut made = BTreeMap::from([(name, Arc::clone(&rest))]);
    let mut of = |route: &'_ Route| -> Result<Arc<dyn Harness>, HarnessError> {
        let other = route.harness.as_deref().unwrap_or(name);
        let known = HARNESSES.iter().find(|info| info.name == other).map(|info| info.name);
        if let Some(harness) = known.and_then(|known| made.get(known)) {
            return Ok(Arc::clone(harness));
        }
        let harness = single(other, settings)?;
        made.extend(known.map(|known| (known, Arc::clone(&harness))));
        Ok(harness)
    };
    let judge = of(&settings.judge)?;
    let agents = settings.agents.iter().map(|(agent, route)| {
        let model = route.model.as_deref().map(|model| settings.model(model));
        Ok((agent.clone(), router::Route { harness: of(route)?, model }))
    });
    let agents = agents.collect::<Result<_, HarnessError>>()?;
    Ok(Arc::new(Router { rest, judge, agents }))
}

fn single(name: &str, settings: &HarnessSettings) -> Result<Arc<dyn Harness>, HarnessError> {
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

/// The harness of a known agent that speaks the Agent Client Protocol.
const fn acp_agent(agent: &'static AcpAgent) -> HarnessInfo {
    HarnessInfo {
        name: agent.name,
        description: agent.description,
        starts: Starts::Acp(agent),
        make: |name, settings| acp(name, settings, AGENTS.iter().find(|agent| agent.name == name)),
    }
}

fn acp(
    name: &'static str,
    settings: &HarnessSettings,
    agent: Option<&'static AcpAgent>,
) -> Result<Arc<dyn Harness>, HarnessError> {
    let words = agent_command(name, settings).ok_or(HarnessError::NoCommand(name))?;
    let [program, arguments @ ..] = words.command.as_slice() else {
        return Err(HarnessError::NoCommand(name));
    };
    let program = AgentProgram {
        program: program.clone(),
        arguments: match agent.filter(|_| arguments.is_empty()) {
            Some(agent) => agent.arguments.iter().map(|argument| (*argument).to_owned()).collect(),
            None => arguments.to_vec(),
        },
        variables: words.variables,
        unknown_models: Vec::new(),
        install: agent.map_or("", |agent| agent.install),
    };
    Ok(Arc::new(PromptedDecisions(Acp::new(name, program, agent, settings.folders.clone()))))
}

fn command(
    name: &'static str,
    settings: &HarnessSettings,
    preset: impl FnOnce() -> CommandSettings,
) -> Arc<dyn Harness> {
    let mut own = settings.commands.get(name).cloned().unwrap_or_else(preset);
    own.variables.extend(settings.environment.iter().cloned());
    let cheapest = own.agent.is_some().then_some(CHEAPEST);
    decisions(Command::new(name, own, settings.folders.clone()), cheapest, settings)
}

/// A harness whose decisions are made by the model of the settings, or by its cheapest one.
fn decisions(
    sessions: impl Sessions + 'static,
    cheapest: Option<&str>,
    settings: &HarnessSettings,
) -> Arc<dyn Harness> {
    match settings.judge.model.as_deref().or(cheapest) {
        Some(model) => Arc::new(PromptedDecisions(QuestionsTo { sessions, model: settings.model(model) })),
        None => Arc::new(PromptedDecisions(sessions)),
    }
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
    /// The harness `command` or `acp` without a command.
    NoCommand(&'static str),
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
            HarnessError::NoCommand(name) => write!(
                f,
                "harness `{name}` needs a program to start; set it in `run.command` in `prose.toml`, such as `command = [\"my-agent\", \"--quiet\"]`"
            ),
            HarnessError::Unreadable(path, error) => {
                write!(f, "the script `{}` {error}", path.display())
            }
            HarnessError::Script(errors) => errors.fmt(f),
        }
    }
}

impl std::error::Error for HarnessError {}
