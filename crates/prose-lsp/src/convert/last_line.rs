//! The line that was last looked at.

use std::cell::Cell;

use ropey::Rope;

use super::{Encoding, clamp_u32, lsp, position};

/// The line of a text that a place was last looked for on. An answer tells of its places line by line, and to find a line takes longer than
/// to find a place on it.
#[derive(Default)]
pub(super) struct LastLine<'a>(Cell<Option<Line<'a>>>);

#[derive(Clone, Copy)]
struct Line<'a> {
    number: u32,
    /// Where it starts, in bytes.
    start: usize,
    /// Without its line break.
    text: &'a str,
    is_ascii: bool,
}

impl<'a> LastLine<'a> {
    /// The same as [`position`], of one and the same text each time.
    pub(super) fn position(&self, text: &'a Rope, offset: usize, encoding: Encoding) -> lsp::Position {
        let offset = offset.min(text.len_bytes());
        let last = self.0.get().filter(|line| (line.start..=line.start + line.text.len()).contains(&offset));
        match last.or_else(|| Line::around(text, offset)) {
            Some(line) => {
                self.0.set(Some(line));
                line.position(offset, encoding)
            }
            None => position(text, offset, encoding),
        }
    }
}

impl<'a> Line<'a> {
    /// The line around an offset; none if the rope has it in pieces.
    fn around(text: &'a Rope, offset: usize) -> Option<Self> {
        let number = text.byte_to_line(offset);
        let line = text.line(number).as_str()?.trim_end_matches(['\n', '\r']);
        let start = text.line_to_byte(number);
        Some(Self { number: clamp_u32(number), start, text: line, is_ascii: line.is_ascii() })
    }

    fn position(self, offset: usize, encoding: Encoding) -> lsp::Position {
        // Inside a line break is at the end of the line.
        let column = (offset - self.start).min(self.text.len());
        let character = match self.is_ascii {
            true => column,
            false => encoding.len(&self.text[..self.text.floor_char_boundary(column)]),
        };
        lsp::Position { line: self.number, character: clamp_u32(character) }
    }
}
