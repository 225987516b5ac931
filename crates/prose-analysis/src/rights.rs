//! The rights that fetched programs request (decision 19).

use prose_rights::{About, Grants, Identity, PermissionRule, Right};

use crate::db::{Db, SourceFile};
use crate::imports::imported_programs;
use crate::location::Origin;
use crate::model::{Body, Expr, ExprId, Property, Stmt, TextKind, Value};
use crate::statements::{body, statements};

/// A fetched program and the rights that it requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requests {
    /// Its identity in the project.
    pub identity: Identity,
    /// The rights, each once, in the order of the text.
    pub rights: Vec<Right>,
}

/// The identity of a program in the project; none for a local one.
pub fn identity(db: &dyn Db, file: SourceFile) -> Option<Identity> {
    match file.origin(db) {
        Origin::Local => None,
        Origin::Remote(origin) => Some(Identity::new(&origin.reference, &file.project(db).registry.url)),
    }
}

/// The requests of a program and of those that it imports, as far as they are fetched, in the order of the imports.
pub fn requests(db: &dyn Db, file: SourceFile) -> Vec<Requests> {
    let mut requests: Vec<Requests> = Vec::new();
    let mut known = vec![file];
    let mut next = 0;
    while let Some(&program) = known.get(next) {
        next += 1;
        for imported in imported_programs(db, program) {
            if !known.contains(imported) {
                known.push(*imported);
            }
        }
        let Some(identity) = identity(db, program) else { continue };
        let rights = asked(db, program);
        match requests.iter_mut().find(|known| known.identity == identity) {
            _ if rights.is_empty() => {}
            Some(known) => rights.into_iter().for_each(|right| add(&mut known.rights, right)),
            None => requests.push(Requests { identity, rights }),
        }
    }
    requests
}

/// What a fetched program and those that it imports request and is not granted.
pub fn missing(db: &dyn Db, file: SourceFile, grants: &Grants) -> Vec<Requests> {
    let mut missing = requests(db, file);
    for Requests { identity, rights } in &mut missing {
        rights.retain(|right| !grants.permit(identity, right));
    }
    missing.retain(|requests| !requests.rights.is_empty());
    missing
}

/// The rights that a program would need if it was fetched: for files that it passes on, memories outside of the run, skills that it names by path,
/// and what its agents may not do without a rule. Where the name of a file is only known when the program runs, this is a right to its folder.
pub fn asked(db: &dyn Db, file: SourceFile) -> Vec<Right> {
    let mut rights = Vec::new();
    for placed in &statements(db, file).list {
        let body = body(db, placed.statement);
        for (_, data) in body.stmts() {
            match &data.stmt {
                Stmt::Agent { properties, .. } => {
                    of_properties(body, properties, &mut rights);
                    if let Some(right) = memory(body, properties) {
                        add(&mut rights, right);
                    }
                }
                Stmt::Session { properties, .. } | Stmt::Resume { properties, .. } => {
                    of_properties(body, properties, &mut rights);
                }
                Stmt::Import { source: Some(source), .. } => {
                    if let Some(path) = body.string(*source).and_then(skill_path) {
                        add(&mut rights, Right::skills(path));
                    }
                }
                _ => {}
            }
        }
    }
    rights
}

fn add(rights: &mut Vec<Right>, right: Right) {
    if !rights.contains(&right) {
        rights.push(right);
    }
}

fn of_properties(body: &Body, properties: &[Property], rights: &mut Vec<Right>) {
    for property in properties {
        match property.name.text.as_str() {
            "context" => {
                let entries = property.entries.iter().flatten();
                for value in entries.filter(|entry| entry.name.text == "file").filter_map(|entry| entry.value)
                {
                    add(rights, files(body, value));
                }
            }
            "skills" => {
                let Some(value) = property.value else { continue };
                let one = body.text(value).into_iter();
                let texts = body.skills(value).into_iter().map(|(_, text)| text).chain(one);
                for path in texts.filter_map(|text| skill_path(text.value.as_deref()?)) {
                    add(rights, Right::skills(path));
                }
            }
            "permissions" => {
                for entry in property.entries.iter().flatten() {
                    let Some(about) = About::of(&entry.name.text) else { continue };
                    let Some(value) = entry.value else { continue };
                    of_rule(body, about, value).into_iter().for_each(|right| add(rights, right));
                }
            }
            _ => {}
        }
    }
}

/// The rights to what a permission allows. A rule that is computed when the program runs may allow everything.
fn of_rule(body: &Body, about: About, value: ExprId) -> Vec<Right> {
    let literal = |value: ExprId| {
        let text = body.text(value).filter(|text| text.interpolations.is_empty());
        text.and_then(|text| text.value.as_deref())
    };
    let rule = match &body[value].expr {
        Expr::Array(items) => {
            let pattern = |item: &Value| item.expr().and_then(literal).map(str::to_owned);
            items.iter().map(pattern).collect::<Option<Vec<String>>>().map(PermissionRule::Patterns)
        }
        Expr::Bool(is_allowed) => {
            Some(if *is_allowed { PermissionRule::Allow } else { PermissionRule::Deny })
        }
        _ => match body.word(value).or_else(|| literal(value)).map(str::trim) {
            Some("allow" | "true") => Some(PermissionRule::Allow),
            Some("deny" | "false") => Some(PermissionRule::Deny),
            Some("prompt" | "ask") => Some(PermissionRule::Prompt),
            _ => literal(value).map(|pattern| PermissionRule::Patterns(vec![pattern.trim().to_owned()])),
        },
    };
    match rule {
        Some(rule) => Right::of_rule(about, &rule),
        None => vec![Right::everything(about)],
    }
}

