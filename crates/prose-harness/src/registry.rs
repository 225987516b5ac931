//! The table of all harnesses, for the command line, editors and the documentation.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use prose_files::{Limit, ReadError};
use prose_syntax::suggest;
use prose_vm::harness::{Harness, RunFolders};
use smol_str::SmolStr;

use crate::command::{Command, CommandSettings};
use crate::decide::{PromptedDecisions, Sessions};
use crate::drivers::acp::{AGENTS, Acp, AcpAgent};
use crate::drivers::claude::Claude;
use crate::drivers::codex::Codex;
use crate::drivers::opencode::OpenCode;
use crate::drivers::provider::{PROVIDERS, Provider, ProviderSettings};
use crate::drivers::{AgentHost, AgentProgram, KnownAgent};
use crate::mcp::AgentServers;
use crate::router::{self, Router};
use prose_backends::offline::Offline;
use prose_backends::script::{Script, ScriptErrors};

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
    /// The command that the project configures, for the harnesses `command` and `acp`.
    pub command: Option<CommandSettings>,
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
    /// The folder of the gates of providers, which all processes of the user share.
    pub gates: Option<PathBuf>,
    /// The MCP servers of agents.
    pub servers: AgentServers,
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
            command: None,
            environment: Vec::new(),
            provider: ProviderSettings::new(&PROVIDERS[0]),
            judge: Route::default(),
            agents: BTreeMap::new(),
            models: BTreeMap::new(),
            gates: None,
            servers: AgentServers::default(),
        }
    }

    /// The id of a model that settings name.
    fn model(&self, name: &str) -> SmolStr {
        self.models.get(name).map_or(name, String::as_str).into()
    }

    /// The backend of the sessions of an agent whose program names a model. `name` is the harness of the program.
    pub fn backend_of_session<'a>(
        &'a self,
        name: &'a str,
        agent: Option<&str>,
        model: Option<&str>,
    ) -> Backend<'a> {
        let route = agent.and_then(|agent| self.agents.get(agent));
        let harness = route.and_then(|route| route.harness.as_deref()).unwrap_or(name);
        let own = route.and_then(|route| route.model.as_deref()).map(|model| self.model(model));
        let model = own.or_else(|| model.map(SmolStr::from));
        Backend { harness, model: self.used_model(harness, model) }
    }

    /// The backend of decisions. `name` is the harness of the program.
    pub fn backend_of_decisions<'a>(&'a self, name: &'a str) -> Backend<'a> {
        let harness = self.judge.harness.as_deref().unwrap_or(name);
        let model = self.model(self.judge.model.as_deref().unwrap_or(CHEAPEST));
        Backend { harness, model: self.used_model(harness, Some(model)) }
    }

    /// The model that a harness uses where it is asked for one; `None` if it uses a default that is not known.
    fn used_model(&self, harness: &str, model: Option<SmolStr>) -> Option<SmolStr> {
        match HARNESSES.iter().find(|info| info.name == harness).map(|info| &info.starts) {
            Some(Starts::Agent(agent)) => {
                let is_known = |model: &SmolStr| !agent.unknown_models.contains(&model.as_str());
                let default = || agent.default_model.map(SmolStr::new_static);
                model.filter(is_known).or_else(default)
            }
            Some(Starts::Requests) => {
                let provider = ProviderSettings { models: self.models.clone(), ..self.provider.clone() };
                provider.model(model.as_deref()).ok().map(SmolStr::from)
            }
            Some(Starts::Nothing | Starts::Named) | None => model,
        }
    }
}

/// What answers a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backend<'a> {
    /// The harness.
    pub harness: &'a str,
    /// The id of the model; `None` if the harness uses a default that is not known.
    pub model: Option<SmolStr>,
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
    /// The program of an agent.
    Agent(KnownAgent),
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
        starts: Starts::Agent(KnownAgent::CLAUDE),
        make: |name, settings| {
            let program = AgentProgram::of(KnownAgent::CLAUDE, &[], &settings.environment);
            Ok(decisions(Claude::new(host(name, program, settings)), Some(CHEAPEST), settings))
        },
    },
    HarnessInfo {
        name: "codex",
        description: "uses Codex by one `codex app-server` for all sessions",
        starts: Starts::Agent(KnownAgent::CODEX),
        make: |name, settings| {
            let program = AgentProgram::of(KnownAgent::CODEX, &[], &settings.environment);
            Ok(decisions(Codex::new(host(name, program, settings)), Some(CHEAPEST), settings))
        },
    },
    HarnessInfo {
        name: "opencode",
        description: "uses OpenCode by one `opencode serve` for all sessions",
        starts: Starts::Agent(KnownAgent::OPENCODE),
        make: |name, settings| {
            let program = AgentProgram::of(KnownAgent::OPENCODE, &[], &settings.environment);
            Ok(decisions(OpenCode::new(host(name, program, settings)), Some(CHEAPEST), settings))
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
        make: command,
    },
    HarnessInfo {
        name: "provider",
        description: "sends prompts to a model of Anthropic, OpenAI, Gemini or a compatible server, without tools and files",
        starts: Starts::Requests,
        make: |_, settings| {
            let models = settings.models.clone();
            let provider =
                ProviderSettings { models, gates: settings.gates.clone(), ..settings.provider.clone() }
                    .with_key_from_environment();
            Ok(decisions(Provider::new(provider), Some(CHEAPEST), settings))
        },
    },
];

