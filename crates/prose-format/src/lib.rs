//! The formatter of OpenProse programs.
//!
//! There is one style: two spaces a level, one between words, none at the ends of lines, at most one blank line. A formatted program is the same
//! program: what stands in texts and conditions is never touched, comments stay with what they describe, and lines are neither
//! joined nor broken, but for lists: one that goes over several lines has each item on its own, any other is on one line.
//! What has mistakes in it stays as it is.

mod alignment;
mod comments;
mod layout;
mod pieces;
mod spacing;
mod verify;

use prose_syntax::{Parse, TextEdit, TextRange, TextSize, parse};

/// The program in the one style.
///
/// Formatting what is formatted changes nothing.
pub fn format(text: &str) -> String {
    apply(text, &edits(&parse(text), text))
}

/// The edits that put a program into the one style, in their order; none if that is not possible without a change of meaning.
///
/// `text` is that of the tree.
pub fn edits(parse: &Parse, text: &str) -> Vec<TextEdit> {
    let mut frozen = layout::unclear(parse);
    let edits = layout::edits(parse, text, &frozen);
    if edits.is_empty() || is_same(parse, text, &edits) {
        return edits;
    }
    // Some statement is read in another way where it stands further left or right, such as one with a text that has texts in it.
    // It stays as it is.
    for statement in parse.syntax().children() {
        let range = statement.text_range();
        let edits_here: Vec<_> =
            edits.iter().filter(|edit| range.contains_range(edit.range)).cloned().collect();
        if !edits_here.is_empty() && !is_same(parse, text, &edits_here) {
            frozen.push(range);
        }
    }
    let edits = layout::edits(parse, text, &frozen);
    if is_same(parse, text, &edits) { edits } else { Vec::new() }
}

fn is_same(before: &Parse, text: &str, edits: &[TextEdit]) -> bool {
    let after = parse(&apply(text, edits));
    verify::has_same_mistakes(before, &after) && verify::is_same_program(&before.syntax(), &after.syntax())
}

/// The text after the edits, which are in their order and do not overlap.
fn apply(text: &str, edits: &[TextEdit]) -> String {
    let mut formatted = String::with_capacity(text.len() + text.len() / 8);
    let mut at = TextSize::new(0);
    for edit in edits {
        formatted += &text[TextRange::new(at, edit.range.start())];
        formatted += &edit.new_text;
        at = edit.range.end();
    }
    formatted += &text[usize::from(at)..];
    formatted
}
