//! The drivers of agents and providers as `prose run` uses them, with a server on this machine in the place of each provider.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use prose_harness::decide::PromptedDecisions;
use prose_harness::drivers::acp::{AGENTS, Acp};
use prose_harness::drivers::claude::Claude;
use prose_harness::drivers::codex::Codex;
use prose_harness::drivers::opencode::OpenCode;
use prose_harness::drivers::{AgentHost, AgentProgram};
use prose_vm::harness::{Harness, RunFolders};
use serde_json::json;

use crate::agents::{AgentProject, acp_packages, claude_program, opencode_program, packages};
use crate::tools::{self, AgentModel};

/// A driver with everything that it needs to reach a server on this machine.
#[derive(Debug)]
pub struct Driver {
    /// The name of the harness.
    pub name: &'static str,
    /// A name for tables, which differs where a harness has several providers.
    pub title: &'static str,
    /// What the message about a rejected key says.
    pub sign_in: &'static str,
    /// The maximum number of requests with a rejected key. Some agents repeat one before they report it, or send several.
    pub max_rejected: usize,
    /// The agent as its model sees it; `None` for a provider, which has no tools.
    pub model: Option<AgentModel>,
    prepare: fn(&AgentProject, &str) -> Vec<(&'static str, String)>,
    key_variable: &'static str,
}

/// How long a program may take.
const MAX_TIME: Duration = Duration::from_secs(600);

/// All drivers.
pub const DRIVERS: &[Driver] = &[
    Driver {
        name: "claude",
        title: "claude",
        sign_in: "sign in with `claude auth login`, or set `ANTHROPIC_API_KEY`",
        max_rejected: 3,
        model: Some(tools::CLAUDE),
        prepare: |project, address| {
            let command = claude_program().display().to_string();
            agent_program(project, "claude", &command, &claude_variables(address))
        },
        key_variable: "ANTHROPIC_API_KEY",
    },
    Driver {
        name: "codex",
        title: "codex",
        sign_in: "sign in with `codex login`, or set `OPENAI_API_KEY`",
        max_rejected: 3,
        model: Some(tools::CODEX),
        prepare: |project, address| {
            install_codex(project);
            configure_codex(project, address);
            Vec::new()
        },
        key_variable: "OPENAI_API_KEY",
    },
    Driver {
        name: "opencode",
        title: "opencode",
        sign_in: "sign in with `opencode auth login`",
        max_rejected: 3,
        model: Some(tools::OPENCODE),
        prepare: install_opencode,
        key_variable: "OPENAI_API_KEY",
    },
    Driver {
        name: "opencode-acp",
        title: "opencode-acp",
        sign_in: "sign in with `opencode auth login`",
        max_rejected: 3,
        model: Some(tools::OPENCODE_ACP),
        prepare: install_opencode,
        key_variable: "OPENAI_API_KEY",
    },
    Driver {
        name: "claude-agent-acp",
        title: "claude-agent-acp",
        sign_in: "sign in with `claude auth login`, or set `ANTHROPIC_API_KEY`",
        max_rejected: 3,
        model: Some(tools::CLAUDE),
        prepare: |project, address| {
            // As root, it works only where it is told that it is in a sandbox.
            let mut variables = claude_variables(address);
            variables.push(("IS_SANDBOX", "1".to_owned()));
            variables.push(("CLAUDE_CODE_EXECUTABLE", claude_program().display().to_string()));
            acp_program(
                project,
                "claude-agent-acp",
                "@agentclientprotocol/claude-agent-acp/dist/index.js",
                &variables,
            )
        },
        key_variable: "ANTHROPIC_API_KEY",
    },
    Driver {
        name: "codex-acp",
        title: "codex-acp",
        sign_in: "sign in with `codex login`, or set `OPENAI_API_KEY`",
        max_rejected: 2,
        model: Some(tools::CODEX_ACP),
        prepare: |project, address| {
            configure_codex(project, address);
            let variables = [("CODEX_PATH", install_codex(project).display().to_string())];
            acp_program(project, "codex-acp", "@agentclientprotocol/codex-acp/dist/index.js", &variables)
        },
        key_variable: "OPENAI_API_KEY",
    },
    Driver {
        name: "codex-acp",
        title: "codex-acp, the provider of Codex itself",
        sign_in: "sign in with `codex login`, or set `OPENAI_API_KEY`",
        max_rejected: 2,
        model: Some(tools::CODEX_ACP),
        prepare: |project, address| {
            let prepared = (Driver::named("codex-acp").prepare)(project, address);
            write(project, ".codex/config.toml", &format!("openai_base_url = \"{address}/v1\"\n"));
            prepared
        },
        key_variable: "OPENAI_API_KEY",
    },
    Driver {
        name: "gemini",
        title: "gemini",
        sign_in: "start `gemini` once and sign in, or set `GEMINI_API_KEY`",
        max_rejected: 3,
        model: Some(tools::GEMINI),
        prepare: |project, address| {
            let settings = json!({
                "general": { "disableAutoUpdate": true },
                // Otherwise, it asks a model first which model is the best one.
                "model": { "name": "gemini-2.5-pro" },
                "privacy": { "usageStatisticsEnabled": false },
                "security": { "auth": { "selectedType": "gemini-api-key" } },
            });
            write(project, ".gemini/settings.json", &settings.to_string());
            let variables = [("GOOGLE_GEMINI_BASE_URL", address.to_owned())];
            acp_program(project, "gemini", "@google/gemini-cli/bundle/gemini.js", &variables)
        },
        key_variable: "GEMINI_API_KEY",
    },
    Driver {
        name: "qwen",
        title: "qwen",
        sign_in: "start `qwen` once and sign in with `/auth`",
        max_rejected: 3,
        model: Some(tools::QWEN),
        prepare: |project, address| {
            let settings = json!({
                "general": { "disableAutoUpdate": true },
                "privacy": { "usageStatisticsEnabled": false },
                "ui": { "enableFollowupSuggestions": false },
            });
            write(project, ".qwen/settings.json", &settings.to_string());
            let variables = [
                ("OPENAI_BASE_URL", format!("{address}/v1")),
                ("OPENAI_MODEL", "qwen3-coder-plus".to_owned()),
            ];
            acp_program(project, "qwen", "@qwen-code/qwen-code/cli-entry.js", &variables)
        },
        key_variable: "OPENAI_API_KEY",
    },
    Driver {
        name: "provider",
        title: "provider, Anthropic",
        sign_in: "set `ANTHROPIC_API_KEY` to a valid key",
        max_rejected: 3,
        model: None,
        prepare: |project, address| provider(project, "anthropic", address),
        key_variable: "ANTHROPIC_API_KEY",
    },
    Driver {
        name: "provider",
        title: "provider, OpenAI",
        sign_in: "set `OPENAI_API_KEY` to a valid key",
        max_rejected: 3,
        model: None,
        prepare: |project, address| provider(project, "openai", &format!("{address}/v1")),
        key_variable: "OPENAI_API_KEY",
    },
    Driver {
        name: "provider",
        title: "provider, Gemini",
        sign_in: "set `GEMINI_API_KEY` to a valid key",
        max_rejected: 3,
        model: None,
        prepare: |project, address| provider(project, "google", &format!("{address}/v1beta")),
        key_variable: "GEMINI_API_KEY",
    },
];

impl Driver {
    /// The driver with this title.
    #[track_caller]
    pub fn named(title: &str) -> &'static Self {
        DRIVERS.iter().find(|driver| driver.title == title).expect("it is in the table")
    }

