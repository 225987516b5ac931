//! Alignment of comments at the ends of consecutive lines.

use prose_syntax::SyntaxKind::COMMENT;
use prose_syntax::lines::line_start;

use crate::gap::Gap;
use crate::pieces::Place;

/// The minimum number of spaces before a comment at the end of a line.
const DISTANCE: usize = 2;

/// Keeps comments at the ends of consecutive lines aligned where the author aligned them.
pub(crate) fn align(text: &str, gaps: &mut [Gap]) {
    let mut group: Vec<Trailing> = Vec::new();
    let mut width = 0;
    let mut has_comment = false;
    for at in 0..gaps.len() {
        let Gap { range, wanted, piece } = &gaps[at];
        let space = wanted.as_deref().unwrap_or(&text[*range]);
        let (piece, space_width, ends_line) = (*piece, width_of(space), space.contains(['\n', '\r']));
        if ends_line {
            let is_blank = space.matches('\n').count().max(space.matches('\r').count()) > 1;
            if is_blank || !has_comment {
                finish(&mut group, gaps);
            }
            has_comment = false;
            width = space_width;
        } else {
            if piece.kind == COMMENT && piece.place == Place::Within {
                let column = width_of(&text[..usize::from(piece.range.start())]);
                if group.last().is_some_and(|last| last.column != column) {
                    finish(&mut group, gaps);
                }
                group.push(Trailing { gap: at, width, column });
                has_comment = true;
            }
            width += space_width;
        }
        let piece_text = &text[piece.range];
        width = width_of(piece_text) + if piece_text.contains(['\n', '\r']) { 0 } else { width };
    }
    finish(&mut group, gaps);
}

/// A comment after something else.
struct Trailing {
    gap: usize,
    /// How wide the line is before the gap.
    width: usize,
    /// The column where the author put it.
    column: usize,
}

fn finish(group: &mut Vec<Trailing>, gaps: &mut [Gap]) {
    let widest = group.iter().map(|trailing| trailing.width).max().unwrap_or_default();
    let several = group.len() > 1;
    for Trailing { gap, width, .. } in group.drain(..) {
        if let Some(wanted) = gaps[gap].wanted.as_mut().filter(|_| several) {
            *wanted = " ".repeat(widest - width + DISTANCE);
        }
    }
}

/// How many characters the last line of a text has.
fn width_of(text: &str) -> usize {
    text[line_start(text, text.len())..].chars().count()
}
