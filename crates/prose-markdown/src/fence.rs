//! Positions of the text of a program in its document.

use std::sync::Arc;

use prose_syntax::{Diagnostic, TextEdit, TextRange, TextSize};

/// A program in a fenced code block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fence {
    /// The number of the block among those of the language in the document, from 1.
    pub number: usize,
    /// The text of the program.
    pub text: Arc<str>,
    /// Where the opening fence starts in the document.
    pub(crate) opening: usize,
    /// The lines of the text, of which there is at least one.
    pub(crate) lines: Vec<Line>,
    /// What comes before the text in a line where something is written: spaces, tabs and the marks of block quotes.
    pub(crate) prefix: String,
    /// The last place in the document that is in a line of the text.
    pub(crate) last: usize,
}

/// A line of a text that ends a line of the document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    /// Where it starts in the text.
    pub(crate) in_text: usize,
    /// Where the line of the document starts.
    pub(crate) start: usize,
    /// Where its text starts there.
    pub(crate) text_start: usize,
}

impl Fence {
    /// Where the opening fence is in the document.
    pub fn opening(&self) -> TextSize {
        size(self.opening)
    }

    /// Whether what lines start with is more than indentation, as in a block quote.
    pub fn is_marked(&self) -> bool {
        !self.prefix.trim().is_empty()
    }

    /// The place in the document of a place in the text. One past the end is the end.
    pub fn in_document(&self, offset: TextSize) -> TextSize {
        let offset = self.clamped(offset);
        let line = self.line_of(offset);
        size(line.text_start + offset - line.in_text)
    }

    /// The range in the document of a range in the text. One of several lines holds what comes before the text in the later ones.
    pub fn range_in_document(&self, range: TextRange) -> TextRange {
        TextRange::new(self.in_document(range.start()), self.in_document(range.end()))
    }

    /// The place in the text of a place in the document; none outside of the lines of the text. What comes before the text of a line means its
    /// start.
    pub fn in_text(&self, offset: TextSize) -> Option<TextSize> {
        let offset = usize::from(offset);
        (self.first() <= offset && offset <= self.last).then(|| size(self.nearest(offset)))
    }

    /// The part of a range in the document that is in the text; none if it touches no line of the text.
    pub fn range_in_text(&self, range: TextRange) -> Option<TextRange> {
        let (start, end) = (usize::from(range.start()), usize::from(range.end()));
        let touches = start <= self.last && self.first() <= end;
        touches.then(|| TextRange::new(size(self.nearest(start)), size(self.nearest(end))))
    }

    /// The edit of the document that is an edit of the text: new lines of the program start as all its lines do.
    pub fn edit_in_document(&self, edit: &TextEdit) -> TextEdit {
        let (start, end) = (self.clamped(edit.range.start()), self.clamped(edit.range.end()));
        let line = self.line_of(start);
        let mut lines = edit.new_text.split('\n');
        // There is at least one piece, be it empty.
        let first = lines.next().unwrap_or_default();
        let mut new_text = String::new();
        let stays_one_line = !edit.new_text.contains('\n');
        let rest = self.text[end..].split('\n').next().unwrap_or_default();
        // The closing fence follows the last line.
        let is_followed = is_written(rest) || end == self.text.len();
        // An empty line need not have all that others start with.
        if start == line.in_text
            && (is_written(first) || stays_one_line && is_followed)
            && let Some(missing) = self.prefix.get(line.text_start - line.start..)
        {
            new_text += missing;
        }
        new_text += first;
        let mut lines = lines.peekable();
        while let Some(line) = lines.next() {
            let is_last = lines.peek().is_none();
            new_text += "\n";
            // What follows the edit is in its last line.
            let is_written = is_written(line) || is_last && is_followed;
            new_text += if is_written { &self.prefix } else { self.prefix.trim_end() };
            new_text += line;
        }
        TextEdit { range: self.range_in_document(edit.range), new_text }
    }

    /// A diagnostic of the program as one of the document.
    pub fn diagnostic_in_document(&self, diagnostic: &Diagnostic) -> Diagnostic {
        let mut diagnostic = diagnostic.clone();
        for fix in diagnostic.fix.iter_mut().chain(&mut diagnostic.other_fixes) {
            for edit in &mut fix.edits {
                // The range follows with all others.
                edit.new_text = self.edit_in_document(edit).new_text;
            }
        }
        diagnostic.moved(|range| self.range_in_document(range))
    }

    fn clamped(&self, offset: TextSize) -> usize {
        usize::from(offset).min(self.text.len())
    }

    fn line_of(&self, offset_in_text: usize) -> &Line {
        let behind = self.lines.partition_point(|line| line.in_text <= offset_in_text);
        &self.lines[behind.saturating_sub(1)]
    }

    /// Where the first line of the text starts in the document.
    fn first(&self) -> usize {
        self.lines[0].start
    }

    /// The place in the text that is nearest to a place in the document.
    fn nearest(&self, offset: usize) -> usize {
        let behind = self.lines.partition_point(|line| line.start <= offset);
        let Some(line) = self.lines[..behind].last() else { return 0 };
        let end = self.lines.get(behind).map_or(self.text.len(), |next| next.in_text);
        (line.in_text + offset.saturating_sub(line.text_start)).min(end)
    }
}

fn is_written(line: &str) -> bool {
    !line.trim().is_empty()
}

fn size(offset: usize) -> TextSize {
    // The largest size is the nearest truth for a document that is too long for positions.
    TextSize::new(u32::try_from(offset).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests;
