//! Converts byte offsets to lines and columns.

use std::cell::Cell;
use std::ops::Range;

use prose_syntax::{LineIndex, TextSize};
use serde::Serialize;

/// A position in a file; both numbers start at 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Position {
    /// The line. Lines end at a line feed, at a carriage return, or at both in this order.
    pub line: usize,
    /// The column in characters. A tab counts as one, a byte-order mark as none, since no editor displays it.
    pub column: usize,
}

const BYTE_ORDER_MARK: char = '\u{feff}';

/// Finds lines and columns in one text.
pub struct Positions<'a> {
    text: &'a str,
    lines: LineIndex,
    /// The last offset that was looked up, and its place. Findings come in the order of the text, so that counting continues
    /// from there: a line of a megabyte with a finding every ten bytes would take seconds otherwise.
    last: Cell<(usize, Position)>,
}

impl<'a> Positions<'a> {
    /// The positions of a text.
    pub fn new(text: &'a str) -> Self {
        Self { text, lines: LineIndex::new(text), last: Cell::new((0, Position { line: 1, column: 1 })) }
    }

    /// The position of an offset. Offsets after the end mean the end; offsets inside a character mean its start.
    pub fn position(&self, offset: TextSize) -> Position {
        let offset = self.text.floor_char_boundary(usize::from(offset));
        let line = self.lines.line(offset);
        let (last_offset, last) = self.last.get();
        let column = if last.line != line + 1 {
            1 + self.shown_characters(self.lines.range(line).start..offset)
        } else if last_offset <= offset {
            last.column + self.shown_characters(last_offset..offset)
        } else {
            last.column - self.shown_characters(offset..last_offset)
        };
        let position = Position { line: line + 1, column };
        self.last.set((offset, position));
        position
    }

    fn shown_characters(&self, range: Range<usize>) -> usize {
        let hidden = usize::from(range.start == 0 && self.text[range.clone()].starts_with(BYTE_ORDER_MARK));
        self.text[range].chars().count() - hidden
    }

    /// The bytes of the whole lines in `start..end`, without the last line break.
    pub fn lines_around(&self, start: usize, end: usize) -> Range<usize> {
        let from = self.lines.range(self.lines.line(start)).start;
        let last = self.lines.range(self.lines.line(end));
        let to = last.start + self.text[last].trim_end_matches(['\n', '\r']).len();
        from..to.max(end)
    }

    /// The length in bytes of the longest of the lines that `start..end` touches, give or take its line break.
    pub fn longest_line_around(&self, start: usize, end: usize) -> usize {
        let lines = self.lines.line(start)..=self.lines.line(end);
        lines.map(|line| self.lines.range(line).len()).max().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, offset: u32, line: usize, column: usize) {
        let position = Positions::new(text).position(TextSize::new(offset));
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
        check("a\r\r\nb", 4, 3, 1);
    }

    #[test]
    fn a_carriage_return_alone_ends_a_line() {
        check("a\rb\ncd", 1, 1, 2);
        check("a\rb\ncd", 2, 2, 1);
        check("a\rb\ncd", 4, 3, 1);
        check("a\r", 2, 2, 1);
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
    fn the_order_of_the_questions_does_not_matter() {
        let text = "\u{feff}aé→\nb😀\r\n\tc\u{feff}d";
        let offsets: Vec<u32> = (0..=text.len() as u32).collect();
        let fresh = |offset: u32| Positions::new(text).position(offset.into());
        let expected: Vec<Position> = offsets.iter().map(|&offset| fresh(offset)).collect();
        let index = Positions::new(text);
        for first in &offsets {
            for second in &offsets {
                assert_eq!(index.position((*first).into()), expected[*first as usize]);
                assert_eq!(index.position((*second).into()), expected[*second as usize], "{first} {second}");
            }
        }
    }

    #[test]
    fn the_longest_line_is_measured_without_reading_it() {
        let index = Positions::new("one\nthree\nfour");
        assert_eq!(index.longest_line_around(0, 2), 4);
        assert_eq!(index.longest_line_around(2, 5), 6);
        assert_eq!(index.longest_line_around(10, 14), 4);
    }

    #[test]
    fn whole_lines_leave_out_the_last_line_break() {
        let text = "one\r\ntwo\nthree";
        let lines = |start, end| &text[Positions::new(text).lines_around(start, end)];
        assert_eq!(lines(1, 2), "one");
        assert_eq!(lines(6, 6), "two");
        assert_eq!(lines(2, 6), "one\r\ntwo");
        assert_eq!(lines(10, 14), "three");
        assert_eq!(lines(4, 4), "one\r");
        let text = "one\rtwo\r\rthree";
        let lines = |start, end| &text[Positions::new(text).lines_around(start, end)];
        assert_eq!(lines(1, 5), "one\rtwo");
        assert_eq!(lines(8, 8), "");
        assert_eq!(lines(12, 12), "three");
    }
}
