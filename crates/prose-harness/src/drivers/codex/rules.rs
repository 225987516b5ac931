//! The permissions of a session in the terms of Codex.
//!
//! Codex runs commands in a sandbox that restricts writing and the network. Where that is all a session needs, commands run without questions. For other
//! rules Codex asks about each command and each change of a file. A command that was accepted runs again outside of the sandbox when it fails in it, so
//! such a command is accepted only if no rule depends on the sandbox.

use std::path::Path;

use prose_vm::activity::{Activity, Denial, Reporter};
use prose_vm::effect::{Failure, Permission, PermissionRule};
use serde_json::{Value, json};

use super::protocol::{CommandApproval, Elicitation, FileChange, inner_command};
use super::turn::{change_kind, changed_paths, changes_title};
use crate::mcp::McpServer;
use prose_backends::permissions::{About, Decision, Folders, McpTool, ToolRequest, decide, permit};

/// How a thread works.
pub(super) struct Rules<'a> {
    agent: Option<&'a str>,
    permissions: &'a [Permission],
    folders: Folders,
    is_asked: bool,
    servers: &'a [McpServer],
}

/// Answers a request with a decision.
fn answer(is_allowed: bool) -> Value {
    json!({ "decision": if is_allowed { "accept" } else { "decline" } })
}

impl<'a> Rules<'a> {
    pub(super) fn new(agent: Option<&'a str>, permissions: &'a [Permission], folders: Folders) -> Self {
        let mut rules = Self { agent, permissions, folders, is_asked: false, servers: &[] };
        let holds_in_sandbox = |about| rules.of(about).all(is_all_or_nothing);
        let executes = rules.of(About::Execute).all(|rule| *rule == PermissionRule::Allow)
            && rules.of(About::Execute).next().is_some();
        let reads = rules.of(About::Read).all(|rule| *rule == PermissionRule::Allow);
        let is_sandboxed =
            executes && reads && holds_in_sandbox(About::Write) && holds_in_sandbox(About::Network);
        rules.is_asked = !is_sandboxed;
        rules
    }

    /// The same with the MCP servers of the agent.
    pub(super) fn with_servers(self, servers: &'a [McpServer]) -> Self {
        Self { servers, ..self }
    }

