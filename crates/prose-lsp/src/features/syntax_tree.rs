//! `prose/syntaxTree`, for those who work on the language.

use serde_json::{Value, json};

use crate::documents::snapshot::Snapshot;
use crate::protocol::json::{Json, json as text};

/// The answer to `prose/syntaxTree`.
pub(crate) fn syntax_trees(snapshots: &[Snapshot]) -> Json {
    let trees = snapshots.iter().map(|snapshot| {
        let tree = format!("{:#?}", snapshot.parse().syntax());
        json!({ "program": &*snapshot.name, "version": snapshot.version, "tree": tree })
    });
    text(&trees.collect::<Vec<Value>>())
}
