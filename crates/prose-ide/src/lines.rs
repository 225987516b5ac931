//! Lines of texts, and their numbers, from 1.

use prose_analysis::statements::line_index;
use prose_analysis::{Db, SourceFile};
use prose_syntax::TextSize;

/// The number of the line of an offset, from 1, in the document that shows the program.
pub(crate) fn line_number(db: &dyn Db, file: SourceFile, offset: TextSize) -> usize {
    file.lines_above(db) + line_index(db, file).line(offset.into()) + 1
}

/// Where the line of a place starts.
pub(crate) fn line_start(text: &str, at: usize) -> usize {
    text.as_bytes()[..at].iter().rposition(is_line_break).map_or(0, |newline| newline + 1)
}

/// Where the line of a place ends, before its line break.
pub(crate) fn line_end(text: &str, at: usize) -> usize {
    text.as_bytes()[at..].iter().position(is_line_break).map_or(text.len(), |length| at + length)
}

fn is_line_break(byte: &u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}
