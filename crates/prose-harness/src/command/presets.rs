//! What is known of agents: how their programs are started, what they can do, and what they can be forbidden.

use std::collections::BTreeSet;

use prose_vm::effect::{Permission, PermissionRule};

use super::{Argument, CommandSettings, PromptBy, ReplyForm};

/// An agent with a command of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agent {
    /// `claude -p`, Claude Code.
    Claude,
    /// `codex exec`, Codex.
    Codex,
    /// `opencode run`, OpenCode.
    OpenCode,
}

/// The names of models that programs use for the sizes that one provider has (R24, decision 5).
const SIZES: &[&str] = &["haiku", "sonnet", "opus"];

impl Agent {
    /// How it is started, as long as nobody says otherwise.
    pub fn settings(self) -> CommandSettings {
        // Values stand in the argument of their flag, so that none becomes an option.
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
                    // Without it, nobody would be there to allow the binding to be written.
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

    /// What its program is called.
    pub fn program(self) -> &'static str {
        match self {
            Agent::Claude => "claude",
            Agent::Codex => "codex",
            Agent::OpenCode => "opencode",
        }
    }

    /// How it is installed.
    pub fn install(self) -> &'static str {
        match self {
            Agent::Claude => "npm install -g @anthropic-ai/claude-code",
            Agent::Codex => "npm install -g @openai/codex",
            Agent::OpenCode => "npm install -g opencode-ai",
        }
    }

    /// Whether it can be made to keep to a rule (decision 13). What is not known for certain counts as no.
    pub(super) fn enforces(self, about: &str, rule: &PermissionRule) -> bool {
        match (self, rule, About::of(about)) {
            (Agent::Claude, PermissionRule::Deny, Some(_)) => true,
            // Its sandbox is about what commands write; commands themselves and reading cannot be forbidden.
            (Agent::Codex, PermissionRule::Deny, Some(About::Write)) => true,
            _ => false,
        }
    }

    /// The arguments that make it keep to the rules that it can be made to keep to.
    pub(super) fn permissions(self, permissions: &[Permission]) -> Vec<String> {
        let denied: BTreeSet<About> = permissions
            .iter()
            .filter(|permission| permission.rule == PermissionRule::Deny)
            .filter_map(|permission| About::of(&permission.about))
            .collect();
        let has = |about| denied.contains(&about);
        match self {
            Agent::Claude if !denied.is_empty() => {
                // What is left is named rather than what is forbidden, since later versions have more tools. A command can do everything, so
                // none is left whatever is forbidden.
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
                        // These are allowed anyway.
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

/// What permissions are about.
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
