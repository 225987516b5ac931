//! The skills that programs name. Whether they exist is looked up by the [`Loader`](crate::host::Loader), as the analysis reads no folder.

#![allow(missing_docs, reason = "the macros of salsa write functions that have none")]

use std::collections::BTreeSet;

use smol_str::SmolStr;

use crate::db::{Db, SourceFile};
pub use crate::db::{MissingSkill, MissingSkills, NamedSkill};
use crate::model::{Body, Property, Stmt, StmtId};
use crate::statements::chunks::{Chunk, chunks, members};

/// The skills that a file names.
pub fn named_skills(db: &dyn Db, file: SourceFile) -> BTreeSet<NamedSkill> {
    if let Some(results) = file.results(db) {
        return results.named_skills.clone();
    }
    chunks(db, file).list.iter().flat_map(|chunk| skills_in(db, *chunk)).cloned().collect()
}

#[salsa::tracked(returns(ref))]
fn skills_in(db: &dyn Db, chunk: Chunk<'_>) -> Vec<NamedSkill> {
    let mut skills = Vec::new();
    for member in members(db, chunk) {
        let body = member.tree.body();
        for (owner, data) in body.stmts() {
            let (Stmt::Agent { properties, .. }
            | Stmt::Session { properties, .. }
            | Stmt::Resume { properties, .. }) = &data.stmt
            else {
                continue;
            };
            let named = properties.iter().flat_map(|property| names(body, property));
            skills.extend(named.map(|name| NamedSkill { agent: agent_of(body, owner).cloned(), name }));
        }
    }
    skills
}

/// The skills of a property, apart from those whose names are computed when the program runs.
fn names(body: &Body, property: &Property) -> Vec<SmolStr> {
    let Some(value) = property.value.filter(|_| property.name.text == "skills") else { return Vec::new() };
    let texts = body.skills(value).into_iter().map(|(_, text)| text);
    let known = texts.filter(|text| text.interpolations.is_empty() && !text.blank);
    known.filter_map(|text| text.value.clone()).collect()
}

/// The agent that an agent, session or `resume` is about.
pub(crate) fn agent_of(body: &Body, owner: StmtId) -> Option<&SmolStr> {
    match &body[owner].stmt {
        Stmt::Agent { name, .. } => name.map(|name| &body[name].text),
        Stmt::Session { agent, .. } | Stmt::Resume { agent, .. } => agent.map(|agent| &body[agent].text),
        _ => None,
    }
}
