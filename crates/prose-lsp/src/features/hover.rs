//! `textDocument/hover`.

use prose_syntax::TextSize;
use serde_json::json;

use crate::protocol::json::{Json, json as text};
use crate::protocol::session::Session;
use crate::reads::views::View;

/// The answer to `textDocument/hover`.
pub(crate) fn hover(view: &View<'_>, session: &Session, offset: TextSize) -> Json {
    let hover = prose_ide::hover(view.db, view.snapshot.file, offset).map(|hover| {
        let contents = session.hovers.content(&hover.markdown);
        json!({ "contents": contents, "range": view.converter(session).range(hover.range) })
    });
    text(&hover)
}
