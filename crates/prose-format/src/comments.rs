//! Indentation of comments on lines of their own: that of the line they describe.

use prose_syntax::SyntaxKind::{COLON, COMMENT};

use crate::pieces::{Piece, Place};

/// Gives each comment that has a line of its own, outside of brackets, the depth of the line that it belongs to.
///
/// The indentation of a comment has no meaning in the language, but it has for readers: before the end of a body, it shows whether the
/// comment ends the body or begins what follows.
pub(crate) fn indent(pieces: &mut [Piece]) {
    let mut lines = Lines::default();
    // The next piece that is not a comment, found once for consecutive comments.
    let mut next = 0;
    let mut at = 0;
    while at < pieces.len() {
        let piece = pieces[at];
        if piece.kind != COMMENT {
            if piece.place != Place::Within && piece.place != Place::Item {
                lines.begin(&piece);
            }
            lines.ends_with_colon = piece.kind == COLON;
            at += 1;
            continue;
        }
        if piece.place == Place::Line {
            if next <= at {
                let comments = pieces[at..].iter().take_while(|piece| piece.kind == COMMENT);
                next = at + comments.count();
            }
            let next_depth = pieces.get(next).map_or(0, |piece| piece.depth);
            pieces[at].depth = lines.depth_of_comment(piece.column, next_depth);
        }
        at += 1;
    }
}

/// The lines that a comment can belong to.
#[derive(Default)]
struct Lines {
    /// For each depth that is open, from outside to inside, the column of its last line.
    open: Vec<(u32, u32)>,
    ends_with_colon: bool,
}

impl Lines {
    fn begin(&mut self, line: &Piece) {
        self.open.retain(|&(depth, _)| depth < line.depth);
        self.open.push((line.depth, line.column));
    }

    fn depth_of_comment(&self, column: u32, next_depth: u32) -> u32 {
        let Some(&(last_depth, last_column)) = self.open.last() else { return next_depth };
        if next_depth > last_depth {
            return next_depth;
        }
        if self.ends_with_colon && column > last_column {
            // A body that contains comments only.
            return last_depth + 1;
        }
        let of_line = self.open.iter().rev().find(|&&(depth, at)| depth >= next_depth && at <= column);
        of_line.map_or(next_depth, |&(depth, _)| depth)
    }
}
