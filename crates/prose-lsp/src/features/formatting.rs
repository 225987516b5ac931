//! Formatting for the client. There is one style, so what a client asks for about tabs and spaces counts for nothing.

use serde_json::{Value, json};

use crate::documents::snapshot::Snapshot;
use crate::protocol::json::{Json, json as text};
use crate::protocol::lsp::{Position, Range};
use crate::protocol::session::Session;

/// After which characters a client asks for formatting.
pub(crate) fn triggers() -> Value {
    let [first, more @ ..] = prose_format::TYPED;
    json!({ "firstTriggerCharacter": first, "moreTriggerCharacter": more })
}

/// The answer to `textDocument/formatting` about one of the programs of a document.
pub(crate) fn whole(snapshot: &Snapshot, session: &Session) -> Json {
    let edits = prose_format::edits(&snapshot.parse, &snapshot.text.to_string());
    text(&snapshot.converter(session).edits(&edits))
}

/// The answer to `textDocument/rangeFormatting` about one of the programs of a document.
pub(crate) fn part(snapshot: &Snapshot, session: &Session, range: Range) -> Json {
    let converter = snapshot.converter(session);
    let program = snapshot.text.to_string();
    let edits = converter
        .text_range(range)
        .map(|range| converter.edits(&prose_format::range_edits(&snapshot.parse, &program, range)));
    text(&edits.unwrap_or_default())
}

/// The answer to `textDocument/onTypeFormatting`.
pub(crate) fn typed(snapshots: &[Snapshot], session: &Session, at: Position, typed: &str) -> Json {
    let edits = snapshots.iter().find_map(|snapshot| {
        let converter = snapshot.converter(session);
        let offset = converter.text_offset(at)?;
        let program = snapshot.text.to_string();
        Some(converter.edits(&prose_format::edits_after_typing(&snapshot.parse, &program, offset, typed)))
    });
    text(&edits.unwrap_or_default())
}
