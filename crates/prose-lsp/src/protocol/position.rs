//! Positions: lines and columns of the client, bytes of the server.
//!
//! A position of a client is never trusted: a line past the end, a column past the end of a line or inside a character, and a
//! range that ends before it starts mean the nearest place that exists.

use std::ops::Range;

use prose_syntax::{TextRange, TextSize};
use ropey::Rope;

use crate::protocol::lsp;

/// The unit of columns in positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Encoding {
    /// Bytes.
    Utf8,
    /// UTF-16 code units, the default.
    #[default]
    Utf16,
    /// Characters.
    Utf32,
}

impl Encoding {
    /// The best encoding that a client offers: UTF-8, else UTF-16, else UTF-32.
    pub(crate) fn negotiate<'a>(offered: impl Iterator<Item = &'a str>) -> Self {
        let offered: Vec<Encoding> = offered
            .filter_map(|name| match name {
                "utf-8" => Some(Encoding::Utf8),
                "utf-16" => Some(Encoding::Utf16),
                "utf-32" => Some(Encoding::Utf32),
                _ => None,
            })
            .collect();
        [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32]
            .into_iter()
            .find(|encoding| offered.contains(encoding))
            .unwrap_or_default()
    }

    /// How many units a text has.
    pub(crate) fn len(self, text: &str) -> usize {
        match self {
            Encoding::Utf8 => text.len(),
            Encoding::Utf16 => text.encode_utf16().count(),
            Encoding::Utf32 => text.chars().count(),
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Encoding::Utf8 => "utf-8",
            Encoding::Utf16 => "utf-16",
            Encoding::Utf32 => "utf-32",
        }
    }
}

/// One change of a document, as the client describes it.
#[derive(Debug, Clone)]
pub(crate) struct ContentChange {
    pub(crate) range: Option<lsp::Range>,
    pub(crate) text: String,
}

impl ContentChange {
    /// The bytes to replace in `text`; none when all of it is replaced.
    pub(crate) fn range_in(&self, text: &Rope, encoding: Encoding) -> Option<Range<usize>> {
        self.range.map(|range| {
            let (start, end) = (offset(text, range.start, encoding), offset(text, range.end, encoding));
            start.min(end)..start.max(end)
        })
    }
}

impl From<lsp::TextDocumentContentChangeEvent> for ContentChange {
    fn from(change: lsp::TextDocumentContentChangeEvent) -> Self {
        Self { range: change.range, text: change.text }
    }
}

/// The offset in bytes of a position.
pub(crate) fn offset(text: &Rope, position: lsp::Position, encoding: Encoding) -> usize {
    let line = position.line as usize;
    if line >= text.len_lines() {
        return text.len_bytes();
    }
    let column = position.character as usize;
    let slice = text.line(line);
    let column = match encoding {
        Encoding::Utf8 => slice.char_to_byte(slice.byte_to_char(column.min(slice.len_bytes()))),
        Encoding::Utf16 => slice.char_to_byte(slice.utf16_cu_to_char(column.min(slice.len_utf16_cu()))),
        Encoding::Utf32 => slice.char_to_byte(column.min(slice.len_chars())),
    };
    (text.line_to_byte(line) + column).min(end_of_line(text, line))
}

/// The position of an offset in bytes. Inside a line break that is the end of the line.
pub(crate) fn position(text: &Rope, offset: usize, encoding: Encoding) -> lsp::Position {
    let offset = offset.min(text.len_bytes());
    let line = text.byte_to_line(offset);
    let char = text.byte_to_char(offset.min(end_of_line(text, line)));
    let first = text.line_to_char(line);
    let column = match encoding {
        Encoding::Utf8 => text.char_to_byte(char) - text.line_to_byte(line),
        Encoding::Utf16 => text.char_to_utf16_cu(char) - text.char_to_utf16_cu(first),
        Encoding::Utf32 => char - first,
    };
    lsp::Position { line: clamp_u32(line), character: clamp_u32(column) }
}

/// Where the text of a line ends and its line break, if any, starts.
pub(crate) fn end_of_line(text: &Rope, line: usize) -> usize {
    let end = text.line_to_byte(line + 1);
    // Only the last line ends without a break.
    if line + 1 == text.len_lines() {
        return end;
    }
    let is_crlf = end >= 2 && text.byte(end - 1) == b'\n' && text.byte(end - 2) == b'\r';
    end - if is_crlf { 2 } else { 1 }
}

/// The text of a line without its indentation. A line past the end means the last one.
pub(crate) fn line_without_indentation(text: &Rope, line: usize) -> TextRange {
    let line = line.min(text.len_lines().saturating_sub(1));
    let (start, end) = (text.line_to_byte(line), end_of_line(text, line));
    let indent = text.line(line).chars().take_while(|char| [' ', '\t'].contains(char)).count();
    TextRange::new(size((start + indent).min(end)), size(end))
}

pub(crate) fn size(bytes: usize) -> TextSize {
    TextSize::new(clamp_u32(bytes))
}

pub(crate) fn clamp_u32(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}
