//! The formatter of OpenProse programs.
//!
//! There is one style: two spaces per level, one between words, none at the ends of lines, at most one blank line. Formatting does not change the
//! meaning of a program: texts and conditions are not changed, comments stay with what they describe, and lines are neither
//! joined nor broken, except in lists: a list over several lines has one item per line, any other is on one line.
//! Lines with errors are not formatted.

mod alignment;
mod canonical;
mod comments;
mod gap;
mod layout;
mod on_type;
mod pieces;
mod range;
mod spacing;
mod verify;

pub use canonical::canonical;
pub use on_type::{TYPED, edits_after_typing};
use prose_syntax::{Parse, TextEdit, TextRange, TextSize, parse};

use crate::layout::Part;

/// Formats a program.
///
/// Formatting is idempotent.
pub fn format(text: &str) -> String {
    apply(text, &edits(&parse(text), text))
}

/// The edits that format a program, in order; none if formatting would change its meaning.
///
/// `text` is that of the tree.
pub fn edits(parse: &Parse, text: &str) -> Vec<TextEdit> {
    checked_edits(parse, text, None)
}

/// The edits that format the statements that the range touches, in order. They stay where they are, with what is in them
/// indented from there, so that they still belong to what is around them.
pub fn range_edits(parse: &Parse, text: &str, range: TextRange) -> Vec<TextEdit> {
    range::part(&parse.syntax(), text, range)
        .map_or_else(Vec::new, |part| checked_edits(parse, text, Some(part)))
}

fn checked_edits(parse: &Parse, text: &str, part: Option<Part>) -> Vec<TextEdit> {
    let mut frozen = layout::unclear(parse);
    let edits = layout::edits(parse, text, part, &frozen);
    if edits.is_empty() || is_same(parse, text, &edits) {
        return edits;
    }
    // The meaning of some statement depends on its indentation, such as one with a text that contains texts.
    // It is not formatted.
    let statements: Vec<TextRange> =
        parse.syntax().children().map(|statement| statement.text_range()).collect();
    let mut search = Search { parse, text, edits: &edits, attempts: 0 };
    search.find_changed(&statements, &mut frozen);
    frozen.sort_by_key(|statement| statement.start());
    let edits = layout::edits(parse, text, part, &frozen);
    if is_same(parse, text, &edits) { edits } else { Vec::new() }
}

/// A binary search for statements whose meaning formatting would change.
struct Search<'a> {
    parse: &'a Parse,
    text: &'a str,
    edits: &'a [TextEdit],
    attempts: u32,
}

impl Search<'_> {
    /// Programs with more such statements than this finds are left as they are.
    const MAX_ATTEMPTS: u32 = 200;

    fn find_changed(&mut self, statements: &[TextRange], found: &mut Vec<TextRange>) {
        // Both are in the order of the text. An edit between two statements is within neither.
        let is_within = |edit: &&TextEdit| {
            let first = statements.partition_point(|range| range.end() < edit.range.end());
            statements[first..].iter().take(2).any(|range| range.contains_range(edit.range))
        };
        let edits: Vec<TextEdit> = self.edits.iter().filter(is_within).cloned().collect();
        self.attempts += 1;
        if edits.is_empty() || self.attempts > Self::MAX_ATTEMPTS || is_same(self.parse, self.text, &edits) {
            return;
        }
        if let [statement] = statements {
            found.push(*statement);
            return;
        }
        let (first, second) = statements.split_at(statements.len() / 2);
        self.find_changed(first, found);
        self.find_changed(second, found);
    }
}

fn is_same(before: &Parse, text: &str, edits: &[TextEdit]) -> bool {
    let after = parse(&apply(text, edits));
    verify::has_same_mistakes(before, &after) && verify::is_same_program(before, &after)
}

/// The text after the edits, which are in their order and do not overlap.
pub fn apply(text: &str, edits: &[TextEdit]) -> String {
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
