//! The line that was last looked at.

use std::cell::Cell;

use ropey::Rope;

use crate::protocol::lsp;
use crate::protocol::position::{Encoding, clamp_u32, position};

/// The line of a text that a place was last looked for on. An answer names its places line by line, and to find a line in a rope takes
/// longer than all the rest; the next one is found by continuing from the last.
#[derive(Default)]
pub(crate) struct LastLine<'a>(Cell<Option<Line<'a>>>);

/// A line that lies in one piece of the rope.
#[derive(Clone, Copy)]
struct Line<'a> {
    number: usize,
    /// Where it starts, in bytes.
    start: usize,
    /// Without its line break.
    text: &'a str,
    is_ascii: bool,
    piece: Piece<'a>,
}

/// One of the pieces that a rope keeps its text in.
#[derive(Clone, Copy)]
struct Piece<'a> {
    text: &'a str,
    /// Where it starts, in bytes.
    start: usize,
    is_last: bool,
}

impl<'a> LastLine<'a> {
    /// The same as [`position`], of one and the same text each time.
    pub(crate) fn position(&self, text: &'a Rope, offset: usize, encoding: Encoding) -> lsp::Position {
        let offset = offset.min(text.len_bytes());
        let last = self.0.get();
        let is_on = |line: &Line<'_>| (line.start..=line.start + line.text.len()).contains(&offset);
        let line = last.filter(is_on).or_else(|| match last {
            Some(last) if last.start <= offset && last.piece.has(offset) => {
                last.piece.line_around(offset, last.start, last.number)
            }
            _ => {
                let (piece, start, _, number) = text.chunk_at_byte(offset);
                let is_last = start + piece.len() == text.len_bytes();
                Piece { text: piece, start, is_last }.line_around(offset, start, number)
            }
        });
        match line {
            Some(line) => {
                self.0.set(Some(line));
                line.position(offset, encoding)
            }
            None => position(text, offset, encoding),
        }
    }
}

impl<'a> Piece<'a> {
    fn has(&self, offset: usize) -> bool {
        (self.start..self.start + self.text.len()).contains(&offset)
    }

    /// The line around an offset, given one that starts before it; none if the piece has only a part of it.
    fn line_around(self, offset: usize, mut start: usize, mut number: usize) -> Option<Line<'a>> {
        loop {
            let text = &self.text[start - self.start..];
            let length = text.bytes().position(|byte| matches!(byte, b'\n' | b'\r'));
            // No piece ends between the two characters of a line break.
            let line_break =
                length.map_or(0, |length| if text[length..].starts_with("\r\n") { 2 } else { 1 });
            let line = &text[..length.unwrap_or(text.len())];
            let next = start + line.len() + line_break;
            if length.is_some() && next <= offset {
                (start, number) = (next, number + 1);
                continue;
            }
            let has_start = start > self.start || start == 0;
            let has_end = length.is_some() || self.is_last;
            let is_ascii = line.is_ascii();
            return (has_start && has_end).then_some(Line {
                number,
                start,
                text: line,
                is_ascii,
                piece: self,
            });
        }
    }
}

impl Line<'_> {
    fn position(self, offset: usize, encoding: Encoding) -> lsp::Position {
        // Inside a line break is at the end of the line.
        let column = (offset - self.start).min(self.text.len());
        let character = match self.is_ascii {
            true => column,
            false => encoding.len(&self.text[..self.text.floor_char_boundary(column)]),
        };
        lsp::Position { line: clamp_u32(self.number), character: clamp_u32(character) }
    }
}
