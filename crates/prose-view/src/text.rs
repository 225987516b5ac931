//! Beginnings of texts: a view of a run with many sessions has no room for whole ones.

use prose_syntax::text;
use smol_str::SmolStr;

/// The longest text of a view in characters, such as the prompt of an input.
const MAX_TEXT: usize = 300;
/// The longest label of a node in characters.
const MAX_LABEL: usize = 120;

/// The beginning of a text.
pub(crate) fn shortened(text: &str) -> SmolStr {
    text::shorten(text, MAX_TEXT).into()
}

/// The first line that is not empty, shortened.
pub(crate) fn first_line(text: &str) -> SmolStr {
    text::shorten(text::first_line(text), MAX_LABEL).into()
}

/// The first line of a value, with an ellipsis if there is more.
pub(crate) fn beginning(text: &str) -> SmolStr {
    let line = first_line(text);
    let is_whole = line.ends_with('…') || text.trim().len() == line.len();
    if is_whole { line } else { format!("{line}…").into() }
}

/// `1 branch`, `2 branches`
pub(crate) fn counted(count: usize, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}
