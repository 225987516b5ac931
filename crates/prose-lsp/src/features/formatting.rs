//! Formatting. There is one style; the options of the client are ignored.

use serde_json::{Value, json};

use crate::documents::snapshot::Snapshot;
use crate::protocol::json::{Json, json as text};
use crate::protocol::lsp::{Position, Range};
use crate::protocol::session::Session;

/// The characters after which a client requests formatting.
pub(crate) fn triggers() -> Value {
    let [first, more @ ..] = prose_format::TYPED;
    json!({ "firstTriggerCharacter": first, "moreTriggerCharacter": more })
}

/// The answer to `textDocument/formatting` about one of the programs of a document.
pub(crate) fn whole(snapshot: &Snapshot, session: &Session) -> Json {
    let edits = prose_format::edits(snapshot.parse(), snapshot.contents.as_str());
    text(&snapshot.converter(session).edits(&edits))
}

/// The answer to `textDocument/rangeFormatting` about one of the programs of a document.
pub(crate) fn part(snapshot: &Snapshot, session: &Session, range: Range) -> Json {
    let converter = snapshot.converter(session);
    let program = snapshot.contents.as_str();
    let edits = converter
        .text_range(range)
        .map(|range| converter.edits(&prose_format::range_edits(snapshot.parse(), program, range)));
    text(&edits.unwrap_or_default())
}

/// The answer to `textDocument/onTypeFormatting`.
pub(crate) fn typed(snapshots: &[Snapshot], session: &Session, at: Position, typed: &str) -> Json {
    let edits = snapshots.iter().find_map(|snapshot| {
        let converter = snapshot.converter(session);
        let offset = converter.text_offset(at)?;
        let program = snapshot.contents.as_str();
        Some(converter.edits(&prose_format::edits_after_typing(snapshot.parse(), program, offset, typed)))
    });
    text(&edits.unwrap_or_default())
}
