//! The rules of permissions, and which of them harnesses can enforce (decision 13).

use serde::{Deserialize, Serialize};

/// The rule of a permission.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PermissionRule {
    /// Everything is allowed.
    Allow,
    /// Nothing is allowed.
    Deny,
    /// The user is asked each time.
    Prompt,
    /// Only what matches one of the patterns is allowed.
    Patterns(Vec<String>),
}

impl PermissionRule {
    /// Whether it allows nothing at all, as an empty list of patterns does.
    pub fn denies_all(&self) -> bool {
        self.kind() == Some(RuleKind::Deny)
    }

    /// The kind of rule; `None` for one that needs no enforcement.
    pub fn kind(&self) -> Option<RuleKind> {
        match self {
            PermissionRule::Allow => None,
            PermissionRule::Deny => Some(RuleKind::Deny),
            PermissionRule::Prompt => Some(RuleKind::Prompt),
            PermissionRule::Patterns(patterns) if patterns.is_empty() => Some(RuleKind::Deny),
            PermissionRule::Patterns(_) => Some(RuleKind::Patterns),
        }
    }

    /// The permission as programs write it, such as `write: ["docs/"]`.
    pub fn shown(&self, about: &str) -> String {
        match self {
            PermissionRule::Allow => format!("{about}: allow"),
            PermissionRule::Deny => format!("{about}: deny"),
            PermissionRule::Prompt => format!("{about}: prompt"),
            PermissionRule::Patterns(patterns) => format!("{about}: {patterns:?}"),
        }
    }
}

/// The subject of a permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum About {
    /// `read`
    Read,
    /// `write`
    Write,
    /// `execute` and `bash`
    Execute,
    /// `network`
    Network,
    /// `mcp`: the tools of MCP servers
    Mcp,
}

impl About {
    /// All subjects.
    pub const ALL: [Self; 5] = [Self::Read, Self::Write, Self::Execute, Self::Network, Self::Mcp];

    /// Its name in programs.
    pub fn name(self) -> &'static str {
        match self {
            About::Read => "read",
            About::Write => "write",
            About::Execute => "execute",
            About::Network => "network",
            About::Mcp => "mcp",
        }
    }

    /// The subject of a permission by its name in programs; `None` for others.
    pub fn of(name: &str) -> Option<Self> {
        match name {
            "read" => Some(About::Read),
            "write" => Some(About::Write),
            "execute" | "bash" => Some(About::Execute),
            "network" => Some(About::Network),
            "mcp" => Some(About::Mcp),
            _ => None,
        }
    }
}

/// The kinds of rules that restrict an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RuleKind {
    /// `deny`, or an empty list of patterns
    Deny,
    /// `prompt`
    Prompt,
    /// A list of patterns
    Patterns,
}

/// The rules that a harness can enforce.
#[derive(Debug)]
pub struct Enforcement {
    /// The name of the harness.
    pub harness: &'static str,
    rules: Enforced,
}

#[derive(Debug)]
enum Enforced {
    /// Its sessions read, write and execute nothing.
    Everything,
    /// These kinds of rules about these subjects. Uncertain cases are left out.
    Rules(&'static [(About, &'static [RuleKind])]),
}

/// The maximum number of harnesses that a message suggests.
const MAX_SUGGESTED: usize = 3;

const EACH: &[RuleKind] = &[RuleKind::Deny, RuleKind::Prompt, RuleKind::Patterns];

/// The rules of a harness that has `prose` decide about each tool call.
const ALL: &[(About, &[RuleKind])] = &[
    (About::Read, EACH),
    (About::Write, EACH),
    (About::Execute, EACH),
    (About::Network, EACH),
    (About::Mcp, EACH),
];

/// What each harness can enforce.
const ENFORCEMENTS: &[Enforcement] = &[
    Enforcement { harness: "offline", rules: Enforced::Everything },
    Enforcement { harness: "script", rules: Enforced::Everything },
    Enforcement { harness: "provider", rules: Enforced::Everything },
    Enforcement { harness: "claude", rules: Enforced::Rules(ALL) },
    Enforcement { harness: "codex", rules: Enforced::Rules(ALL) },
    Enforcement { harness: "opencode", rules: Enforced::Rules(ALL) },
    Enforcement { harness: "claude-agent-acp", rules: Enforced::Rules(ALL) },
    // Its sandbox has no network.
    Enforcement {
        harness: "codex-acp",
        rules: Enforced::Rules(&[(About::Write, EACH), (About::Network, &[RuleKind::Deny])]),
    },
    // It is started with the rule that it asks about each command.
    Enforcement {
        harness: "gemini",
        rules: Enforced::Rules(&[(About::Write, EACH), (About::Execute, EACH)]),
    },
    // It asks before it uses a tool of these subjects.
    Enforcement {
        harness: "opencode-acp",
        rules: Enforced::Rules(&[(About::Write, EACH), (About::Execute, EACH), (About::Network, EACH)]),
    },
    // It is started with the rule that it asks about each command.
    Enforcement { harness: "qwen", rules: Enforced::Rules(&[(About::Write, EACH), (About::Execute, EACH)]) },
    Enforcement { harness: "acp", rules: Enforced::Rules(&[]) },
    Enforcement { harness: "command", rules: Enforced::Rules(&[]) },
];

impl Enforcement {
    /// What a harness can enforce; `None` for an unknown one.
    pub fn of(harness: &str) -> Option<&'static Self> {
        ENFORCEMENTS.iter().find(|known| known.harness == harness)
    }

    /// Whether it can enforce a kind of rule about a subject, by its name in programs.
    pub fn covers(&self, about: &str, kind: RuleKind) -> bool {
        match self.rules {
            Enforced::Everything => true,
            Enforced::Rules(rules) => About::of(about).is_some_and(|about| {
                rules.iter().any(|(known, kinds)| *known == about && kinds.contains(&kind))
            }),
        }
    }

    /// Whether its agents use tools, which the rules are about.
    pub fn has_tools(&self) -> bool {
        matches!(self.rules, Enforced::Rules(_))
    }

    /// Whether a harness can enforce a rule about a subject. Every harness can enforce that everything is allowed.
    pub fn holds(harness: &str, about: &str, rule: &PermissionRule) -> bool {
        rule.kind().is_none_or(|kind| Self::of(harness).is_some_and(|known| known.covers(about, kind)))
    }

    /// The first harnesses with tools that can enforce a kind of rule about a subject, as suggestions.
    pub fn covering(about: &str, kind: RuleKind) -> impl Iterator<Item = &'static str> {
        ENFORCEMENTS
            .iter()
            .filter(move |known| matches!(known.rules, Enforced::Rules(_)) && known.covers(about, kind))
            .map(|known| known.harness)
            .take(MAX_SUGGESTED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_list_denies() {
        let patterns = |patterns: &[&str]| {
            PermissionRule::Patterns(patterns.iter().map(|pattern| (*pattern).to_owned()).collect())
        };
        assert!(patterns(&[]).denies_all() && PermissionRule::Deny.denies_all());
        assert!(!patterns(&["docs/"]).denies_all() && !PermissionRule::Prompt.denies_all());
    }

    #[test]
    fn only_known_subjects_are_enforced_unless_there_is_nothing_to_enforce() {
        let covers = |harness: &str, about: &str| {
            Enforcement::of(harness).is_some_and(|known| known.covers(about, RuleKind::Deny))
        };
        assert!(covers("offline", "database") && covers("claude", "bash"));
        assert!(!covers("claude", "database") && !covers("command", "bash") && !covers("other", "bash"));
    }
}
