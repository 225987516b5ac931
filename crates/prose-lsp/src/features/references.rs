//! `textDocument/references`.

use prose_analysis::SourceFile;
use prose_syntax::TextSize;
use serde_json::{Value, json};

use crate::protocol::convert::Converter;
use crate::protocol::program_document::ProgramDocument;
use crate::protocol::uri::DocumentUri;
use crate::reads::views::View;

/// The answer to `textDocument/references`.
pub(crate) fn references(view: &View<'_>, offset: TextSize, with_declaration: bool) -> Vec<Value> {
    let candidates = view.db.programs();
    let found = prose_ide::references(view.db, view.snapshot.file, offset, with_declaration, &candidates);
    let mut last: Option<(SourceFile, DocumentUri, ProgramDocument)> = None;
    let mut locations: Vec<Value> = Vec::new();
    for reference in found.into_iter().flatten() {
        // References come file by file.
        if last.as_ref().is_none_or(|(file, ..)| *file != reference.file) {
            last = view.place(reference.file).map(|(uri, shown)| (reference.file, uri, shown));
        }
        if let Some((_, uri, shown)) = &last {
            let range = Converter::new(shown, view.session).range(reference.range);
            locations.push(json!({ "uri": &**uri, "range": range }));
        }
    }
    locations
}
