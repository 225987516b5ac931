//! Renames for the client.

use prose_syntax::TextSize;
use serde_json::{Value, json};

use crate::answers::place;
use crate::convert::{Converter, Session};
use crate::json::{Json, json as text};
use crate::reads::{Failure, View};

/// The answer to `textDocument/prepareRename`.
pub(crate) fn prepare(view: &View, session: &Session, offset: TextSize) -> Result<Json, Failure> {
    let converter = Converter { text: &view.snapshot.text, session };
    let found = prose_ide::prepare_rename(&view.db, view.snapshot.file, offset).map_err(refused)?;
    Ok(text(&json!({ "range": converter.range(found.range), "placeholder": &*found.placeholder })))
}

/// The answer to `textDocument/rename`.
pub(crate) fn rename(
    view: &View,
    session: &Session,
    offset: TextSize,
    new_name: &str,
) -> Result<Json, Failure> {
    let programs = view.db.programs();
    let renamed = prose_ide::rename(&view.db, &programs, view.snapshot.file, offset, new_name);
    let mut documents: Vec<Value> = Vec::new();
    let mut changes = serde_json::Map::new();
    for file in renamed.map_err(refused)? {
        let Some((uri, contents)) = place(view, file.file) else { continue };
        let edits = json!(Converter { text: &contents, session }.edits(&file.edits));
        if session.edits_versions {
            // Of the others the client knows the version better.
            let is_here = file.file == view.snapshot.file;
            let version = is_here.then_some(view.snapshot.version);
            documents.push(json!({ "textDocument": { "uri": &*uri, "version": version }, "edits": edits }));
        } else {
            changes.insert(uri.to_string(), edits);
        }
    }
    Ok(text(&match session.edits_versions {
        true => json!({ "documentChanges": documents }),
        false => json!({ "changes": changes }),
    }))
}

fn refused(refusal: prose_ide::Refusal) -> Failure {
    Failure::Refused(refusal.to_string())
}
