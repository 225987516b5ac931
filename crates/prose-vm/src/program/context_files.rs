//! The files that a program passes to sessions, as far as they are known before it runs.

use std::sync::Arc;

use prose_rights::{Grants, Right};
use smol_str::SmolStr;

use super::reachable::ReachableSession;
use super::{Program, property};
use crate::effect::FileUse;

/// A file that the context of a session names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextFile {
    /// The file, with what the program that names it may pass on.
    pub file: FileUse,
    /// The line that names it, from 1.
    pub line: u32,
    /// The path of the imported program that names it; `None` for the program that is run.
    pub import: Option<SmolStr>,
}

impl Program {
    /// The files that contexts name without `{…}` in the sessions that a run can come to. Those whose paths are computed when the program runs are left out.
    pub fn context_files(&self, grants: &Grants) -> Vec<ContextFile> {
        let mut files = Vec::new();
        for ReachableSession { program, import, defined, at, properties, .. } in self.reachable_sessions() {
            let own = property(properties, "context").map(|context| (at, context));
            let context = own.or_else(|| {
                let at = defined?;
                Some((at, property(program.stmt(at).properties().unwrap_or_default(), "context")?))
            });
            let Some((at, context)) = context else { continue };
            let entries = context.entries.iter().flatten().filter(|entry| entry.name.text == "file");
            for value in entries.filter_map(|entry| entry.value) {
                let text = program.body(at).text(value).filter(|text| text.interpolations.is_empty());
                let Some(path) = text.and_then(|text| text.value.as_deref()) else { continue };
                let file = program.file_use(path.into(), true, grants);
                files.push(ContextFile { file, line: program.line_of(at, value), import: import.cloned() });
            }
        }
        files
    }

    /// A file that the program passes on, with what it may pass on.
    pub(crate) fn file_use(&self, path: Arc<str>, is_exact: bool, grants: &Grants) -> FileUse {
        let rights: Option<Arc<[Right]>> =
            self.fetched.as_ref().map(|fetched| grants.of(&fetched.identity.name).cloned().collect());
        FileUse { path, folder: None, is_exact: is_exact && rights.is_none(), rights }
    }
}
