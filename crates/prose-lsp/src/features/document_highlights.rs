//! `textDocument/documentHighlight`.

use prose_ide::Access;
use prose_syntax::TextSize;
use serde_json::{Value, json};

use crate::reads::views::View;

/// The answer to `textDocument/documentHighlight`.
pub(crate) fn document_highlights(view: &View<'_>, offset: TextSize) -> Vec<Value> {
    let converter = view.converter();
    let highlights = prose_ide::document_highlights(view.db, view.snapshot.file, offset);
    let highlights = highlights.iter().map(|highlight| {
        let kind = match highlight.access {
            Access::Read => 2,
            Access::Write => 3,
        };
        json!({ "range": converter.range(highlight.range), "kind": kind })
    });
    highlights.collect()
}
