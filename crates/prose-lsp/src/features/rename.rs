//! Renames for the client.

use prose_syntax::TextSize;
use serde_json::{Map, Value, json};

use crate::protocol::convert::Converter;
use crate::protocol::json::{Json, json as text};
use crate::protocol::lsp;
use crate::protocol::request::Failure;
use crate::protocol::session::Session;
use crate::protocol::uri::DocumentUri;
use crate::reads::views::View;

/// The answer to `textDocument/prepareRename`.
pub(crate) fn prepare(view: &View<'_>, offset: TextSize) -> Result<Json, Failure> {
    let converter = view.converter();
    let found = prose_ide::prepare_rename(view.db, view.snapshot.file, offset).map_err(refused)?;
    Ok(text(&json!({ "range": converter.range(found.range), "placeholder": &*found.placeholder })))
}

/// The answer to `textDocument/rename`.
pub(crate) fn rename(view: &View<'_>, offset: TextSize, new_name: &str) -> Result<Json, Failure> {
    let programs = view.db.programs();
    let renamed = prose_ide::rename(view.db, &programs, view.snapshot.file, offset, new_name);
    let mut changes = Changes::default();
    for file in renamed.map_err(refused)? {
        let Some((uri, shown)) = view.place(file.file) else { continue };
        // The versions of other documents are known only to the client.
        let version = (uri == view.snapshot.uri).then_some(view.snapshot.version);
        changes.add(uri, version, Converter::new(&shown, view.session).edits(&file.edits));
    }
    Ok(text(&changes.workspace_edit(view.session)))
}

/// Edits of several documents.
#[derive(Default)]
pub(crate) struct Changes(Vec<(DocumentUri, Option<i32>, Vec<lsp::TextEdit>)>);

impl Changes {
    /// Adds edits of a program. Several programs may be parts of one document.
    pub(crate) fn add(&mut self, uri: DocumentUri, version: Option<i32>, edits: Vec<lsp::TextEdit>) {
        match self.0.iter_mut().find(|(known, ..)| *known == uri) {
            Some((_, _, known)) => known.extend(edits),
            None => self.0.push((uri, version, edits)),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The workspace edit.
    pub(crate) fn workspace_edit(&self, session: &Session) -> Value {
        if session.edits_versions {
            let documents = self.0.iter().map(|(uri, version, edits)| {
                json!({ "textDocument": { "uri": &**uri, "version": version }, "edits": edits })
            });
            json!({ "documentChanges": documents.collect::<Vec<_>>() })
        } else {
            let changes: Map<String, Value> =
                self.0.iter().map(|(uri, _, edits)| (uri.to_string(), json!(edits))).collect();
            json!({ "changes": changes })
        }
    }
}

fn refused(refusal: prose_ide::Refusal) -> Failure {
    Failure::Refused(refusal.to_string())
}
