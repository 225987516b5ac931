//! The permissions of all sessions that a program can start, before it runs.

use prose_analysis::model::{Expr, Property, Stmt, Value};
use prose_analysis::rights::skill_path;
use prose_rights::{Grants, PermissionRule, Right};
use smol_str::SmolStr;

use super::reachable::ReachableSession;
use super::{At, Program, property};
use crate::effect::Permission;

/// A permission of a session, where it is written. Values that are computed when the program runs stand as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenPermission {
    /// The permission.
    pub permission: Permission,
    /// The path of the imported program that contains it; `None` for the program that is run.
    pub import: Option<SmolStr>,
    /// The line, from 1.
    pub line: u32,
}

/// The permissions of a session, merged as in R27.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionPermissions {
    /// The agent; `None` for a session without one.
    pub agent: Option<SmolStr>,
    /// The permissions.
    pub permissions: Vec<WrittenPermission>,
    /// The skills. Those whose names are computed when the program runs are left out.
    pub skills: Vec<WrittenSkill>,
}

/// A skill of a session, where it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenSkill {
    /// Its name, or its path.
    pub name: SmolStr,
    /// The path of the imported program that contains it; `None` for the program that is run.
    pub import: Option<SmolStr>,
    /// The name of the program that contains it, if that was fetched (decision 19).
    pub fetched: Option<SmolStr>,
    /// The line, from 1.
    pub line: u32,
}

impl WrittenSkill {
    /// Whether the program that names the skill may use it: one that was fetched needs the right to a path (decision 19).
    pub fn is_granted(&self, grants: &Grants) -> bool {
        match (&self.fetched, skill_path(&self.name)) {
            (Some(program), Some(path)) => grants.cover(program, &Right::skills(path)),
            _ => true,
        }
    }
}

impl Program {
    /// The permissions of each session that the program or its imports can start, with its agent. Rules whose kind depends on a value are left out:
    /// they are checked when the session starts.
    pub fn session_permissions(&self) -> Vec<SessionPermissions> {
        let sessions = self.reachable_sessions().into_iter().map(|session| {
            let ReachableSession { program, import, agent, defined, at, properties } = session;
            let permissions = program.merged_permissions(defined, at, properties, import);
            let skills = program.written_skills(defined, at, properties, import);
            SessionPermissions { agent, permissions, skills }
        });
        sessions.collect()
    }

    pub(super) fn merged_permissions(
        &self,
        agent: Option<At>,
        at: At,
        own: &[Property],
        import: Option<&SmolStr>,
    ) -> Vec<WrittenPermission> {
        let of_agent = agent.map(|at| (at, self.stmt(at).properties().unwrap_or_default()));
        let mut merged: Vec<WrittenPermission> = Vec::new();
        for (at, properties) in of_agent.into_iter().chain([(at, own)]) {
            let entries = property(properties, "permissions").and_then(|property| property.entries.as_ref());
            for entry in entries.into_iter().flatten() {
                merged.retain(|known| known.permission.about != entry.name.text);
                let Some(rule) = self.written_rule(at, entry) else { continue };
                let line = self.line(self.range(at, entry.name.range).start().into());
                let permission = Permission { about: entry.name.text.clone(), rule };
                merged.push(WrittenPermission { permission, import: import.cloned(), line });
            }
        }
        merged
    }

    /// The skills of a session, or those of its agent (R27).
    pub(super) fn written_skills(
        &self,
        agent: Option<At>,
        at: At,
        own: &[Property],
        import: Option<&SmolStr>,
    ) -> Vec<WrittenSkill> {
        let of_agent = agent.map(|at| (at, self.stmt(at).properties().unwrap_or_default()));
        let mut places = [(at, own)].into_iter().chain(of_agent);
        let Some((at, skills)) =
            places.find_map(|(at, properties)| Some((at, property(properties, "skills")?)))
        else {
            return Vec::new();
        };
        let body = self.body(at);
        let Some(Expr::Array(items)) = skills.value.map(|value| &body[value].expr) else { return Vec::new() };
        let written = |item: &Value| {
            let Value::Expr(expr) = item else { return None };
            let name = body.string(*expr)?;
            let line = self.line(self.range(at, body[*expr].range).start().into());
            let fetched = self.fetched.as_ref().map(|fetched| SmolStr::from(&fetched.identity.name));
            Some(WrittenSkill { name: self.skill(name).into(), import: import.cloned(), fetched, line })
        };
        items.iter().filter_map(written).collect()
    }

    /// A skill by its name: the path that the program imports it from, if it does.
    pub(crate) fn skill<'a>(&'a self, name: &'a str) -> &'a str {
        let imported = self.statements.iter().find_map(|statement| {
            let (_, data) = statement.body.stmts().next()?;
            let Stmt::Import { skill: Some(skill), source: Some(source) } = &data.stmt else { return None };
            let is_it = statement.body.string(*skill) == Some(name);
            is_it.then(|| statement.body.string(*source)).flatten()
        });
        imported.filter(|source| skill_path(source).is_some()).unwrap_or(name)
    }

    /// The rule of an entry; `None` if its kind is known only when the program runs.
    fn written_rule(&self, at: At, entry: &Property) -> Option<PermissionRule> {
        let Some(value) = entry.value else { return Some(PermissionRule::Deny) };
        let body = self.body(at);
        if let Expr::Array(items) = &body[value].expr {
            let written = |item: &Value| match item {
                Value::Expr(expr) => self.string_or_source(at, *expr).to_owned(),
                Value::Stmt(_) => String::new(),
            };
            return Some(PermissionRule::Patterns(items.iter().map(written).collect()));
        }
        rule_of_word(body.word(value).unwrap_or_else(|| self.string_or_source(at, value)).trim())
    }
}

/// The rule that a word stands for; `None` for a pattern.
pub(crate) fn rule_of_word(word: &str) -> Option<PermissionRule> {
    match word {
        "allow" | "true" => Some(PermissionRule::Allow),
        "deny" | "false" => Some(PermissionRule::Deny),
        "prompt" | "ask" => Some(PermissionRule::Prompt),
        _ => None,
    }
}