    /// Puts the program of the agent into the home folder of a project, with a server at this address as its provider.
    pub fn install(&self, project: &AgentProject, address: &str) -> PathBuf {
        (self.prepare)(project, address);
        self.program(project)
    }

    /// Whether it is one of those that the variable `PROSE_TEST_AGENTS` names, separated by commas, or none is named.
    ///
    /// # Panics
    ///
    /// Panics if the variable names one that there is not.
    pub fn is_chosen(&self) -> bool {
        let Ok(names) = std::env::var("PROSE_TEST_AGENTS") else { return true };
        let names: Vec<&str> = names.split(',').collect();
        let unknown = names.iter().find(|name| DRIVERS.iter().all(|driver| driver.name != **name));
        assert_eq!(unknown, None, "PROSE_TEST_AGENTS names no such agent");
        names.contains(&self.name)
    }

    /// Those that start an agent and are [chosen](Self::is_chosen), each once.
    pub fn of_agents() -> impl Iterator<Item = (&'static Self, AgentModel)> {
        Self::all_of_agents().filter(|(driver, _)| driver.is_chosen())
    }

    /// Those that start an agent, each once.
    pub fn all_of_agents() -> impl Iterator<Item = (&'static Self, AgentModel)> {
        DRIVERS
            .iter()
            .filter(|driver| driver.title == driver.name)
            .filter_map(|driver| Some((driver, driver.model?)))
    }

    fn program(&self, project: &AgentProject) -> PathBuf {
        // Both harnesses of OpenCode start the same program.
        let program = if self.name == "opencode-acp" { "opencode" } else { self.name };
        project.home().join("bin").join(program)
    }

