//! Where the lines of a document are after it was edited.

use prose_run::LineMap;
use ropey::Rope;

/// Compares a text with a document.
pub(crate) fn line_map(before: &str, now: &Rope) -> LineMap {
    // The text of an unchanged document is not copied.
    if *now == before { LineMap::Same } else { LineMap::new(before, &now.to_string()) }
}
