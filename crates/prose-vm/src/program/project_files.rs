//! What a program uses of the files of its project, as far as that is known before it runs.

use std::collections::BTreeSet;
use std::sync::Arc;

use prose_analysis::model::{Expr, Value};
use prose_analysis::rights::skill_path;
use prose_rights::{Grants, Right};
use smol_str::SmolStr;

use super::{Program, property};
use crate::effect::FileUse;

impl Program {
    /// The files that contexts in the program and its imports name without `{…}`, each once. Those whose paths are computed when the program runs are left
    /// out.
    pub fn context_files(&self, grants: &Grants) -> Vec<FileUse> {
        let mut files: Vec<FileUse> = Vec::new();
        for (body, stmt) in self.stmts() {
            let context = property(stmt.properties().unwrap_or_default(), "context");
            let entries = context.and_then(|context| context.entries.as_ref()).into_iter().flatten();
            for value in entries.filter(|entry| entry.name.text == "file").filter_map(|entry| entry.value) {
                let text = body.text(value).filter(|text| text.interpolations.is_empty());
                let Some(path) = text.and_then(|text| text.value.as_deref()) else { continue };
                let file = self.file_use(path.into(), true, grants);
                if !files.contains(&file) {
                    files.push(file);
                }
            }
        }
        files.extend(self.imported_programs().flat_map(|program| program.context_files(grants)));
        files
    }

    /// A file that the program passes on, with what it may pass on.
    pub(crate) fn file_use(&self, path: Arc<str>, is_exact: bool, grants: &Grants) -> FileUse {
        let rights: Option<Arc<[Right]>> =
            self.fetched.as_ref().map(|fetched| grants.of(&fetched.identity.name).cloned().collect());
        FileUse { path, folder: None, is_exact: is_exact && rights.is_none(), rights }
    }

    /// The skills that the program and its imports name without `{…}`, by their names or paths. Fetched programs name by path only what they have the right
    /// to (decision 19).
    pub fn named_skills(&self, grants: &Grants) -> BTreeSet<SmolStr> {
        let may_use = |skill: &str| match (&self.fetched, skill_path(skill)) {
            (Some(fetched), Some(path)) => grants.cover(&fetched.identity.name, &Right::skills(path)),
            _ => true,
        };
        let mut skills = BTreeSet::new();
        for (body, stmt) in self.stmts() {
            let named = property(stmt.properties().unwrap_or_default(), "skills");
            let Some(Expr::Array(items)) = named.and_then(|named| named.value).map(|value| &body[value].expr)
            else {
                continue;
            };
            let names = items.iter().filter_map(|item| match item {
                Value::Expr(name) => body.string(*name),
                Value::Stmt(_) => None,
            });
            skills.extend(names.map(|name| self.skill(name)).filter(|name| may_use(name)).map(SmolStr::new));
        }
        skills.extend(self.imported_programs().flat_map(|program| program.named_skills(grants)));
        skills
    }
}