    /// The harness in this process, for an agent in a project whose provider is a server at this address. It gets nothing of the user who runs the tests.
    #[track_caller]
    pub fn harness(&self, project: &AgentProject, address: &str) -> Arc<dyn Harness> {
        let agent = AGENTS.iter().find(|agent| agent.name == self.name);
        let program = AgentProgram {
            program: self.install(project, address).display().to_string(),
            arguments: agent
                .map_or(&[][..], |agent| agent.arguments)
                .iter()
                .map(|it| (*it).to_owned())
                .collect(),
            variables: Vec::new(),
            unknown_models: Vec::new(),
            install: "",
        };
        let root = project.root();
        let gates = root.join(".prose/gates");
        let folders = RunFolders { run: Some(root.join(".prose/runs/r")), root };
        // Other tests do not wait for its provider.
        let host = AgentHost::new(self.name, program, folders).sharing_gates(Some(&gates));
        let host = host.supervised_by(Some(crate::prose_binary()));
        match self.name {
            "claude" => Arc::new(PromptedDecisions::new(Claude::new(host))),
            "codex" => Arc::new(PromptedDecisions::new(Codex::new(host))),
            "opencode" => Arc::new(PromptedDecisions::new(OpenCode::new(host))),
            _ => Arc::new(PromptedDecisions::new(Acp::new(host, agent))),
        }
    }

    /// `prose` in a project, whose agent has this key and asks a server at this address. It gets nothing else of the user.
    pub fn prose(&self, project: &AgentProject, address: &str, key: &str) -> Command {
        self.command(crate::prose_binary(), project, address, key)
    }

    /// The agent itself in a project.
    pub fn agent(&self, project: &AgentProject, address: &str, key: &str) -> Command {
        self.command(self.program(project), project, address, key)
    }

    fn command(&self, program: PathBuf, project: &AgentProject, address: &str, key: &str) -> Command {
        let mut command = Command::new(program);
        let programs = project.home().join("bin");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(std::iter::once(programs).chain(std::env::split_paths(&path)));
        command.env_clear().env("PATH", path.expect("no folder has a separator in its name"));
        command.env("HOME", project.home()).env(self.key_variable, key);
        command.envs((self.prepare)(project, address)).current_dir(project.root()).stdin(Stdio::null());
        command
    }

    /// Runs a program of the project with this driver.
    pub fn run(&self, project: &AgentProject, address: &str, key: &str, program: &str) -> Command {
        fs::write(project.root().join("main.prose"), program).expect("the folder is writable");
        let mut command = self.prose(project, address, key);
        command.args(["run", "main.prose", "--trust", "--harness", self.name]);
        command
    }

    /// Starts a program of the project whose output does not matter.
    pub fn start(&self, project: &AgentProject, address: &str, program: &str) -> Child {
        let mut command = self.run(project, address, "none", program);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("prose is built")
    }
}

/// The number of drivers that work at the same time.
const AT_ONCE: usize = 2;

/// Does the same with each driver, some at the same time. The results are in the order of the drivers; where it panics, `None`.
pub fn at_once<'d, T: Send>(drivers: &[&'d Driver], work: impl Fn(&'d Driver) -> T + Sync) -> Vec<Option<T>> {
    let next = Mutex::new(drivers.iter().enumerate());
    let results = Mutex::new(drivers.iter().map(|_| None).collect::<Vec<_>>());
    let (next, results_of_all, work) = (&next, &results, &work);
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(move || {
                loop {
                    let driver = next.lock().expect("it is not locked while something panics").next();
                    let Some((number, driver)) = driver else { return };
                    let result = catch_unwind(AssertUnwindSafe(|| work(driver))).ok();
                    results_of_all.lock().expect("it is not locked while something panics")[number] = result;
                }
            });
        }
    });
    results.into_inner().expect("it is not locked while something panics")
}

/// Does the same with each agent that is [chosen](Driver::is_chosen), some at the same time.
///
/// # Panics
///
/// Panics with the names of the agents for which it does.
#[track_caller]
pub fn each_agent(work: impl Fn(&'static Driver, &AgentModel) + Sync) {
    let agents: Vec<_> = Driver::of_agents().collect();
    let drivers: Vec<_> = agents.iter().map(|(driver, _)| *driver).collect();
    let model =
        |driver: &Driver| &agents.iter().find(|(other, _)| other.title == driver.title).expect("it is one").1;
    let done = at_once(&drivers, |driver| work(driver, model(driver)));
    let failed = drivers.iter().zip(done).filter(|(_, done)| done.is_none()).map(|(driver, _)| driver.title);
    let failed: Vec<_> = failed.collect();
    assert!(failed.is_empty(), "it does not hold for {}", failed.join(", "));
}

/// Waits for work in this thread.
pub fn execute<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("the system has resources").block_on(work)
}

