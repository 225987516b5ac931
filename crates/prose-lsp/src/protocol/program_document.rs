//! Where the text of a program is shown to the client. All places go through here on their way from and to a client.

use std::sync::Arc;

use prose_markdown::Fence;
use prose_syntax::{TextEdit, TextRange, TextSize};
use ropey::Rope;

/// The document that shows the text of a program: all of it, or a fenced code block in it.
#[derive(Debug, Clone)]
pub(crate) struct ProgramDocument {
    document: Rope,
    fence: Option<Arc<Fence>>,
}

impl ProgramDocument {
    /// A program that is a document of its own.
    pub(crate) fn alone(document: Rope) -> Self {
        Self { document, fence: None }
    }

    /// A program in a Markdown document.
    pub(crate) fn in_fence(document: Rope, fence: Arc<Fence>) -> Self {
        Self { document, fence: Some(fence) }
    }

    /// The text of the document.
    pub(crate) fn document(&self) -> &Rope {
        &self.document
    }

    /// Whether the program is one of a Markdown document.
    pub(crate) fn is_in_fence(&self) -> bool {
        self.fence.is_some()
    }

    /// Whether lines of the document start with more than the indentation of the program.
    pub(crate) fn has_marked_lines(&self) -> bool {
        self.fence.as_ref().is_some_and(|fence| fence.is_marked())
    }

    /// Where the program starts to be seen.
    pub(crate) fn top(&self) -> TextSize {
        self.fence.as_ref().map_or(TextSize::new(0), |fence| fence.opening())
    }

    /// The line of the document, counted from 0, that is the first one of the program.
    pub(crate) fn first_line(&self) -> usize {
        let start = usize::from(self.outward(TextSize::new(0)));
        self.document.byte_to_line(start.min(self.document.len_bytes()))
    }

    /// The place in the document of a place in the program.
    pub(crate) fn outward(&self, offset: TextSize) -> TextSize {
        self.fence.as_ref().map_or(offset, |fence| fence.in_document(offset))
    }

    /// The place in the program of a place in the document; none outside of the program.
    pub(crate) fn inward(&self, offset: TextSize) -> Option<TextSize> {
        self.fence.as_ref().map_or(Some(offset), |fence| fence.in_text(offset))
    }

    /// The part of a range in the document that is in the program; none if it touches nothing of it.
    pub(crate) fn range_inward(&self, range: TextRange) -> Option<TextRange> {
        self.fence.as_ref().map_or(Some(range), |fence| fence.range_in_text(range))
    }

    /// The edit of the document that is an edit of the program.
    pub(crate) fn edit_outward(&self, edit: &TextEdit) -> TextEdit {
        self.fence.as_ref().map_or_else(|| edit.clone(), |fence| fence.edit_in_document(edit))
    }
}
