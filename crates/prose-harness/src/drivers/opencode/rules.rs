//! The permissions of a session in the terms of OpenCode.
//!
//! OpenCode removes tools that are denied everywhere. Patterns are not translated: it compares them with paths as the model writes them, so that a symlink
//! or `..` would get around them.

use std::path::Path;

use prose_vm::effect::{Permission, PermissionRule};
use serde_json::{Value, json};

use crate::permissions::{About, Folders};

/// Whether OpenCode can enforce a permission.
pub(super) fn enforces(about: &str, rule: &PermissionRule) -> bool {
    *rule == PermissionRule::Allow || About::of(about).is_some() && rule.denies_all()
}

/// The tools that read files, other than `read`.
const SEARCHES: &[&str] = &["glob", "grep", "list"];

/// The tools that use the network.
const FETCHES: &[&str] = &["webfetch", "websearch", "codesearch"];

/// The permissions of an agent that works on a session. Of several rules for a tool, the last one counts.
pub(super) fn of_session(permissions: &[Permission], folders: &Folders) -> Value {
    let of =
        |about| permissions.iter().filter(move |it| About::of(&it.about) == Some(about)).map(|it| &it.rule);
    // What cannot be enforced is denied, unless the user starts the session regardless.
    let denies = |about| of(about).any(PermissionRule::denies_all);
    let is_restricted = permissions.iter().any(|it| it.rule.denies_all());
    // A command can do anything, and so can tools of others and agents with permissions of their own.
    let executes = of(About::Execute).next().is_some() && !is_restricted;
    if executes {
        // The rules that the user has configured count.
        return json!({ "external_directory": outside(folders) });
    }
    let mut rules = json!({ "*": "deny", "todowrite": "allow", "external_directory": outside(folders) });
    if denies(About::Read) {
        // The files of the context may always be read.
        let mut files = json!({ "*": "deny" });
        let base = base(&folders.root);
        for path in &folders.passed {
            files[&*path.strip_prefix(base).unwrap_or(path).to_string_lossy()] = "allow".into();
        }
        rules["read"] = files;
    } else {
        allow_reading(&mut rules);
        rules["skill"] = "allow".into();
    }
    if !denies(About::Write) {
        rules["edit"] = "allow".into();
    }
    if !denies(About::Network) {
        FETCHES.iter().for_each(|tool| rules[tool] = "allow".into());
    }
    rules
}

/// The permissions of an agent that answers a question: it changes nothing.
pub(super) fn of_question() -> Value {
    let mut rules = json!({ "*": "deny", "external_directory": "deny" });
    allow_reading(&mut rules);
    rules
}

/// Allows reading as OpenCode does by default: files with secrets would need a confirmation.
fn allow_reading(rules: &mut Value) {
    SEARCHES.iter().for_each(|tool| rules[tool] = "allow".into());
    rules["read"] = json!({ "*": "allow", "*.env": "deny", "*.env.*": "deny", "*.env.example": "allow" });
}

/// The folder that paths in rules are relative to: that of the repository, or the root of the file system.
fn base(root: &Path) -> &Path {
    let repository = root.ancestors().find(|folder| folder.join(".git").exists());
    repository.or_else(|| root.ancestors().last()).unwrap_or(root)
}

/// The folders outside of the project that the session has the agent write to.
fn outside(folders: &Folders) -> Value {
    let mut rules = json!({ "*": "deny" });
    for file in folders.results.iter().filter(|file| !file.starts_with(&folders.root)) {
        if let Some(folder) = file.parent() {
            rules[&*folder.join("*").to_string_lossy()] = "allow".into();
        }
    }
    rules
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(permissions: &[(&str, PermissionRule)], expected: Expect) {
        let permissions = permissions.iter();
        let permissions: Vec<_> = permissions
            .map(|(about, rule)| Permission { about: (*about).into(), rule: rule.clone() })
            .collect();
        let folders = Folders {
            root: "/p".into(),
            passed: vec!["/p/context.md".into()],
            results: vec!["/p/.prose/result.md".into(), "/home/me/.prose/memory.md".into()],
        };
        expected.assert_eq(&of_session(&permissions, &folders).to_string());
    }

    #[test]
    fn only_tools_that_a_session_may_use_are_left() {
        use PermissionRule::{Allow, Deny};

        check(
            &[],
            expect![[
                r#"{"*":"deny","codesearch":"allow","edit":"allow","external_directory":{"*":"deny","/home/me/.prose/*":"allow"},"glob":"allow","grep":"allow","list":"allow","read":{"*":"allow","*.env":"deny","*.env.*":"deny","*.env.example":"allow"},"skill":"allow","todowrite":"allow","webfetch":"allow","websearch":"allow"}"#
            ]],
        );
        check(
            &[("bash", Allow)],
            expect![[r#"{"external_directory":{"*":"deny","/home/me/.prose/*":"allow"}}"#]],
        );
        check(
            &[("bash", Allow), ("network", Deny)],
            expect![[
                r#"{"*":"deny","edit":"allow","external_directory":{"*":"deny","/home/me/.prose/*":"allow"},"glob":"allow","grep":"allow","list":"allow","read":{"*":"allow","*.env":"deny","*.env.*":"deny","*.env.example":"allow"},"skill":"allow","todowrite":"allow"}"#
            ]],
        );
        check(
            &[("write", Deny)],
            expect![[
                r#"{"*":"deny","codesearch":"allow","external_directory":{"*":"deny","/home/me/.prose/*":"allow"},"glob":"allow","grep":"allow","list":"allow","read":{"*":"allow","*.env":"deny","*.env.*":"deny","*.env.example":"allow"},"skill":"allow","todowrite":"allow","webfetch":"allow","websearch":"allow"}"#
            ]],
        );
        check(
            &[("read", Deny)],
            expect![[
                r#"{"*":"deny","codesearch":"allow","edit":"allow","external_directory":{"*":"deny","/home/me/.prose/*":"allow"},"read":{"*":"deny","p/context.md":"allow"},"todowrite":"allow","webfetch":"allow","websearch":"allow"}"#
            ]],
        );
    }
}