    fn of(&self, about: About) -> impl Iterator<Item = &'a PermissionRule> {
        let rules = self.permissions.iter();
        rules.filter(move |it| About::of(&it.about) == Some(about)).map(|it| &it.rule)
    }

    fn denies(&self, about: About) -> bool {
        self.of(about).any(PermissionRule::denies_all)
    }

    /// Whether Codex asks before each command and each change.
    pub(super) fn approval_policy(&self) -> &'static str {
        if self.is_asked { "untrusted" } else { "on-request" }
    }

    pub(super) fn sandbox(&self) -> Value {
        let allows_network = self.of(About::Network).next().is_some() && !self.restricts(About::Network);
        if self.denies(About::Write) {
            return json!({ "type": "readOnly", "networkAccess": allows_network });
        }
        let root = &self.folders.root;
        let outside = self.folders.results.iter().filter(|file| !file.starts_with(root));
        let roots: Vec<_> = outside.filter_map(|file| file.parent()).collect();
        json!({
            "type": "workspaceWrite",
            "writableRoots": roots,
            "networkAccess": allows_network,
            "excludeTmpdirEnvVar": false,
            "excludeSlashTmp": false,
        })
    }

    fn restricts(&self, about: About) -> bool {
        self.of(about).any(|rule| *rule != PermissionRule::Allow)
    }

    /// The configuration of the thread: without the tools that no rule can be compared with.
    pub(super) fn config(&self, mcp_servers: &[String]) -> Value {
        let mut config = json!({});
        let has_own = !self.servers.is_empty();
        if has_own || About::ALL.into_iter().any(|about| self.restricts(about)) {
            without_servers(&mut config, mcp_servers);
        }
        for server in self.servers {
            config["mcp_servers"][server.name.as_str()] = server.for_codex(&self.folders.root);
        }
        if self.restricts(About::Network) {
            config["web_search"] = "disabled".into();
        }
        if self.restricts(About::Read) {
            // They read files without asking.
            config["features.view_image"] = false.into();
            config["project_doc_max_bytes"] = 0.into();
        }
        config
    }

    /// Decides whether a command may run.
    pub(super) async fn command(
        &self,
        approval: &CommandApproval,
        reporter: &Reporter,
    ) -> Result<Value, Failure> {
        let shown = inner_command(approval.command.as_deref().unwrap_or_default());
        let root = &self.folders.root;
        let command = match approval.cwd.as_deref() {
            Some(folder) if Path::new(folder) != root => {
                let folder = shlex::try_quote(folder).unwrap_or_default();
                format!("(cd {folder} && {shown}\n)")
            }
            _ => shown.clone(),
        };
        let tool = ToolRequest { title: shown, ..ToolRequest::command(command) };
        if !self.is_asked {
            reporter.report(Activity::Denied(Denial {
                title: tool.title,
                reason: "Codex asks to run it outside of its sandbox".to_owned(),
            }));
            return Ok(answer(false));
        }
        if self.only_reads(&tool) {
            return Ok(answer(true));
        }
        let was_asked = matches!(decide(self.permissions, &tool, &self.folders), Decision::Ask { .. });
        let mut is_allowed = permit(reporter, self.agent, self.permissions, &tool, &self.folders).await?;
        if is_allowed && !was_asked {
            // Patterns allow the command itself, but outside of the sandbox it could break other rules.
            let others = self.with(&[("execute", PermissionRule::Allow)]);
            is_allowed = permit(reporter, self.agent, &others, &tool, &self.folders).await?;
        }
        Ok(answer(is_allowed))
    }

    /// Whether a command is known to only read files that may be read. Codex has no other tool for that.
    fn only_reads(&self, tool: &ToolRequest) -> bool {
        let rules = [
            ("execute", PermissionRule::Allow),
            ("write", PermissionRule::Deny),
            ("network", PermissionRule::Deny),
        ];
        decide(&self.with(&rules), tool, &self.folders) == Decision::Allow
    }

    /// The permissions with other rules for some subjects.
    fn with(&self, rules: &[(&'static str, PermissionRule)]) -> Vec<Permission> {
        let replaced =
            |it: &Permission| rules.iter().any(|(about, _)| About::of(about) == About::of(&it.about));
        let kept = self.permissions.iter().filter(|it| !replaced(it)).cloned();
        let new = rules.iter().map(|(about, rule)| Permission { about: (*about).into(), rule: rule.clone() });
        kept.chain(new).collect()
    }

    /// Decides whether files may be changed.
    pub(super) async fn changes(
        &self,
        changes: Option<&[FileChange]>,
        reporter: &Reporter,
    ) -> Result<Value, Failure> {
        let changes = changes.unwrap_or_default();
        let paths = changed_paths(changes).map(|path| path.to_string()).collect();
        let tool = ToolRequest { paths, ..ToolRequest::new(change_kind(changes), changes_title(changes)) };
        Ok(answer(permit(reporter, self.agent, self.permissions, &tool, &self.folders).await?))
    }

    /// Decides about a question of an MCP server, such as whether its tool may be used.
    pub(super) async fn elicitation(
        &self,
        elicitation: &Elicitation,
        tool: Option<&str>,
        reporter: &Reporter,
    ) -> Result<Value, Failure> {
        let Elicitation { server_name, message } = elicitation;
        let is_own = self.servers.iter().any(|server| server.name == *server_name);
        let tool = match tool.filter(|_| is_own) {
            Some(tool) => ToolRequest::mcp(McpTool { server: server_name.clone(), tool: tool.to_owned() }),
            None => {
                ToolRequest::new(prose_vm::activity::ToolKind::Other, format!("{server_name}: {message}"))
            }
        };
        let is_allowed = permit(reporter, self.agent, self.permissions, &tool, &self.folders).await?;
        let action = if is_allowed { "accept" } else { "decline" };
        Ok(json!({ "action": action, "content": is_allowed.then(|| json!({})), "_meta": null }))
    }
}

/// What Codex sends to the model with each question, although no question needs it.
const NOT_FOR_QUESTIONS: &[&str] = &[
    "include_environment_context",
    "include_permissions_instructions",
    "include_apps_instructions",
    "include_collaboration_mode_instructions",
    "skills.include_instructions",
    "skills.bundled.enabled",
    "features.goals",
    "features.sleep_tool",
    "features.tool_suggest",
    "features.multi_agent_v2",
];

/// The features by which Codex reads files.
const READING: &[&str] = &["features.shell_tool", "features.unified_exec", "features.view_image"];

/// The configuration of a thread that answers a question: it can change nothing, and reads files only if the question names them.
pub(super) fn config_of_question(mcp_servers: &[String], names_files: bool) -> Value {
    let mut config = json!({ "web_search": "disabled", "project_doc_max_bytes": 0 });
    let reading = if names_files { &[] } else { READING };
    for setting in NOT_FOR_QUESTIONS.iter().chain(reading) {
        config[setting] = false.into();
    }
    without_servers(&mut config, mcp_servers);
    config
}

/// Turns off tools that neither the sandbox nor approvals restrict.
fn without_servers(config: &mut Value, mcp_servers: &[String]) {
    config["features.apps"] = false.into();
    config["features.plugins"] = false.into();
    for name in mcp_servers {
        config["mcp_servers"][name] = json!({ "enabled": false });
    }
}

fn is_all_or_nothing(rule: &PermissionRule) -> bool {
    *rule == PermissionRule::Allow || rule.denies_all()
}
