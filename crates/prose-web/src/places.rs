//! Places in texts: bytes of the analysis, UTF-16 code units of the host.

use prose_syntax::lines::size;
use prose_syntax::{TextEdit, TextRange, TextSize};
use ropey::Rope;
use serde::Serialize;
use serde_json::{Value, json};

/// The places of a text.
pub(crate) struct Places(Rope);

/// A part of a text, in UTF-16 code units.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Span {
    pub(crate) from: usize,
    pub(crate) to: usize,
}

/// An edit of a text.
#[derive(Debug, Serialize)]
pub(crate) struct Edit {
    #[serde(flatten)]
    pub(crate) span: Span,
    pub(crate) insert: String,
}

impl Places {
    pub(crate) fn new(text: Rope) -> Self {
        Self(text)
    }

    /// The bytes before an offset. One outside of the text or inside of a character means the nearest place.
    pub(crate) fn offset(&self, units: usize) -> TextSize {
        let Self(text) = self;
        let units = units.min(text.len_utf16_cu());
        size(text.char_to_byte(text.utf16_cu_to_char(units)))
    }

    /// The UTF-16 code units of some bytes.
    pub(crate) fn span(&self, range: TextRange) -> Span {
        Span { from: self.units(range.start()), to: self.units(range.end()) }
    }

    /// The edits of a text.
    pub(crate) fn edits(&self, edits: &[TextEdit]) -> Vec<Edit> {
        let edits = edits.iter();
        edits.map(|edit| Edit { span: self.span(edit.range), insert: edit.new_text.clone() }).collect()
    }

    /// The lines and columns of some bytes, as editors count them: from 0.
    pub(crate) fn range(&self, range: TextRange) -> Value {
        json!({ "start": self.position(range.start()), "end": self.position(range.end()) })
    }

    fn position(&self, offset: TextSize) -> Value {
        let Self(text) = self;
        let char = self.char(offset);
        let line = text.char_to_line(char);
        let start = text.char_to_utf16_cu(text.line_to_char(line));
        json!({ "line": line, "character": text.char_to_utf16_cu(char) - start })
    }

    fn units(&self, offset: TextSize) -> usize {
        self.0.char_to_utf16_cu(self.char(offset))
    }

    fn char(&self, offset: TextSize) -> usize {
        self.0.byte_to_char(usize::from(offset).min(self.0.len_bytes()))
    }
}
