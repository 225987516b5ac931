//! Checks the skills and MCP servers of a project.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::Stdio;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use prose_config::Config;
use prose_harness::mcp::{McpServer, passes_servers};
use prose_project::skills::{SkillProblem, Skills};
use prose_run::{TrustSubject, UserTrust, all_servers};
use serde_json::{Value, json};

use super::report::Report;
use crate::terminal::counted;

const SKILLS: &str = "skills";
const SERVERS: &str = "mcp";

/// Servers that are fetched before they start, such as by `npx`, need a while.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Checks the skills that the agents of a harness find, and those that the settings name.
pub(super) fn skills(config: &Config, root: &Path, report: &mut Report<'_>) -> io::Result<()> {
    let skills = Skills::of(root);
    let default = config.run.harness.as_str();
    if let Some(names) = skills.names(default).filter(|names| !names.is_empty()) {
        report
            .good(SKILLS, format_args!("`{default}` finds {}", listed(names.iter().map(String::as_str))))?;
    }
    for (agent, own) in &config.agents {
        let harness = own.harness.map_or(default, |harness| harness.as_str());
        for skill in own.skills.iter().flatten().map(|skill| skill.as_str()) {
            match skills.problem(harness, skill) {
                None => report.good(SKILLS, format_args!("agent `{agent}` has `{skill}`"))?,
                Some(SkillProblem::NotLoaded) => report.problem(
                    SKILLS,
                    format_args!("agent `{agent}` has `{skill}`, but harness `{harness}` loads no skills"),
                    "use a harness that does, such as `claude`, or remove the skill",
                )?,
                Some(SkillProblem::NoFile(file)) => report.problem(
                    SKILLS,
                    format_args!("agent `{agent}` has `{skill}`, but `{}` does not exist", file.display()),
                    "create it, or correct the path in `prose.toml`",
                )?,
                Some(SkillProblem::Unknown { folder }) => report.problem(
                    SKILLS,
                    format_args!(
                        "agent `{agent}` has `{skill}`, which does not exist for harness `{harness}`"
                    ),
                    format_args!(
                        "add `{folder}/{skill}/SKILL.md`, or name a folder such as `./skills/{skill}`"
                    ),
                )?,
            }
        }
    }
    Ok(())
}

/// Checks the servers of the settings, and starts them if the project is trusted.
pub(super) fn servers(config: &Config, root: &Path, report: &mut Report<'_>) -> io::Result<()> {
    let is_trusted = UserTrust::of_user().check(&TrustSubject::new(root, config)).is_ok();
    let default = config.run.harness.as_str();
    for server in all_servers(&config.mcp.servers) {
        let name = &server.name;
        let users = config.agents.iter().filter(|(_, agent)| agent.mcp.iter().any(|it| it.as_str() == name));
        let users: BTreeMap<&str, &str> = users
            .map(|(agent, own)| (agent.as_str(), own.harness.map_or(default, |harness| harness.as_str())))
            .collect();
        for (agent, harness) in users.iter().filter(|(_, harness)| !passes_servers(harness)) {
            report.problem(
                SERVERS,
                format_args!("agent `{agent}` has `{name}`, but harness `{harness}` passes no MCP servers to its agents"),
                "use a harness that does, such as `claude`, or remove the server from `mcp`",
            )?;
        }
        let agents = match users.is_empty() {
            true => "no agent uses it".to_owned(),
            false => format!("for {}", listed(users.keys().copied())),
        };
        let problems = server.problems(root);
        for problem in &problems {
            report.problem(SERVERS, format_args!("`{name}` cannot start"), problem)?;
        }
        if !problems.is_empty() {
            continue;
        }
        match (server.address(), is_trusted) {
            (Some((url, _)), _) => report.good(SERVERS, format_args!("`{name}` is at {url}; {agents}"))?,
            (None, false) => report.note(
                SERVERS,
                format_args!(
                    "`{name}` is not started, since the project is not trusted; if you trust it, run `prose trust`"
                ),
            )?,
            (None, true) => match tools_of(&server, root) {
                Ok(tools) => {
                    let names = listed(tools.iter().map(String::as_str));
                    let count = counted(tools.len(), "tool");
                    report.good(SERVERS, format_args!("`{name}` starts and has {count}: {names}; {agents}"))?;
                }
                Err(reason) => report.problem(
                    SERVERS,
                    format_args!("`{name}` {reason}"),
                    "start its command in a terminal; it must speak MCP on standard input and output",
                )?,
            },
        }
    }
    Ok(())
}

fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Starts a server and returns its tools, or what it does instead, as the rest of a sentence.
fn tools_of(server: &McpServer, root: &Path) -> Result<Vec<String>, String> {
    let Some(mut command) = server.start(root) else { return Ok(Vec::new()) };
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let mut child = child.map_err(|error| format!("cannot be started: {error}"))?;
    let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err("has no standard input and output".to_owned());
    };
    let (sender, lines) = mpsc::channel();
    // A thread reads, so that a program that never answers cannot block.
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    let deadline = Instant::now() + TIMEOUT;
    let answered = ask(&mut input, &lines, deadline);
    drop(input);
    // A process that cannot be killed has already exited.
    let _ = child.kill();
    let _ = child.wait();
    answered
}

fn ask(
    input: &mut impl Write,
    lines: &mpsc::Receiver<String>,
    deadline: Instant,
) -> Result<Vec<String>, String> {
    let client = json!({ "name": "prose", "version": env!("CARGO_PKG_VERSION") });
    let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
    let mut send = |message: Value| {
        writeln!(input, "{message}").and_then(|()| input.flush()).map_err(|_| "exits at once".to_owned())
    };
    send(json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello }))?;
    answer(lines, 1, deadline)?;
    send(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
    send(json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {} }))?;
    let tools = answer(lines, 2, deadline)?;
    let names = tools["tools"].as_array().into_iter().flatten().filter_map(|tool| tool["name"].as_str());
    Ok(names.map(str::to_owned).collect())
}

/// The result of a request.
fn answer(lines: &mpsc::Receiver<String>, id: u64, deadline: Instant) -> Result<Value, String> {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let line = lines.recv_timeout(left).map_err(|error| match error {
            mpsc::RecvTimeoutError::Timeout => {
                format!("does not respond within {} seconds", TIMEOUT.as_secs())
            }
            mpsc::RecvTimeoutError::Disconnected => "exits without a response".to_owned(),
        })?;
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        if message["id"] == id {
            return match message.get("error") {
                Some(error) => {
                    Err(format!("reports an error: {}", error["message"].as_str().unwrap_or("unknown")))
                }
                None => Ok(message["result"].clone()),
            };
        }
    }
}
