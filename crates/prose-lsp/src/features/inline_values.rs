//! `textDocument/inlineValue`.

use serde_json::{Value, json};

use crate::protocol::lsp;
use crate::reads::views::View;

/// The answer to `textDocument/inlineValue`: the variables that a debugger is to look up.
pub(crate) fn inline_values(view: &View<'_>, range: lsp::Range) -> Vec<Value> {
    let converter = view.converter();
    let range = converter.text_range(range);
    let variables = range.map(|range| prose_ide::variables_in(view.db, view.snapshot.file, range));
    let values = variables.into_iter().flatten().map(|(range, name)| {
        json!({ "range": converter.range(range), "variableName": &*name, "caseSensitiveLookup": true })
    });
    values.collect()
}
