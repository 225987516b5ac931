//! The statements that a selection touches.

use prose_syntax::SyntaxKind::{self, *};
use prose_syntax::lines::{line_start, size};
use prose_syntax::{NodeOrToken, SyntaxNode, TextRange, TextSize};

use crate::layout::Part;

/// The statements, clauses or properties that the range touches, all of one body; none if it touches nothing.
pub(crate) fn part(root: &SyntaxNode, text: &str, range: TextRange) -> Option<Part> {
    let range = without_blanks(text, TextRange::new(range.start(), range.end().min(TextSize::of(text))))?;
    let covering = match root.covering_element(range) {
        NodeOrToken::Node(node) => node,
        NodeOrToken::Token(token) => token.parent()?,
    };
    let body = covering.ancestors().find(|node| is_body(node.kind())).unwrap_or_else(|| root.clone());
    let touched = body
        .children()
        .map(|child| child.text_range())
        .filter(|child| child.start() <= range.end() && range.start() <= child.end());
    let whole = touched.reduce(TextRange::cover)?;
    let start = usize::from(whole.start());
    let indentation = &text[line_start(text, start)..start];
    // What follows a header on its line is not a line of its own.
    let starts_line = indentation.bytes().all(|byte| byte == b' ');
    Some(if starts_line {
        Part { range: whole, column: indentation.len() as u32 }
    } else {
        let statement = root.children().find(|child| child.text_range().contains_range(whole))?;
        Part { range: statement.text_range(), column: 0 }
    })
}

fn is_body(kind: SyntaxKind) -> bool {
    matches!(kind, BLOCK | PROPERTY_LIST)
}

/// The range without spaces and line breaks at its ends.
fn without_blanks(text: &str, range: TextRange) -> Option<TextRange> {
    let selected = text.get(std::ops::Range::<usize>::from(range))?;
    let leading = selected.len() - selected.trim_start().len();
    let trailing = selected.len() - selected.trim_end().len();
    let start = usize::from(range.start()) + leading;
    let end = usize::from(range.end()).saturating_sub(trailing).max(start);
    Some(TextRange::new(size(start), size(end)))
}
