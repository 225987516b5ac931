//! The files that a program passes to sessions, as far as they are known before it runs.

use std::collections::BTreeSet;
use std::sync::Arc;

use prose_rights::{Grants, Right};

use super::{Program, property};
use crate::effect::FileUse;

impl Program {
    /// The files that contexts in the program and its imports name without `{…}`. Those whose paths are computed when the program runs are left out.
    pub fn context_files(&self, grants: &Grants) -> Vec<FileUse> {
        let mut files = Vec::new();
        self.collect_context_files(grants, &mut BTreeSet::new(), &mut files);
        files
    }

    fn collect_context_files<'p>(
        &'p self,
        grants: &Grants,
        visited: &mut BTreeSet<(&'p str, &'p str)>,
        files: &mut Vec<FileUse>,
    ) {
        // The same program may be imported by several paths.
        if !visited.insert((&self.from, &self.sha256)) {
            return;
        }
        for (body, stmt) in self.stmts() {
            let context = property(stmt.properties().unwrap_or_default(), "context");
            let entries = context.and_then(|context| context.entries.as_ref()).into_iter().flatten();
            for value in entries.filter(|entry| entry.name.text == "file").filter_map(|entry| entry.value) {
                let text = body.text(value).filter(|text| text.interpolations.is_empty());
                let path = text.and_then(|text| text.value.as_deref());
                files.extend(path.map(|path| self.file_use(path.into(), true, grants)));
            }
        }
        for imported in self.imported_programs() {
            imported.collect_context_files(grants, visited, files);
        }
    }

    /// A file that the program passes on, with what it may pass on.
    pub(crate) fn file_use(&self, path: Arc<str>, is_exact: bool, grants: &Grants) -> FileUse {
        let rights: Option<Arc<[Right]>> =
            self.fetched.as_ref().map(|fetched| grants.of(&fetched.identity.name).cloned().collect());
        FileUse { path, folder: None, is_exact: is_exact && rights.is_none(), rights }
    }
}
