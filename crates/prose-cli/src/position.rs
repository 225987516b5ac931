//! Where a byte offset is for a person: line and column.

use prose_syntax::TextSize;
use serde::Serialize;

/// A place in a file as people count: both numbers start at 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) struct Position {
    /// The line. Lines end at a line feed, with or without a carriage return before it.
    pub(crate) line: usize,
    /// The column in characters. A tab is one character; a byte-order mark is none, since no editor shows it.
    pub(crate) column: usize,
}

const BYTE_ORDER_MARK: char = '\u{feff}';

/// Finds lines and columns in one text.
pub(crate) struct LineIndex<'a> {
    text: &'a str,
    line_starts: Vec<usize>,
}

impl<'a> LineIndex<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let after_newlines = memchr::memchr_iter(b'\n', text.as_bytes()).map(|newline| newline + 1);
        Self { text, line_starts: std::iter::once(0).chain(after_newlines).collect() }
    }

    /// The place of an offset. Offsets past the end mean the end; offsets inside a character mean its start.
    pub(crate) fn position(&self, offset: TextSize) -> Position {
        let offset = self.text.floor_char_boundary(usize::from(offset));
        let line = self.line_of(offset);
        let before = &self.text[self.line_starts[line]..offset];
        let before = if line == 0 { before.trim_start_matches(BYTE_ORDER_MARK) } else { before };
        Position { line: line + 1, column: before.chars().count() + 1 }
    }

    /// The bytes of the whole lines that `start..end` touches, without the last line's own line break.
    pub(crate) fn lines_around(&self, start: usize, end: usize) -> std::ops::Range<usize> {
        let from = self.line_starts[self.line_of(start)];
        let to = match self.line_starts.get(self.line_of(end) + 1) {
            Some(next_line) => next_line - 1,
            None => self.text.len(),
        };
        let to = if self.text[from..to].ends_with('\r') { to - 1 } else { to };
        from..to.max(end)
    }

    /// The line of an offset, counted from 0.
    fn line_of(&self, offset: usize) -> usize {
        // The first line starts at 0, so at least one start is not after the offset.
        self.line_starts.partition_point(|&start| start <= offset) - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, offset: u32, line: usize, column: usize) {
        let position = LineIndex::new(text).position(TextSize::new(offset));
        assert_eq!(position, Position { line, column }, "offset {offset} of {text:?}");
    }

    #[test]
    fn counts_lines_and_columns_from_one() {
        check("", 0, 1, 1);
        check("ab\ncd", 0, 1, 1);
        check("ab\ncd", 2, 1, 3);
        check("ab\ncd", 3, 2, 1);
        check("ab\ncd\n", 6, 3, 1);
    }

    #[test]
    fn a_carriage_return_before_a_line_feed_ends_no_line_of_its_own() {
        check("ab\r\ncd", 2, 1, 3);
        check("ab\r\ncd", 4, 2, 1);
        check("a\rb\ncd", 2, 1, 3);
    }

    #[test]
    fn a_column_is_a_character_however_many_bytes_it_has() {
        check("é→😀x", 2, 1, 2);
        check("é→😀x", 5, 1, 3);
        check("é→😀x", 9, 1, 4);
        check("\t\tx", 2, 1, 3);
    }

    #[test]
    fn an_offset_inside_a_character_or_past_the_end_is_clamped() {
        check("a😀", 3, 1, 2);
        check("a\nb", 99, 2, 2);
    }

    #[test]
    fn a_byte_order_mark_takes_no_column() {
        check("\u{feff}ab", 0, 1, 1);
        check("\u{feff}ab", 3, 1, 1);
        check("\u{feff}ab", 4, 1, 2);
    }

    #[test]
    fn whole_lines_leave_out_the_last_line_break() {
        let text = "one\r\ntwo\nthree";
        let lines = |start, end| &text[LineIndex::new(text).lines_around(start, end)];
        assert_eq!(lines(1, 2), "one");
        assert_eq!(lines(6, 6), "two");
        assert_eq!(lines(2, 6), "one\r\ntwo");
        assert_eq!(lines(10, 14), "three");
        assert_eq!(lines(4, 4), "one\r");
    }
}
