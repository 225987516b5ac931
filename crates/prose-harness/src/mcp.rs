//! Servers of the Model Context Protocol (MCP) for agents, in the forms of their programs.
//!
//! Values of environment variables are read when a session starts. They are passed to agents through pipes and environments, never on a command line and
//! never in a file.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use smol_str::SmolStr;

use crate::command::environment;

/// A server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpServer {
    /// Its name.
    pub name: SmolStr,
    /// How agents reach it.
    pub transport: Transport,
}

/// How agents reach a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transport {
    /// A program that they start.
    Program {
        /// The program.
        program: String,
        /// Its arguments.
        arguments: Vec<String>,
        /// The environment variables that it receives.
        variables: Vec<String>,
    },
    /// An address.
    Http {
        /// The address.
        url: String,
        /// The headers of requests, with `${NAME}` for environment variables.
        headers: BTreeMap<String, String>,
    },
}

/// The servers of agents, by the names of the agents.
pub type AgentServers = Arc<BTreeMap<SmolStr, Vec<McpServer>>>;

/// The servers of an agent; none for sessions without an agent.
pub(crate) fn of_agent<'a>(servers: &'a AgentServers, agent: Option<&str>) -> &'a [McpServer] {
    agent.and_then(|agent| servers.get(agent)).map_or(&[], Vec::as_slice)
}

/// Whether a harness passes servers to its agents.
pub fn passes_servers(harness: &str) -> bool {
    !matches!(harness, "provider" | "command")
}

/// The reason why a server cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum McpProblem {
    /// Its program is not found.
    NoProgram(String),
    /// An environment variable is not set.
    NoVariable(String),
}

impl fmt::Display for McpProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            McpProblem::NoProgram(program) => {
                write!(
                    f,
                    "`{program}` is not found; install it, add its folder to PATH, or set its path in `command`"
                )
            }
            McpProblem::NoVariable(name) => {
                write!(
                    f,
                    "the environment variable `{name}` is not set; set it before you start `prose` and the editor"
                )
            }
        }
    }
}

impl McpServer {
    /// What the server lacks on this machine. Paths are relative to a folder.
    pub fn problems(&self, folder: &Path) -> Vec<McpProblem> {
        let mut problems = Vec::new();
        let names: Vec<&str> = match &self.transport {
            Transport::Program { program, variables, .. } => {
                if !is_installed(program, folder) {
                    problems.push(McpProblem::NoProgram(program.clone()));
                }
                variables.iter().map(String::as_str).collect()
            }
            Transport::Http { headers, .. } => {
                headers.values().flat_map(|value| placeholders(value)).collect()
            }
        };
        let is_missing = |name: &&str| std::env::var_os(name).is_none();
        let missing = names.into_iter().filter(is_missing).map(str::to_owned);
        problems.extend(missing.map(McpProblem::NoVariable));
        problems
    }

    /// The variables of its program with their values.
    fn environment(&self) -> BTreeMap<String, String> {
        match &self.transport {
            Transport::Program { variables, .. } => environment::values(variables).collect(),
            Transport::Http { .. } => BTreeMap::new(),
        }
    }

    /// Its headers with the values of variables.
    fn headers(&self) -> BTreeMap<&str, String> {
        let Transport::Http { headers, .. } = &self.transport else { return BTreeMap::new() };
        headers.iter().map(|(name, value)| (name.as_str(), filled_in(value))).collect()
    }

    /// The program and its arguments as agents start it.
    fn command(&self, folder: &Path) -> (String, &[String]) {
        match &self.transport {
            Transport::Program { program, arguments, .. } => (in_folder(program, folder), arguments),
            Transport::Http { .. } => (String::new(), &[]),
        }
    }

    /// The command with its environment, to start the server here.
    pub fn start(&self, folder: &Path) -> Option<std::process::Command> {
        let Transport::Program { arguments, variables, .. } = &self.transport else { return None };
        let mut command = std::process::Command::new(self.command(folder).0);
        command.args(arguments).current_dir(folder).env_clear().envs(environment::passed(variables));
        Some(command)
    }

    /// The address and the headers of a server that is not a program.
    pub fn address(&self) -> Option<(&str, BTreeMap<&str, String>)> {
        match &self.transport {
            Transport::Http { url, .. } => Some((url, self.headers())),
            Transport::Program { .. } => None,
        }
    }