/// The file that a text names, or its folder, as far as it is known before the program runs.
fn files(body: &Body, value: ExprId) -> Right {
    let text = body.text(value).filter(|text| text.kind == TextKind::OneLine);
    match text.and_then(|text| Some((text, text.value.as_deref()?))) {
        Some((text, path)) if text.interpolations.is_empty() => Right::files(path),
        Some((_, path)) => {
            let known = path.split('{').next().unwrap_or_default();
            let folder = known.rfind('/').map_or("", |slash| &known[..=slash]);
            Right::files(&format!("{folder}**"))
        }
        None => Right::files("**"),
    }
}

/// Where an agent keeps its memory, if that is not with the run (R42).
fn memory(body: &Body, properties: &[Property]) -> Option<Right> {
    let value = properties.iter().find(|property| property.name.text == "persist")?.value?;
    match &body[value].expr {
        Expr::Bool(_) => None,
        Expr::Text(text) => {
            let path = text.value.as_deref().unwrap_or("**");
            Some(Right::memory(path))
        }
        _ => None,
    }
}

/// The name of a skill, if it is a path.
pub fn skill_path(name: &str) -> Option<&str> {
    let name = name.trim();
    let path = name.strip_prefix("file:").unwrap_or(name);
    let is_drive = path.as_bytes().get(1) == Some(&b':');
    let is_path = path.len() < name.len()
        || path.starts_with(['.', '/', '~'])
        || path.contains('\\')
        || is_drive
        || (path.contains('/') && !path.contains(':'));
    is_path.then_some(path)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::{AnalysisHost, Text};

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let mut host = AnalysisHost::default();
        let file = host.set_text(Path::new("/a.prose"), Text::new(text));
        let rights: Vec<String> = asked(host.db(), file).iter().map(ToString::to_string).collect();
        assert_eq!(rights, expected, "{text}");
    }

    #[test]
    fn files_of_contexts_are_asked_for() {
        check(
            "session \"Look\"\n  context:\n    file: \"./docs/a.md\"\n    file: \"docs/a.md\"\n",
            &["files:docs/a.md"],
        );
        check("agent a:\n  context:\n    file: \".env\"\nsession: a\n", &["files:.env"]);
        let inside = "block b(x):\n  loop 2 times:\n    session \"Look\"\n      context:\n        file: \"docs/{x}.md\"\n";
        check(inside, &["files:docs/**"]);
        check("input x: \"x\"\nsession \"Look\"\n  context:\n    file: x\n", &["files:**"]);
        check("let x = \"a\"\nsession \"Look\"\n  context: x\n", &[]);
    }

    #[test]
    fn memories_that_outlast_the_run_are_asked_for() {
        let agent = |persist: &str| format!("agent a:\n  persist: {persist}\n  prompt: \"x\"\nsession: a\n");
        check(&agent("true"), &[]);
        check(&agent("project"), &["memory:project"]);
        check(&agent("user"), &["memory:user"]);
        check(&agent("\"notes/./x\""), &["memory:notes/x"]);
    }

    #[test]
    fn permissions_that_allow_more_than_agents_may_do_are_asked_for() {
        let agent =
            |rules: &str| format!("input x: \"x\"\nagent a:\n  permissions:\n    {rules}\nsession: a\n");
        check(&agent("bash: allow"), &["execute:*"]);
        check(&agent("execute: [\"git log*\", \"ls\"]"), &["execute:git log*", "execute:ls"]);
        check(&agent("execute: [\"git log {x}\"]"), &["execute:*"]);
        check(&agent("execute: [ls]"), &["execute:*"]);
        check(&agent("bash: \"{x}\""), &["execute:*"]);
        check(&agent("network: \"allow\""), &["network:*"]);
        check(&agent("bash: prompt"), &[]);
        check(&agent("bash: deny"), &[]);
        check(&agent("bash: []"), &[]);
        check(&agent("read: [\"src/**\", \"../x\"]"), &["read:../x"]);
        check(&agent("write: allow"), &[]);
        check(
            "session \"x\"\n  permissions:\n    network: [\"https://example.com/*\"]\n",
            &["network:https://example.com/*"],
        );
    }

    #[test]
    fn skills_by_path_are_asked_for_and_those_by_name_are_not() {
        check(
            "agent a:\n  skills: [\"web-search\", \"./tools/x\", \"plugin:x\"]\nsession: a\n",
            &["skills:tools/x"],
        );
        check("import \"x\" from \"./tools/x\"\n", &["skills:tools/x"]);
        check("import \"x\" from \"github:alice/x\"\n", &[]);
    }
}
