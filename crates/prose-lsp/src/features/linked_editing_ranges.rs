//! `textDocument/linkedEditingRange`.

use prose_syntax::TextSize;
use serde_json::json;

use crate::protocol::json::{Json, json as text};
use crate::protocol::lsp;
use crate::protocol::session::Session;
use crate::reads::views::View;

/// The answer to `textDocument/linkedEditingRange`.
pub(crate) fn linked_editing_ranges(view: &View<'_>, session: &Session, offset: TextSize) -> Json {
    let programs = view.db.programs();
    let ranges = prose_ide::linked_ranges(view.db, &programs, view.snapshot.file, offset);
    let converter = view.converter(session);
    text(&ranges.map(|ranges| {
        let ranges: Vec<lsp::Range> = ranges.into_iter().map(|range| converter.range(range)).collect();
        json!({ "ranges": ranges })
    }))
}
