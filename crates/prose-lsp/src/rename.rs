//! Renames for the client.

use prose_syntax::TextSize;
use serde_json::{Map, Value, json};

use crate::answers::place;
use crate::convert::{Converter, Session, lsp};
use crate::documents::DocumentUri;
use crate::json::{Json, json as text};
use crate::reads::{Failure, View};

/// The answer to `textDocument/prepareRename`.
pub(crate) fn prepare(view: &View<'_>, session: &Session, offset: TextSize) -> Result<Json, Failure> {
    let converter = view.converter(session);
    let found = prose_ide::prepare_rename(view.db, view.snapshot.file, offset).map_err(refused)?;
    Ok(text(&json!({ "range": converter.range(found.range), "placeholder": &*found.placeholder })))
}

/// The answer to `textDocument/rename`.
pub(crate) fn rename(
    view: &View<'_>,
    session: &Session,
    offset: TextSize,
    new_name: &str,
) -> Result<Json, Failure> {
    let programs = view.db.programs();
    let renamed = prose_ide::rename(view.db, &programs, view.snapshot.file, offset, new_name);
    // Several programs may be parts of one document.
    let mut changes: Vec<(DocumentUri, Vec<lsp::TextEdit>)> = Vec::new();
    for file in renamed.map_err(refused)? {
        let Some((uri, shown)) = place(view, file.file) else { continue };
        let edits = Converter { shown: &shown, session }.edits(&file.edits);
        match changes.iter_mut().find(|(known, _)| *known == uri) {
            Some((_, known)) => known.extend(edits),
            None => changes.push((uri, edits)),
        }
    }
    Ok(text(&if session.edits_versions {
        let documents = changes.iter().map(|(uri, edits)| {
            // Of the others the client knows the version better.
            let version = (*uri == view.snapshot.uri).then_some(view.snapshot.version);
            json!({ "textDocument": { "uri": &**uri, "version": version }, "edits": edits })
        });
        json!({ "documentChanges": documents.collect::<Vec<_>>() })
    } else {
        let changes: Map<String, Value> =
            changes.iter().map(|(uri, edits)| (uri.to_string(), json!(edits))).collect();
        json!({ "changes": changes })
    }))
}

fn refused(refusal: prose_ide::Refusal) -> Failure {
    Failure::Refused(refusal.to_string())
}
