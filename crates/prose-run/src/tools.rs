//! The skills and MCP servers of a run, which are checked before its first session.

use std::fmt;
use std::path::Path;

use prose_config::{McpServerConfig, McpServerConfigs};
use prose_harness::mcp::{AgentServers, McpServer, Transport, passes_servers};
use prose_harness::registry::asks_model;
use prose_project::skills::{SkillProblem, Skills};
use prose_vm::harness::Harness;
use prose_vm::place::{NamedLine, imported_name};
use prose_vm::program::Program;

use crate::Routes;

/// A server as harnesses know it; `None` if it has neither a program nor an address.
fn server(name: &str, config: &McpServerConfig) -> Option<McpServer> {
    let transport = match (&config.command, &config.url) {
        (Some(program), _) => Transport::Program {
            program: program.as_str().to_owned(),
            arguments: config.args.iter().map(|word| word.as_str().to_owned()).collect(),
            variables: config.environment.iter().map(|name| name.as_str().to_owned()).collect(),
        },
        (None, Some(url)) => {
            Transport::Http { url: url.as_str().to_owned(), headers: config.headers.0.clone() }
        }
        (None, None) => return None,
    };
    Some(McpServer { name: name.into(), transport })
}

/// The servers of the settings, in the order of their names.
pub fn all_servers(configs: &McpServerConfigs) -> Vec<McpServer> {
    configs.0.iter().filter_map(|(name, config)| server(name, config)).collect()
}

/// The servers of each agent.
pub(crate) fn servers(routes: &Routes) -> AgentServers {
    let of = |names: &[prose_config::ServerName]| -> Vec<McpServer> {
        let named = names.iter().map(prose_config::ServerName::as_str);
        named.filter_map(|name| server(name, routes.servers.0.get(name)?)).collect()
    };
    let agents = routes.agents.iter().map(|(agent, config)| (agent.into(), of(&config.mcp)));
    AgentServers::new(agents.filter(|(_, servers): &(_, Vec<_>)| !servers.is_empty()).collect())
}

/// Skills and MCP servers that the sessions of a program cannot use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingTools {
    /// What is missing, each in one clause, and how to fix it.
    pub problems: Vec<String>,
}

impl fmt::Display for MissingTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problems.join("\n"))
    }
}

/// Finds skills and servers that sessions of the program cannot use, in a project.
pub(crate) fn check(
    program: &Program,
    routes: &Routes,
    harness: &dyn Harness,
    root: &Path,
) -> Result<(), Box<MissingTools>> {
    let servers = servers(routes);
    let skills = Skills::of(root);
    let mut problems: Vec<String> = Vec::new();
    let mut add = |problem: String| {
        if !problems.contains(&problem) {
            problems.push(problem);
        }
    };
    for session in program.session_permissions() {
        let agent = session.agent.as_deref();
        let name = harness.of_agent(agent).unwrap_or(harness).name();
        if !asks_model(name) {
            continue;
        }
        let own_servers = agent.and_then(|agent| servers.get(agent)).into_iter().flatten();
        for server in own_servers {
            if !passes_servers(name) {
                add(format!(
                    "harness `{name}` passes no MCP servers to its agents, but agent `{}` has `{}`; use a harness that does, such as `claude`, or remove it \
                     from `mcp`",
                    agent.unwrap_or_default(),
                    server.name
                ));
                continue;
            }
            for problem in server.problems(root) {
                add(format!("MCP server `{}`: {problem}", server.name));
            }
        }
        let of_settings = agent.and_then(|agent| routes.agents.get(agent)?.skills.as_ref());
        match of_settings {
            Some(own) => {
                for skill in own {
                    if let Some(problem) = skills.problem(name, skill.as_str()) {
                        let place = format!("`agents.{}.skills` in `prose.toml`", agent.unwrap_or_default());
                        add(skill_problem(name, skill.as_str(), &place, &problem));
                    }
                }
            }
            None => {
                for skill in &session.skills {
                    if let Some(problem) = skills.problem(name, &skill.name) {
                        let program = skill.import.as_deref().map(imported_name);
                        let place = NamedLine { program, line: skill.line }.to_string();
                        add(skill_problem(name, &skill.name, &place, &problem));
                    }
                }
            }
        }
    }
    match problems.is_empty() {
        true => Ok(()),
        false => Err(Box::new(MissingTools { problems })),
    }
}

fn skill_problem(harness: &str, skill: &str, place: &str, problem: &SkillProblem) -> String {
    match problem {
        SkillProblem::NotLoaded => format!(
            "harness `{harness}` loads no skills, but a session has `{skill}` ({place}); use a harness that does, such as `claude`, or set `skills = []` in \
             `[agents.NAME]` in `prose.toml`"
        ),
        SkillProblem::NoFile(file) => {
            format!("skill `{skill}` ({place}): `{}` does not exist", file.display())
        }
        SkillProblem::Unknown { folder } => format!(
            "skill `{skill}` ({place}) does not exist for harness `{harness}`; add `{folder}/{skill}/SKILL.md`, name a folder such as `./skills/{skill}`, or set \
             `skills` in `[agents.NAME]` in `prose.toml`"
        ),
    }
}