    /// Whether it is reached by HTTP.
    pub(crate) fn is_http(&self) -> bool {
        matches!(self.transport, Transport::Http { .. })
    }

    /// The variables that an agent needs to fill in what is in the form of Claude Code.
    pub(crate) fn variables(&self) -> Vec<String> {
        match &self.transport {
            Transport::Program { variables, .. } => variables.clone(),
            Transport::Http { headers, .. } => {
                headers.values().flat_map(|value| placeholders(value)).map(str::to_owned).collect()
            }
        }
    }

    /// A text without the values of the variables.
    pub(crate) fn without_values(&self, text: &str) -> String {
        let names = self.variables();
        let values = environment::values(&names).map(|(_, value)| value);
        let values = values.filter(|value| !value.is_empty());
        values.fold(text.to_owned(), |text, value| text.replace(&value, "…"))
    }

    /// In `mcpServers` of Claude Code, which fills in `${NAME}` from its own environment.
    fn for_claude(&self, folder: &Path) -> Value {
        let (program, arguments) = self.command(folder);
        match &self.transport {
            Transport::Program { variables, .. } => {
                let own: BTreeMap<_, _> =
                    variables.iter().map(|name| (name, format!("${{{name}}}"))).collect();
                json!({ "type": "stdio", "command": program, "args": arguments, "env": own })
            }
            Transport::Http { url, headers } => json!({ "type": "http", "url": url, "headers": headers }),
        }
    }

    /// In `mcp_servers` of Codex, which asks before it uses a tool.
    pub(crate) fn for_codex(&self, folder: &Path) -> Value {
        let mut server = match &self.transport {
            Transport::Program { .. } => {
                let (program, arguments) = self.command(folder);
                json!({ "command": program, "args": arguments, "env": self.environment(), "cwd": folder })
            }
            Transport::Http { url, .. } => json!({ "url": url, "http_headers": self.headers() }),
        };
        server["default_tools_approval_mode"] = "prompt".into();
        server["enabled"] = true.into();
        server
    }

    /// In the requests to OpenCode.
    pub(crate) fn for_opencode(&self, folder: &Path) -> Value {
        match &self.transport {
            Transport::Program { .. } => {
                let (program, arguments) = self.command(folder);
                let command: Vec<&str> =
                    std::iter::once(program.as_str()).chain(arguments.iter().map(String::as_str)).collect();
                let mut environment = self.environment();
                // The password of the server of OpenCode.
                environment.insert("OPENCODE_SERVER_PASSWORD".to_owned(), String::new());
                json!({ "type": "local", "command": command, "cwd": folder, "environment": environment, "enabled": true })
            }
            Transport::Http { url, .. } => {
                json!({ "type": "remote", "url": url, "headers": self.headers(), "oauth": false, "enabled": true })
            }
        }
    }

    /// In `mcpServers` of the Agent Client Protocol.
    pub(crate) fn for_acp(&self, folder: &Path) -> Value {
        let pairs = |pairs: Vec<(String, String)>| -> Vec<Value> {
            pairs.into_iter().map(|(name, value)| json!({ "name": name, "value": value })).collect()
        };
        match &self.transport {
            Transport::Program { .. } => {
                let (program, arguments) = self.command(folder);
                let program = found(&program).unwrap_or_else(|| program.into());
                let own = pairs(self.environment().into_iter().collect());
                json!({ "name": self.name, "command": program, "args": arguments, "env": own })
            }
            Transport::Http { url, .. } => {
                let headers = self.headers().into_iter().map(|(name, value)| (name.to_owned(), value));
                json!({ "type": "http", "name": self.name, "url": url, "headers": pairs(headers.collect()) })
            }
        }
    }
}

/// The argument by which Claude Code knows servers, without values of variables.
pub(crate) fn config_for_claude(servers: &[McpServer], folder: &Path) -> String {
    let servers: BTreeMap<&str, Value> =
        servers.iter().map(|server| (server.name.as_str(), server.for_claude(folder))).collect();
    json!({ "mcpServers": servers }).to_string()
}

/// The names of variables in `${NAME}`.
fn placeholders(text: &str) -> Vec<&str> {
    text.split("${").skip(1).filter_map(|rest| Some(rest.split_once('}')?.0)).collect()
}

