//! The known agents: how they are started, their capabilities, and which permissions they can enforce.

use std::collections::BTreeSet;

use prose_vm::effect::{Permission, PermissionRule};

use super::{Argument, CommandSettings, PromptBy, ReplyForm};

/// An agent with a preset command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agent {
    /// `claude -p`, Claude Code.
    Claude,
    /// `codex exec`, Codex.
    Codex,
    /// `opencode run`, OpenCode.
    OpenCode,
}

/// Names of models that stand for the sizes of one provider's models (R24, decision 5).
const SIZES: &[&str] = &["haiku", "sonnet", "opus"];

impl Agent {
    /// The default command.
    pub fn settings(self) -> CommandSettings {
        // Values are part of their flag's argument, so that none is parsed as an option.
        let one = |text: &str| Argument::One(text.to_owned());
        let all = |texts: &[&str]| Argument::All(texts.iter().map(|text| (*text).to_owned()).collect());
        let common = CommandSettings {
            prompt: PromptBy::Stdin,
            reads_files: true,
            writes_files: true,
            agent: Some(self),
            ..CommandSettings::new(self.program())
        };
        match self {
            Agent::Claude => CommandSettings {
                arguments: vec![
                    one("-p"),
                    all(&["--output-format", "json"]),
                    // Without it, the binding could not be written, since no user can confirm it.
                    all(&["--permission-mode", "acceptEdits"]),
                    one("--model={model}"),
                    one("--append-system-prompt={system}"),
                ],
                reply: ReplyForm::ClaudeJson,
                variables: names(&["ANTHROPIC_*", "CLAUDE_*", "API_TIMEOUT_MS"]),
                ..common
            },
            Agent::Codex => CommandSettings {
                arguments: vec![
                    one("exec"),
                    // Programs also run in folders without version control.
                    one("--skip-git-repo-check"),
                    all(&["--color", "never"]),
                    one("--model={model}"),
                ],
                variables: names(&["OPENAI_*", "CODEX_*"]),
                unknown_models: names(SIZES),
                ..common
            },
            Agent::OpenCode => CommandSettings {
                arguments: vec![one("run"), one("--model={model}")],
                variables: names(&["OPENCODE_*", "ANTHROPIC_*", "OPENAI_*", "GEMINI_*", "OPENROUTER_*"]),
                unknown_models: names(SIZES),
                ..common
            },
        }
    }

    /// The name of its program.
    pub fn program(self) -> &'static str {
        match self {
            Agent::Claude => "claude",
            Agent::Codex => "codex",
            Agent::OpenCode => "opencode",
        }
    }

    /// The command that installs it.
    pub fn install(self) -> &'static str {
        match self {
            Agent::Claude => "npm install -g @anthropic-ai/claude-code",
            Agent::Codex => "npm install -g @openai/codex",
            Agent::OpenCode => "npm install -g opencode-ai",
        }
    }

    /// The arguments that make its program exit with 0 if it is signed in; `None` if it has no such command.
    pub fn sign_in_status(self) -> Option<&'static [&'static str]> {
        match self {
            Agent::Claude => Some(&["auth", "status"]),
            Agent::Codex => Some(&["login", "status"]),
            // It lists credentials, and models without any can be used.
            Agent::OpenCode => None,
        }
    }

    /// The command that signs in.
    pub fn sign_in(self) -> &'static str {
        match self {
            Agent::Claude => "claude auth login",
            Agent::Codex => "codex login",
            Agent::OpenCode => "opencode auth login",
        }
    }

    /// Whether it can enforce a permission (decision 13). Uncertain cases count as no.
    pub(super) fn enforces(self, about: &str, rule: &PermissionRule) -> bool {
        match (self, rule, About::of(about)) {
            (Agent::Claude, PermissionRule::Deny, Some(_)) => true,
            // Its sandbox restricts what commands write; commands and reading cannot be forbidden.
            (Agent::Codex, PermissionRule::Deny, Some(About::Write)) => true,
            _ => false,
        }
    }

    /// The arguments that enforce the permissions that it can enforce.
    pub(super) fn permissions(self, permissions: &[Permission]) -> Vec<String> {
        let denied: BTreeSet<About> = permissions
            .iter()
            .filter(|permission| permission.rule == PermissionRule::Deny)
            .filter_map(|permission| About::of(&permission.about))
            .collect();
        let has = |about| denied.contains(&about);
        match self {
            Agent::Claude if !denied.is_empty() => {
                // Lists the remaining tools instead of the forbidden ones, since later versions have more tools. A command can do anything, so any
                // restriction removes commands.
                let mut tools = Vec::new();
                if !has(About::Read) {
                    tools.extend(["Read", "Glob", "Grep"]);
                }
                if !has(About::Write) {
                    tools.extend(["Write", "Edit"]);
                }
                if !has(About::Network) {
                    tools.extend(["WebFetch", "WebSearch"]);
                }
                let allowed = PermissionRule::Allow;
                let allows_network = permissions
                    .iter()
                    .any(|it| it.rule == allowed && About::of(&it.about) == Some(About::Network));
                let mut arguments =
                    vec!["--strict-mcp-config".to_owned(), "--tools".to_owned(), tools.join(",")];
                if allows_network && !has(About::Network) {
                    arguments.extend(["--allowedTools".to_owned(), "WebFetch,WebSearch".to_owned()]);
                }
                arguments
            }
            Agent::Claude => {
                let allowed: Vec<&str> = permissions
                    .iter()
                    .filter(|permission| permission.rule == PermissionRule::Allow)
                    .filter_map(|permission| match About::of(&permission.about)? {
                        About::Execute => Some("Bash"),
                        About::Network => Some("WebFetch,WebSearch"),
                        // These are always allowed.
                        About::Read | About::Write => None,
                    })
                    .collect();
                match allowed.is_empty() {
                    true => Vec::new(),
                    false => vec!["--allowedTools".to_owned(), allowed.join(",")],
                }
            }
            Agent::Codex => {
                let sandbox = if has(About::Write) { "read-only" } else { "workspace-write" };
                vec!["--sandbox".to_owned(), sandbox.to_owned()]
            }
            Agent::OpenCode => Vec::new(),
        }
    }
}

/// The subject of a permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum About {
    Read,
    Write,
    Execute,
    Network,
}

impl About {
    fn of(name: &str) -> Option<Self> {
        match name {
            "read" => Some(About::Read),
            "write" => Some(About::Write),
            "execute" | "bash" => Some(About::Execute),
            "network" => Some(About::Network),
            _ => None,
        }
    }
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}
