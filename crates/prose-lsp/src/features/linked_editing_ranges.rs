//! `textDocument/linkedEditingRange`.

use prose_syntax::TextSize;
use serde_json::{Value, json};

use crate::protocol::lsp;
use crate::reads::views::View;

/// The answer to `textDocument/linkedEditingRange`.
pub(crate) fn linked_editing_ranges(view: &View<'_>, offset: TextSize) -> Option<Value> {
    let programs = view.db.programs();
    let ranges = prose_ide::linked_ranges(view.db, &programs, view.snapshot.file, offset)?;
    let converter = view.converter();
    let ranges: Vec<lsp::Range> = ranges.into_iter().map(|range| converter.range(range)).collect();
    Some(json!({ "ranges": ranges }))
}
