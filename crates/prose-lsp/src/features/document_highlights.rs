//! `textDocument/documentHighlight`.

use prose_ide::Access;
use prose_syntax::TextSize;
use serde_json::{Value, json};

use crate::protocol::json::{Json, json as text};
use crate::protocol::session::Session;
use crate::reads::views::View;

/// The answer to `textDocument/documentHighlight`.
pub(crate) fn document_highlights(view: &View<'_>, session: &Session, offset: TextSize) -> Json {
    let converter = view.converter(session);
    let highlights = prose_ide::document_highlights(view.db, view.snapshot.file, offset);
    let highlights = highlights.iter().map(|highlight| {
        let kind = match highlight.access {
            Access::Read => 2,
            Access::Write => 3,
        };
        json!({ "range": converter.range(highlight.range), "kind": kind })
    });
    text(&highlights.collect::<Vec<Value>>())
}
