//! The lines of a text.

use std::ops::Range;

use rowan::TextSize;

/// The ends of lines; `\r\n` is both, one after the other.
pub const LINE_BREAKS: [char; 2] = ['\n', '\r'];

/// The start of the line of an offset.
pub fn line_start(text: &str, offset: usize) -> usize {
    text.as_bytes()[..offset].iter().rposition(is_line_break).map_or(0, |at| at + 1)
}

/// The end of the line of an offset, before its line break.
pub fn line_end(text: &str, offset: usize) -> usize {
    text.as_bytes()[offset..].iter().position(is_line_break).map_or(text.len(), |length| offset + length)
}

fn is_line_break(byte: &u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// The spaces and tabs that a line starts with.
pub fn indentation(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// An offset in a text that was parsed, as the tree counts it.
pub fn size(bytes: usize) -> TextSize {
    // The text was parsed, so its length fits.
    TextSize::new(bytes as u32)
}

/// Where the lines of a text are. A line ends at a line feed, at a carriage return, or at both in this order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineIndex {
    /// Where each line starts, in bytes, and where the text ends.
    bounds: Vec<u32>,
}

impl LineIndex {
    /// The lines of a text. There is always at least one, and an empty one after the last line break.
    pub fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let is_end = |at: &usize| bytes[*at] == b'\n' || bytes.get(at + 1) != Some(&b'\n');
        let ends = memchr::memchr2_iter(b'\n', b'\r', bytes).filter(is_end).map(|at| at + 1);
        // Texts are limited to lengths that fit.
        let bounds = std::iter::once(0).chain(ends).chain([bytes.len()]).map(|at| at as u32);
        Self { bounds: bounds.collect() }
    }

    /// How many lines there are.
    pub fn count(&self) -> usize {
        self.bounds.len() - 1
    }

    /// The line of an offset in bytes, counted from 0. Offsets after the end are in the last line.
    pub fn line(&self, offset: usize) -> usize {
        let starts = &self.bounds[..self.count()];
        // The first line starts at 0, so at least one start is not after the offset.
        starts.partition_point(|start| *start as usize <= offset) - 1
    }

    /// The bytes of a line, counted from 0, with its line break. After the last line it is empty.
    pub fn range(&self, line: usize) -> Range<usize> {
        let bound = |nth: usize| self.bounds[nth.min(self.count())] as usize;
        bound(line)..bound(line.saturating_add(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_in_texts_without_index() {
        let text = "a\r\n\t b\rc";
        let lines = [0, 1, 4, 7].map(|at| &text[line_start(text, at)..line_end(text, at)]);
        assert_eq!(lines, ["a", "a", "\t b", "c"]);
        assert_eq!(["", "a", " \ta b", "  "].map(indentation), ["", "", " \t", "  "]);
    }

    #[test]
    fn lines_end_at_line_feeds_and_carriage_returns() {
        let text = "one\ntwo\r\nthree\rfour\n";
        let index = LineIndex::new(text);
        let lines: Vec<&str> = (0..index.count()).map(|line| &text[index.range(line)]).collect();
        assert_eq!(lines, ["one\n", "two\r\n", "three\r", "four\n", ""]);
    }

    #[test]
    fn offsets_are_in_the_line_that_starts_before_them() {
        let index = LineIndex::new("ab\r\ncd\n");
        let lines = [0, 2, 3, 4, 6, 7, 99].map(|offset| index.line(offset));
        assert_eq!(lines, [0, 0, 0, 1, 1, 2, 2]);
    }

    #[test]
    fn an_empty_text_has_one_line() {
        let index = LineIndex::new("");
        assert_eq!((index.count(), index.line(0), index.range(0), index.range(7)), (1, 0, 0..0, 0..0));
    }
}