/// The output of a program, which is not waited for forever.
#[track_caller]
pub fn output(command: &mut Command) -> Output {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it is built");
    let process = child.id().to_string();
    let (sender, ended) = mpsc::channel::<()>();
    let watch = thread::spawn(move || {
        if ended.recv_timeout(MAX_TIME) == Err(RecvTimeoutError::Timeout) {
            Command::new("kill").args(["-9", &process]).status().expect("`kill` is installed");
        }
    });
    child.stdin.take();
    let output = child.wait_with_output().expect("it was started");
    drop(sender);
    watch.join().expect("it does not panic");
    output
}

/// Lets the sessions of Gemini CLI be older: it loses one that is continued in the minute in which it has begun, as its file has the same name then.
pub fn age(home: &Path) {
    let projects = fs::read_dir(home.join(".gemini/tmp")).into_iter().flatten().flatten();
    for session in
        projects.filter_map(|project| fs::read_dir(project.path().join("chats")).ok()).flatten().flatten()
    {
        let name = session.file_name().into_string().expect("it is text");
        let id = name.rsplit('-').next().unwrap_or_default();
        fs::rename(session.path(), session.path().with_file_name(format!("session-2026-01-01T00-00-{id}")))
            .expect("the folder is writable");
    }
}

fn claude_variables(address: &str) -> Vec<(&'static str, String)> {
    vec![
        ("ANTHROPIC_BASE_URL", address.to_owned()),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
    ]
}

fn configure_codex(project: &AgentProject, address: &str) {
    let config = format!(
        "model_provider = \"mock\"\n\n[model_providers.mock]\nname = \"mock\"\nbase_url = \"{address}/v1\"\nwire_api = \"responses\"\nenv_key = \"OPENAI_API_KEY\"\n"
    );
    write(project, ".codex/config.toml", &config);
}

fn install_opencode(project: &AgentProject, address: &str) -> Vec<(&'static str, String)> {
    let limit = json!({ "context": 100_000, "output": 8_000 });
    let config = json!({
        "autoupdate": false,
        "model": "mock/tides",
        "small_model": "mock/tides",
        "provider": { "mock": {
            "npm": "@ai-sdk/openai-compatible",
            "options": { "baseURL": format!("{address}/v1"), "apiKey": "{env:OPENAI_API_KEY}" },
            "models": { "tides": { "limit": limit } },
        } },
    });
    write(project, ".config/opencode/opencode.json", &config.to_string());
    let variables = [("OPENCODE_DISABLE_MODELS_FETCH", "1".to_owned())];
    agent_program(project, "opencode", &opencode_program().display().to_string(), &variables)
}

/// A program that starts a package of `tests/acp-agents`.
fn acp_program(
    project: &AgentProject,
    name: &str,
    script: &str,
    variables: &[(&str, String)],
) -> Vec<(&'static str, String)> {
    let script = acp_packages().join("node_modules").join(script);
    agent_program(project, name, &format!("node {}", script.display()), variables)
}

fn install_codex(project: &AgentProject) -> PathBuf {
    let codex = packages().join("node_modules/@openai/codex/bin/codex.js");
    agent_program(project, "codex", &format!("node {}", codex.display()), &[]);
    project.home().join("bin/codex")
}

/// A program that starts an agent with these variables, and with the key `none` unless there is one.
fn agent_program(
    project: &AgentProject,
    name: &str,
    start: &str,
    variables: &[(&str, String)],
) -> Vec<(&'static str, String)> {
    let keys = ["ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENAI_API_KEY"];
    let mut command: String = keys.map(|key| format!("export {key}=${{{key}:-none}}\n")).concat();
    for (name, value) in variables {
        command.push_str(&format!("export {name}='{value}'\n"));
    }
    command.push_str(&format!("exec {start}"));
    project.program(name, &command);
    Vec::new()
}

fn provider(project: &AgentProject, name: &str, address: &str) -> Vec<(&'static str, String)> {
    let settings = format!("[run.provider]\nname = \"{name}\"\nbase-url = \"{address}\"\n");
    fs::write(project.root().join("prose.toml"), settings).expect("the folder is writable");
    Vec::new()
}

/// Writes a file of the home folder.
fn write(project: &AgentProject, name: &str, text: &str) {
    let path = project.home().join(name);
    fs::create_dir_all(path.parent().expect("it is in a folder")).expect("the folder is writable");
    fs::write(path, text).expect("the folder is writable");
}
