//! Files that the user moves: the programs that import them follow.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use prose_markdown::{is_markdown, path_of_program, program_at_path};
use prose_project::files::read_import;
use ropey::Rope;
use serde_json::{Value, json};

use crate::protocol::lsp::RenameFilesParams;
use crate::protocol::program_document::ProgramDocument;
use crate::protocol::uri::{DocumentUri, path_of_uri, uri_of_path};
use crate::workspace::files::{files_below, is_program};

/// Which files lie elsewhere now, or soon.
#[derive(Debug, Clone)]
pub(crate) struct Moves(Vec<(PathBuf, PathBuf)>);

impl Moves {
    /// Reads the parameters of `workspace/willRenameFiles` and `didRenameFiles`.
    pub(crate) fn read(params: Value) -> serde_json::Result<Self> {
        let files = serde_json::from_value::<RenameFilesParams>(params)?.files;
        Ok(Self(files.iter().map(|file| (path_of_uri(&file.old_uri), path_of_uri(&file.new_uri))).collect()))
    }

    /// The path after the move.
    pub(crate) fn of(&self, path: &Path) -> PathBuf {
        // A program in a document moves with it.
        if let Some((document, number)) = program_at_path(path) {
            return path_of_program(&self.of(&document), number);
        }
        let moved = self.0.iter().find_map(|(old, new)| {
            let rest = path.strip_prefix(old).ok()?;
            Some(if rest.as_os_str().is_empty() { new.clone() } else { new.join(rest) })
        });
        moved.unwrap_or_else(|| path.to_owned())
    }

    /// The paths that something was moved to, and those that it was moved from.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.0.iter().flat_map(|(old, new)| [old, new])
    }
}

/// The filters of file operations: programs, Markdown documents and folders.
pub(crate) fn filters() -> Value {
    let filter = |glob: &str, matches: &str| json!({ "scheme": "file", "pattern": { "glob": glob, "matches": matches } });
    json!({ "filters": [filter("**/*.{prose,md,markdown}", "file"), filter("**", "folder")] })
}

/// A program whose paths may change.
pub(crate) struct Importer {
    /// Its path.
    pub(crate) path: PathBuf,
    /// The document that shows it.
    pub(crate) uri: DocumentUri,
    pub(crate) version: Option<i32>,
    pub(crate) text: String,
    pub(crate) shown: ProgramDocument,
}

/// The programs below some folders, apart from those in the files that `is_known`.
pub(crate) fn programs_below(
    folders: &[PathBuf],
    is_known: &HashSet<PathBuf>,
    serves_markdown: bool,
) -> Vec<Importer> {
    let mut found = Vec::new();
    for path in files_below(folders).filter(|path| !is_known.contains(path)) {
        let path = &*path;
        let is_document = serves_markdown && is_markdown(path);
        if !is_document && !is_program(path) {
            continue;
        }
        let (Ok(text), Some(uri)) = (read_import(path), uri_of_path(path)) else { continue };
        if is_document {
            let document = Rope::from_str(&text);
            found.extend(prose_markdown::programs(&text).into_iter().map(|fence| Importer {
                path: path_of_program(path, fence.number),
                uri: uri.clone(),
                version: None,
                text: fence.text.to_string(),
                shown: ProgramDocument::in_fence(document.clone(), fence.into()),
            }));
        } else {
            let shown = ProgramDocument::alone(Rope::from_str(&text));
            found.push(Importer { path: path.to_owned(), uri, version: None, text, shown });
        }
    }
    found
}
