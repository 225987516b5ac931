//! The known agents: how they are started, their capabilities, and which permissions they can enforce.

use std::collections::BTreeSet;

use prose_vm::effect::{Permission, PermissionRule};

use super::{Argument, CommandSettings, PromptBy};
use crate::permissions::About;

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
            // Its driver has its arguments.
            Agent::Claude => {
                CommandSettings { variables: names(&["ANTHROPIC_*", "CLAUDE_*", "API_TIMEOUT_MS"]), ..common }
            }
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

    /// Whether it can enforce a permission (decision 13). Uncertain cases count as no.
    pub(super) fn enforces(self, about: &str, rule: &PermissionRule) -> bool {
        match (self, rule, About::of(about)) {
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
            Agent::Codex => {
                let sandbox = if has(About::Write) { "read-only" } else { "workspace-write" };
                vec!["--sandbox".to_owned(), sandbox.to_owned()]
            }
            Agent::Claude | Agent::OpenCode => Vec::new(),
        }
    }
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}
