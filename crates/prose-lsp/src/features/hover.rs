//! `textDocument/hover`.

use prose_syntax::TextSize;
use serde_json::{Value, json};

use crate::reads::views::View;

/// The answer to `textDocument/hover`.
pub(crate) fn hover(view: &View<'_>, offset: TextSize) -> Option<Value> {
    let hover = prose_ide::hover(view.db, view.snapshot.file, offset)?;
    let contents = view.session.hovers.content(&hover.markdown);
    Some(json!({ "contents": contents, "range": view.converter().range(hover.range) }))
}
