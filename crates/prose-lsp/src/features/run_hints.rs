//! Inlay hints with the results of a run.

use std::ops::RangeInclusive;

use serde_json::{Value, json};

use crate::protocol::position::{end_of_line, size};
use crate::reads::views::View;

/// How the statements in some lines of the document went.
pub(crate) fn inlay_hints(view: &View<'_>, lines: &RangeInclusive<usize>) -> Vec<Value> {
    let snapshot = view.snapshot;
    if !snapshot.config.client().inlay_hints {
        return Vec::new();
    }
    let converter = view.converter();
    let marks = view.runs.marks(&snapshot.name, &snapshot.text);
    let hints = marks.into_iter().filter_map(|(line, label)| {
        let position = converter.position(size(end_of_line(&snapshot.text, line)));
        let is_wanted = lines.contains(&(position.line as usize));
        is_wanted.then(|| json!({ "position": position, "label": label, "paddingLeft": true }))
    });
    hints.collect()
}
