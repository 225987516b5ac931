//! Converts results of features into types of the protocol.

use std::sync::Arc;

use prose_ide::SymbolKind;
use prose_syntax::{Diagnostic, Fix, FixSafety, Severity, Tag, TextEdit, TextRange, TextSize};
use ropey::Rope;
use serde_json::Value;

use crate::protocol::last_line::LastLine;
use crate::protocol::lsp;
use crate::protocol::position::{line_without_indentation, offset, size};
use crate::protocol::program_document::ProgramDocument;
use crate::protocol::session::Session;
use crate::protocol::uri::DocumentUri;

/// The name of the server, as the source of its diagnostics.
pub(crate) const SOURCE: &str = "prose";

/// A diagnostic as a document has it.
pub(crate) struct Reported<'a> {
    pub(crate) severity: Severity,
    pub(crate) diagnostic: &'a Diagnostic,
    pub(crate) uri: &'a DocumentUri,
    /// The document with the program at a path.
    pub(crate) place: &'a dyn Fn(&str) -> Option<(DocumentUri, ProgramDocument)>,
}

/// Converts results about one program into types of the protocol.
pub(crate) struct Converter<'a> {
    /// Where the program is shown that the results are about.
    pub(crate) shown: &'a ProgramDocument,
    pub(crate) session: &'a Session,
    last_line: LastLine<'a>,
}

impl<'a> Converter<'a> {
    pub(crate) fn new(shown: &'a ProgramDocument, session: &'a Session) -> Self {
        Self { shown, session, last_line: LastLine::default() }
    }

    pub(crate) fn position(&self, offset: TextSize) -> lsp::Position {
        self.position_in_document(self.shown.outward(offset))
    }

    fn position_in_document(&self, offset: TextSize) -> lsp::Position {
        self.last_line.position(self.shown.document(), offset.into(), self.session.encoding)
    }

    /// Where the program starts to be seen.
    pub(crate) fn top(&self) -> lsp::Range {
        let top = self.position_in_document(self.shown.top());
        lsp::Range { start: top, end: top }
    }

    pub(crate) fn range(&self, range: TextRange) -> lsp::Range {
        lsp::Range { start: self.position(range.start()), end: self.position(range.end()) }
    }

    pub(crate) fn diagnostics<'r>(
        &self,
        reported: impl Iterator<Item = Reported<'r>>,
    ) -> Vec<lsp::Diagnostic> {
        reported.map(|reported| self.diagnostic(&reported)).collect()
    }

    pub(crate) fn diagnostic(&self, reported: &Reported<'_>) -> lsp::Diagnostic {
        let diagnostic = reported.diagnostic;
        let severity = match reported.severity {
            Severity::Error => lsp::DiagnosticSeverity::ERROR,
            Severity::Warning => lsp::DiagnosticSeverity::WARNING,
            Severity::Information => lsp::DiagnosticSeverity::INFORMATION,
            Severity::Hint => lsp::DiagnosticSeverity::HINT,
        };
        let tag = diagnostic.code.info().tag.map(|tag| match tag {
            Tag::Unnecessary => lsp::DiagnosticTag::UNNECESSARY,
            Tag::Deprecated => lsp::DiagnosticTag::DEPRECATED,
        });
        lsp::Diagnostic {
            range: self.range(diagnostic.range),
            severity: Some(severity),
            code: Some(lsp::NumberOrString::String(diagnostic.code.to_string())),
            source: Some(SOURCE.to_owned()),
            message: diagnostic.message.clone(),
            related_information: self.related(reported),
            tags: tag.map(|tag| vec![tag]),
            data: diagnostic.fix.as_ref().map(|fix| self.fix(fix)),
            ..lsp::Diagnostic::default()
        }
    }

    /// The diagnostic of a run that failed at the statement in a line of the program.
    pub(crate) fn failure_of_run(&self, text: &Rope, line: usize, message: String) -> lsp::Diagnostic {
        lsp::Diagnostic {
            range: self.range(line_without_indentation(text, line)),
            severity: Some(lsp::DiagnosticSeverity::ERROR),
            source: Some("prose run".to_owned()),
            message,
            ..lsp::Diagnostic::default()
        }
    }

    /// The fix as data of its diagnostic, for clients that look for it there.
    fn fix(&self, fix: &Fix) -> Value {
        let safety = match fix.safety {
            FixSafety::Safe => "safe",
            FixSafety::Unsafe => "unsafe",
        };
        serde_json::json!({ "title": fix.title, "safety": safety, "edits": self.edits(&fix.edits) })
    }

    /// The bytes of the program that are in a range; none if it touches nothing of the program.
    pub(crate) fn text_range(&self, range: lsp::Range) -> Option<TextRange> {
        let (start, end) = (self.offset_in_document(range.start), self.offset_in_document(range.end));
        self.shown.range_inward(TextRange::new(start.min(end), start.max(end)))
    }

    /// The offset of a position in the program; none outside of it.
    pub(crate) fn text_offset(&self, position: lsp::Position) -> Option<TextSize> {
        self.shown.inward(self.offset_in_document(position))
    }

    fn offset_in_document(&self, position: lsp::Position) -> TextSize {
        size(offset(self.shown.document(), position, self.session.encoding))
    }

    pub(crate) fn edits(&self, edits: &[TextEdit]) -> Vec<lsp::TextEdit> {
        let edits = edits.iter();
        edits
            .map(|edit| {
                let TextEdit { range, new_text } = self.shown.edit_outward(edit);
                let (start, end) =
                    (self.position_in_document(range.start()), self.position_in_document(range.end()));
                lsp::TextEdit { range: lsp::Range { start, end }, new_text }
            })
            .collect()
    }

    fn related(&self, reported: &Reported<'_>) -> Option<Vec<lsp::DiagnosticRelatedInformation>> {
        let related = &reported.diagnostic.related;
        if related.is_empty() || !self.session.shows_related {
            return None;
        }
        let places = related.iter().filter_map(|related| {
            let (uri, range) = match &related.path {
                None => (Arc::clone(reported.uri), self.range(related.range)),
                Some(path) => {
                    let (uri, shown) = (reported.place)(path)?;
                    (uri, Converter::new(&shown, self.session).range(related.range))
                }
            };
            let location = lsp::Location { uri: uri.parse().ok()?, range };
            Some(lsp::DiagnosticRelatedInformation { location, message: related.message.clone() })
        });
        Some(places.collect())
    }
}

pub(crate) fn symbol_kind(kind: SymbolKind) -> lsp::SymbolKind {
    match kind {
        SymbolKind::Agent => lsp::SymbolKind::CLASS,
        SymbolKind::Block => lsp::SymbolKind::FUNCTION,
        SymbolKind::Import => lsp::SymbolKind::MODULE,
        SymbolKind::Input => lsp::SymbolKind::PROPERTY,
        SymbolKind::Output => lsp::SymbolKind::FIELD,
        SymbolKind::Variable => lsp::SymbolKind::VARIABLE,
        SymbolKind::Constant => lsp::SymbolKind::CONSTANT,
        SymbolKind::Session => lsp::SymbolKind::EVENT,
    }
}

#[cfg(test)]
pub(crate) mod tests;
