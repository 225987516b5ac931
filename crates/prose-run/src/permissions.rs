//! Permissions of sessions that the harness of a run cannot enforce (decision 13), and those that the project adds.

use std::fmt;
use std::sync::Arc;

use prose_config::PermissionRules;
use prose_rights::{About, Enforcement, PermissionRule};
use prose_vm::effect::Permission;
use prose_vm::harness::Harness;
use prose_vm::permissions::effective;
use prose_vm::place::{NamedLine, imported_name};
use prose_vm::program::Program;

/// The permissions that a program or its project asks for and that the harness cannot enforce.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unenforced {
    /// The harness.
    pub harness: String,
    /// The rules, each once, with their places.
    pub rules: Vec<UnenforcedRule>,
}

/// A permission that the harness cannot enforce.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnenforcedRule {
    /// The permission.
    pub permission: Permission,
    /// Its place, such as `line 12` or `run.permissions in prose.toml`.
    pub place: String,
    /// The line in the program that is run, from 1; `None` for a rule in another file.
    pub line: Option<u32>,
}

/// The rules of the settings that count, and a note about the others: without the user's trust, only those count that restrict what agents may do
/// anyway (decision 18).
pub(crate) fn of_project(rules: &PermissionRules, is_trusted: bool) -> (Arc<[Permission]>, Option<String>) {
    let restricts = |about: &str, rule: &PermissionRule| match rule {
        PermissionRule::Deny | PermissionRule::Prompt => true,
        PermissionRule::Patterns(patterns) => {
            patterns.is_empty()
                || matches!(About::of(about), Some(About::Read | About::Write))
                    && !patterns
                        .iter()
                        .any(|pattern| pattern.starts_with(['/', '~']) || pattern.contains(".."))
        }
        PermissionRule::Allow => false,
    };
    let (counting, ignored): (Vec<_>, Vec<_>) =
        rules.iter().partition(|(about, rule)| is_trusted || restricts(about, rule));
    let ignored: Vec<String> =
        ignored.iter().map(|(about, rule)| format!("`{}`", rule.shown(about))).collect();
    let note = (!ignored.is_empty()).then(|| {
        let ignored = ignored.join(", ");
        format!("{ignored} in `run.permissions` has no effect, since the project is not trusted; if you trust it, run `prose trust`")
    });
    let rules =
        counting.into_iter().map(|(about, rule)| Permission { about: about.into(), rule: rule.clone() });
    (rules.collect(), note)
}

/// Rejects a program with permissions that the harness cannot enforce, before its first session.
pub(crate) fn check(
    program: &Program,
    project: &[Permission],
    harness: &dyn Harness,
) -> Result<(), Box<Unenforced>> {
    let mut rules: Vec<UnenforcedRule> = Vec::new();
    let mut name = None;
    for session in program.session_permissions() {
        let harness = harness.of_agent(session.agent.as_deref()).unwrap_or(harness);
        let written = &session.permissions;
        let own: Vec<Permission> = written.iter().map(|written| written.permission.clone()).collect();
        let merged = effective(&own, project);
        for (index, permission) in merged.into_iter().enumerate() {
            if harness.enforces(&permission.about, &permission.rule) {
                continue;
            }
            name.get_or_insert(harness.name());
            let (place, line, permission) = match written.get(index) {
                Some(written) => {
                    let line = written.line;
                    let program = written.import.as_deref().map(imported_name);
                    (
                        NamedLine { program, line }.to_string(),
                        written.import.is_none().then_some(line),
                        written.permission.clone(),
                    )
                }
                None => ("`run.permissions` in `prose.toml`".to_owned(), None, permission),
            };
            let rule = UnenforcedRule { permission, place, line };
            if !rules.contains(&rule) {
                rules.push(rule);
            }
        }
    }
    match name {
        None => Ok(()),
        Some(name) => Err(Box::new(Unenforced { harness: name.to_owned(), rules })),
    }
}

impl Unenforced {
    /// The rules, and what to do in an editor.
    pub fn for_editor(&self) -> String {
        format!("{}; {}", self.reason(), self.fix())
    }

    fn reason(&self) -> String {
        const MAX_SHOWN: usize = 5;
        let mut rules: Vec<String> = self
            .rules
            .iter()
            .take(MAX_SHOWN)
            .map(|UnenforcedRule { permission: Permission { about, rule }, place, .. }| {
                format!("`{}` ({place})", rule.shown(about))
            })
            .collect();
        if let Some(left) = self.rules.len().checked_sub(MAX_SHOWN).filter(|left| *left > 0) {
            rules.push(format!("{left} more"));
        }
        format!("the harness `{}` cannot enforce {}", self.harness, rules.join(", "))
    }

    fn fix(&self) -> String {
        let able = |rule: &UnenforcedRule| -> Vec<&str> {
            let kind = rule.permission.rule.kind();
            kind.into_iter().flat_map(|kind| Enforcement::covering(&rule.permission.about, kind)).collect()
        };
        let mut harnesses = self.rules.first().map(able).unwrap_or_default();
        harnesses.retain(|harness| {
            *harness != self.harness && self.rules.iter().all(|rule| able(rule).contains(harness))
        });
        match harnesses.first() {
            Some(harness) => format!("use a harness that can, such as `{harness}`, or change the rules"),
            None => "change the rules".to_owned(),
        }
    }
}

impl fmt::Display for Unenforced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}; {}, or pass `--allow-unenforced-permissions` to run the program all the same",
            self.reason(),
            self.fix()
        )
    }
}
