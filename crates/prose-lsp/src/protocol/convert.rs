//! Converts results of features into types of the protocol.

use std::ops::Range;
use std::sync::Arc;

use prose_ide::{Fold, FoldKind, Symbol, SymbolKind};
use prose_syntax::{Diagnostic, Fix, FixSafety, Severity, Tag, TextEdit, TextRange, TextSize};
use ropey::Rope;
use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::protocol::json::{Json, json};
use crate::protocol::last_line::LastLine;
use crate::protocol::lsp;
use crate::protocol::position::{line_without_indentation, offset, size};
use crate::protocol::session::Session;
use crate::protocol::shown::Shown;
use crate::protocol::uri::DocumentUri;

/// The name of the server, as the source of its diagnostics.
pub(crate) const SOURCE: &str = "prose";

/// A diagnostic as a document has it.
pub(crate) struct Reported<'a> {
    pub(crate) severity: Severity,
    pub(crate) diagnostic: &'a Diagnostic,
    pub(crate) uri: &'a DocumentUri,
    /// The document with the program at a path.
    pub(crate) place: &'a dyn Fn(&str) -> Option<(DocumentUri, Shown)>,
}

/// Converts results about one program into types of the protocol.
pub(crate) struct Converter<'a> {
    /// Where the program is shown that the results are about.
    pub(crate) shown: &'a Shown,
    pub(crate) session: &'a Session,
    last_line: LastLine<'a>,
}

impl<'a> Converter<'a> {
    pub(crate) fn new(shown: &'a Shown, session: &'a Session) -> Self {
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

    /// Symbols as a tree or, for a client that does not know trees, as a list.
    pub(crate) fn symbols(&self, uri: &str, symbols: Vec<Symbol>) -> Json {
        if self.session.nests_symbols {
            json(&SymbolTree { converter: self, symbols: &symbols, siblings: 0..symbols.len() })
        } else {
            self.flat_symbols(uri, &symbols)
        }
    }

    fn flat_symbols(&self, uri: &str, symbols: &[Symbol]) -> Json {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Entry<'a> {
            name: &'a str,
            kind: lsp::SymbolKind,
            location: Location<'a>,
            #[serde(skip_serializing_if = "Option::is_none")]
            container_name: Option<&'a str>,
        }
        #[derive(Serialize)]
        struct Location<'a> {
            uri: &'a str,
            range: lsp::Range,
        }
        let entries = symbols.iter().map(|symbol| Entry {
            name: &symbol.name,
            kind: symbol_kind(symbol.kind),
            location: Location { uri, range: self.range(symbol.range) },
            container_name: symbol.parent.and_then(|parent| symbols.get(parent)).map(|parent| &*parent.name),
        });
        json(&entries.collect::<Vec<_>>())
    }

    /// The folds that span lines. They come in the order of the text, outer ones first.
    pub(crate) fn folding_ranges(&self, folds: Vec<Fold>) -> Json {
        let mut last_start = None;
        let mut ranges = Vec::new();
        for fold in folds {
            let lsp::Range { start, end } = self.range(fold.range);
            if start.line == end.line {
                continue;
            }
            // A client that folds whole lines can fold only one range at each line: the outermost, which comes first.
            if self.session.folds_whole_lines && last_start.replace(start.line) == Some(start.line) {
                continue;
            }
            let columns = !self.session.folds_whole_lines;
            ranges.push(lsp::FoldingRange {
                start_line: start.line,
                start_character: columns.then_some(start.character),
                end_line: end.line,
                end_character: columns.then_some(end.character),
                kind: match fold.kind {
                    FoldKind::Comment => Some(lsp::FoldingRangeKind::Comment),
                    FoldKind::Imports => Some(lsp::FoldingRangeKind::Imports),
                    FoldKind::Region => Some(lsp::FoldingRangeKind::Region),
                    FoldKind::Block | FoldKind::Inside => None,
                },
                collapsed_text: None,
            });
        }
        if let Some(limit) = self.session.fold_limit {
            ranges.truncate(limit);
        }
        json(&ranges)
    }

    /// The ranges around a position, from the innermost outward; none if the position is outside of the program.
    pub(crate) fn selection_range(
        &self,
        position: lsp::Position,
        around: impl Fn(TextSize) -> Vec<TextRange>,
    ) -> Option<lsp::SelectionRange> {
        let offset = self.text_offset(position)?;
        let mut ranges = around(offset);
        // Each range is nested in the next in the answer, and readers of JSON limit how deeply that may go.
        if ranges.len() > MAX_SELECTION_DEPTH {
            ranges.drain(MAX_SELECTION_DEPTH - 1..ranges.len() - 1);
        }
        let outside_in = ranges.into_iter().rev();
        let nested = outside_in.fold(None, |parent, range| {
            Some(lsp::SelectionRange { range: self.range(range), parent: parent.map(Box::new) })
        });
        Some(nested.unwrap_or_else(|| empty_selection(self.position(offset))))
    }
}

/// The selection at a position outside of programs.
pub(crate) fn empty_selection(at: lsp::Position) -> lsp::SelectionRange {
    lsp::SelectionRange { range: lsp::Range { start: at, end: at }, parent: None }
}

/// Symbols as the protocol nests them. They are converted while they are written, since there may be very many.
struct SymbolTree<'a, 'c> {
    converter: &'a Converter<'c>,
    symbols: &'a [Symbol],
    /// The indices of symbols with a common parent and of all that is below them.
    siblings: Range<usize>,
}

impl Serialize for SymbolTree<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Node<'a, 'c> {
            name: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            detail: Option<&'a str>,
            kind: lsp::SymbolKind,
            range: lsp::Range,
            selection_range: lsp::Range,
            #[serde(skip_serializing_if = "Option::is_none")]
            children: Option<SymbolTree<'a, 'c>>,
        }
        let mut list = serializer.serialize_seq(None)?;
        let mut index = self.siblings.start;
        while let Some(symbol) = self.symbols[..self.siblings.end].get(index) {
            // The descendants of a symbol follow it directly.
            let below = self.symbols[index + 1..self.siblings.end].iter();
            let end = index + 1 + below.take_while(|other| other.parent >= Some(index)).count();
            list.serialize_element(&Node {
                name: &symbol.name,
                detail: symbol.detail.as_deref(),
                kind: symbol_kind(symbol.kind),
                range: self.converter.range(symbol.range),
                selection_range: self.converter.range(symbol.selection_range),
                children: (end > index + 1).then(|| SymbolTree { siblings: index + 1..end, ..*self }),
            })?;
            index = end;
        }
        list.end()
    }
}

const MAX_SELECTION_DEPTH: usize = 64;

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
mod tests;