/// The name of the cheapest model of a harness.
const CHEAPEST: &str = "haiku";

/// The agent of a harness; `None` if it has none or the project configures it.
pub fn known_agent(name: &str) -> Option<KnownAgent> {
    match HARNESSES.iter().find(|info| info.name == name)?.starts {
        Starts::Agent(agent) => Some(agent),
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
    let (command, mut variables) = match info.starts {
        Starts::Nothing => return None,
        Starts::Requests => {
            let provider = &settings.provider;
            return Some(AgentCommand {
                is_address: true,
                command: provider.base_url().map(str::to_owned).into_iter().collect(),
                variables: provider.key_variable().map(str::to_owned).into_iter().collect(),
            });
        }
        Starts::Agent(agent) => {
            let AgentProgram { program, variables, .. } = AgentProgram::of(agent, &[], &[]);
            (vec![program], variables)
        }
        Starts::Named => {
            let own = settings.command.as_ref()?;
            (own.words().map(str::to_owned).collect(), own.variables.clone())
        }
    };
    variables.extend(settings.environment.iter().cloned());
    Some(AgentCommand { is_address: false, command, variables })
}

/// Whether a harness asks a model, which costs money.
pub fn asks_model(name: &str) -> bool {
    !matches!(name, "offline" | "script" | crate::replay::NAME)
}

/// Whether the replies of a harness depend on which requests it was asked before, so that one of it has to be asked all those of a run.
pub fn depends_on_order(name: &str) -> bool {
    matches!(name, "script" | crate::replay::NAME)
}

/// Whether the agents of a harness use tools: they read and change the files of a folder, and each session takes several requests to a model.
pub fn has_tools(name: &str) -> bool {
    let info = HARNESSES.iter().find(|info| info.name == name);
    info.is_some_and(|info| matches!(info.starts, Starts::Agent(_) | Starts::Named))
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

/// Checks the name of a harness that is not created.
pub fn check_name(name: &str) -> Result<(), HarnessError> {
    match HARNESSES.iter().any(|info| info.name == name) {
        true => Ok(()),
        false => Err(HarnessError::Unknown(name.to_owned())),
    }
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
        starts: Starts::Agent(agent.known()),
        make: |name, settings| acp(name, settings, AGENTS.iter().find(|agent| agent.name == name)),
    }
}

fn acp(
    name: &'static str,
    settings: &HarnessSettings,
    agent: Option<&'static AcpAgent>,
) -> Result<Arc<dyn Harness>, HarnessError> {
    let program = match agent {
        Some(agent) => AgentProgram::of(agent.known(), agent.arguments, &settings.environment),
        None => {
            let own = settings.command.as_ref().ok_or(HarnessError::NoCommand(name))?;
            let variables = own.variables.iter().chain(&settings.environment);
            AgentProgram {
                program: own.program.clone(),
                arguments: own.words().skip(1).map(str::to_owned).collect(),
                variables: variables.cloned().collect(),
                unknown_models: Vec::new(),
                install: "",
            }
        }
    };
    Ok(Arc::new(PromptedDecisions::new(Acp::new(host(name, program, settings), agent))))
}

/// The host of an agent, with the gates and the MCP servers of the settings.
fn host(name: &str, program: AgentProgram, settings: &HarnessSettings) -> AgentHost {
    let host = AgentHost::new(name, program, settings.folders.clone());
    host.sharing_gates(settings.gates.as_deref()).with_servers(Arc::clone(&settings.servers))
}

fn command(name: &'static str, settings: &HarnessSettings) -> Result<Arc<dyn Harness>, HarnessError> {
    let mut own = settings.command.clone().ok_or(HarnessError::NoCommand(name))?;
    own.variables.extend(settings.environment.iter().cloned());
    Ok(decisions(Command::new(name, own, settings.folders.clone()), None, settings))
}

/// A harness whose decisions are made by the model of the settings, or by its cheapest one.
fn decisions(
    sessions: impl Sessions + 'static,
    cheapest: Option<&str>,
    settings: &HarnessSettings,
) -> Arc<dyn Harness> {
    let model = settings.judge.model.as_deref().or(cheapest).map(|model| settings.model(model));
    Arc::new(PromptedDecisions { sessions, model })
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
