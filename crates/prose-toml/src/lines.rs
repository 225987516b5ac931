//! The lines of a text, and what they look like where the parser has lost its way.

use std::ops::Range;

use prose_syntax::LineIndex;

#[derive(Debug)]
pub(crate) struct Lines<'a> {
    text: &'a str,
    index: LineIndex,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, index: LineIndex::new(text) }
    }

    pub(crate) fn count(&self) -> usize {
        self.index.count()
    }

    pub(crate) fn line_at(&self, place: usize) -> usize {
        self.index.line(place)
    }

    pub(crate) fn range(&self, lines: Range<usize>) -> Range<usize> {
        self.index.range(lines.start).start..self.index.range(lines.end).start
    }

    pub(crate) fn text(&self, line: usize) -> &'a str {
        &self.text[self.index.range(line)]
    }

    /// The line after the statement that starts in the line `first`, going by how the lines look.
    pub(crate) fn end_of_statement(&self, first: usize) -> usize {
        let indentation = |line: &str| line.len() - line.trim_start().len();
        let max = indentation(self.text(first));
        self.find_after(first, |line| indentation(line) <= max && starts_statement(line.trim()))
    }

    /// The line of the next header after the line `first`.
    pub(crate) fn end_of_table(&self, first: usize) -> usize {
        self.find_after(first, |line| line.trim_start().starts_with('['))
    }

    fn find_after(&self, first: usize, is_wanted: impl Fn(&str) -> bool) -> usize {
        (first + 1..self.count()).find(|line| is_wanted(self.text(*line))).unwrap_or(self.count())
    }

    /// Where the name of a table ends that has no bracket after it.
    pub(crate) fn missing_bracket(&self, line: usize) -> Option<usize> {
        let text = self.text(line);
        let name = text.trim().strip_prefix('[')?;
        let is_name = !name.is_empty() && name.bytes().all(|byte| is_key_byte(byte) || byte == b'.');
        is_name.then(|| self.range(line..line + 1).start + text.trim_end().len())
    }
}

/// Whether a line looks like a header, or like a key with its value, and not like a further line of a value.
fn starts_statement(line: &str) -> bool {
    let is_key = |key: &str| {
        !key.is_empty() && key.bytes().all(|byte| is_key_byte(byte) || matches!(byte, b'.' | b' ' | b'\t'))
    };
    if let Some(header) = line.strip_prefix('[') {
        return header.split(']').next().is_some_and(is_key);
    }
    line.split_once('=').is_some_and(|(key, _)| {
        let key = key.trim();
        is_key(key) || key.len() > 1 && key.starts_with('"') && key.ends_with('"')
    })
}

fn is_key_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}