/// A text with the values of the variables in `${NAME}`.
fn filled_in(text: &str) -> String {
    let mut parts = text.split("${");
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once('}') {
            Some((name, rest)) => {
                filled.push_str(&std::env::var(name).unwrap_or_default());
                filled.push_str(rest);
            }
            None => filled.push_str(part),
        }
    }
    filled
}

/// A program as it is started from another folder.
fn in_folder(program: &str, folder: &Path) -> String {
    match is_path(program) && Path::new(program).is_relative() {
        true => folder.join(program.strip_prefix("./").unwrap_or(program)).to_string_lossy().into_owned(),
        false => program.to_owned(),
    }
}

fn is_path(program: &str) -> bool {
    Path::new(program).components().count() > 1 || program.starts_with("./")
}

/// Whether a program is found: a name in `PATH`, or a path relative to a folder.
pub fn is_installed(program: &str, folder: &Path) -> bool {
    let program = in_folder(program, folder);
    if is_path(&program) { is_file(Path::new(&program)) } else { found(&program).is_some() }
}

/// The path of a program in `PATH`.
fn found(program: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).map(|folder| folder.join(program)).find(|path| is_file(path))
}

fn is_file(path: &Path) -> bool {
    // Windows starts files with these endings without them.
    path.is_file()
        || cfg!(windows) && ["exe", "cmd", "bat"].iter().any(|it| path.with_extension(it).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn http(headers: &[(&str, &str)]) -> McpServer {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let url = "https://docs.example.com/mcp".to_owned();
        McpServer { name: "docs".into(), transport: Transport::Http { url, headers } }
    }

    fn program(program: &str, variables: &[&str]) -> McpServer {
        McpServer {
            name: "tracker".into(),
            transport: Transport::Program {
                program: program.to_owned(),
                arguments: vec!["--stdio".to_owned()],
                variables: variables.iter().map(|name| (*name).to_owned()).collect(),
            },
        }
    }

    #[test]
    fn what_is_missing_is_named() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("server"), "").unwrap();
        let problems = |server: &McpServer| {
            let problems = server.problems(folder.path()).into_iter();
            problems.map(|problem| problem.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(problems(&program("./server", &["PATH"])), Vec::<String>::new());
        assert_eq!(
            problems(&program("no-such-server", &["PROSE_NO_SUCH_TOKEN"])),
            [
                "`no-such-server` is not found; install it, add its folder to PATH, or set its path in `command`",
                "the environment variable `PROSE_NO_SUCH_TOKEN` is not set; set it before you start `prose` and the editor",
            ]
        );
        let docs = http(&[("Authorization", "Bearer ${PROSE_NO_SUCH_TOKEN}"), ("X-Region", "eu")]);
        assert_eq!(problems(&docs).len(), 1);
    }

    #[test]
    fn claude_code_fills_in_variables_itself() {
        // The argument is on a command line, which other users can see.
        let servers = [program("./server", &["PATH"]), http(&[("Authorization", "Bearer ${PATH}")])];
        assert_eq!(
            config_for_claude(&servers, Path::new("/p")),
            r#"{"mcpServers":{"docs":{"headers":{"Authorization":"Bearer ${PATH}"},"type":"http","url":"https://docs.example.com/mcp"},"tracker":{"args":["--stdio"],"command":"/p/server","env":{"PATH":"${PATH}"},"type":"stdio"}}}"#
        );
    }

    #[test]
    fn others_receive_values() {
        let path = std::env::var("PATH").unwrap();
        let header = format!("Bearer {path}!");
        let (docs, tracker) =
            (http(&[("Authorization", "Bearer ${PATH}!")]), program("/bin/server", &["PATH"]));
        let folder = Path::new("/p");
        assert_eq!(docs.for_codex(folder)["http_headers"]["Authorization"], header.as_str());
        assert_eq!(docs.for_opencode(folder)["headers"]["Authorization"], header.as_str());
        assert_eq!(docs.for_acp(folder)["headers"][0]["value"], header.as_str());
        assert_eq!(tracker.for_codex(folder)["env"]["PATH"], path.as_str());
        assert_eq!(tracker.for_opencode(folder)["command"], json!(["/bin/server", "--stdio"]));
        assert_eq!(tracker.without_values(&format!("{path} is wrong")), "… is wrong");
        assert_eq!(tracker.for_acp(folder)["env"], json!([{ "name": "PATH", "value": path }]));
    }
}
