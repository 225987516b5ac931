//! Between the protocol and the rest: positions, capabilities, and every result a client is given.
//!
//! Nothing a client says about places is trusted: a line past the end, a column past the end of a line or inside a
//! character, a range that ends before it starts all mean the nearest place that exists.

use std::ops::Range;

use prose_ide::{Fold, FoldKind, Symbol, SymbolKind};
use prose_syntax::{Diagnostic, Fix, FixSafety, Severity, TextRange, TextSize};
use ropey::Rope;
use serde_json::{Value, json};
use tower_lsp_server::ls_types as lsp;

/// What a column of a position counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Encoding {
    /// Bytes.
    Utf8,
    /// UTF-16 code units, which a client that does not say means.
    #[default]
    Utf16,
    /// Characters.
    Utf32,
}

impl Encoding {
    /// The best of what a client offers: what the rope counts in, else the protocol's own, else the first one known.
    fn negotiate<'a>(offered: impl Iterator<Item = &'a str>) -> Self {
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

    fn name(self) -> &'static str {
        match self {
            Encoding::Utf8 => "utf-8",
            Encoding::Utf16 => "utf-16",
            Encoding::Utf32 => "utf-32",
        }
    }
}

/// What the client can do, as far as the server cares.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Session {
    pub(crate) encoding: Encoding,
    /// The client asks for diagnostics itself, so none are sent unasked.
    pub(crate) pulls_diagnostics: bool,
    nests_symbols: bool,
    folds_whole_lines: bool,
    fold_limit: Option<usize>,
    /// The process that started the server.
    pub(crate) parent: Option<i32>,
}

impl Session {
    /// Reads the parameters of `initialize`. A field of an unexpected type counts as absent, since one odd capability must not
    /// cost the whole session.
    pub(crate) fn from_initialize(params: &Value) -> Self {
        let capability = |path: &str| params.pointer(&format!("/capabilities/{path}"));
        let flag = |path: &str| capability(path).and_then(Value::as_bool).unwrap_or(false);
        let encodings = capability("general/positionEncodings").and_then(Value::as_array);
        Self {
            encoding: Encoding::negotiate(encodings.into_iter().flatten().filter_map(Value::as_str)),
            pulls_diagnostics: capability("textDocument/diagnostic").is_some_and(Value::is_object),
            nests_symbols: flag("textDocument/documentSymbol/hierarchicalDocumentSymbolSupport"),
            folds_whole_lines: flag("textDocument/foldingRange/lineFoldingOnly"),
            fold_limit: capability("textDocument/foldingRange/rangeLimit")
                .and_then(Value::as_u64)
                .and_then(|limit| usize::try_from(limit).ok()),
            parent: params
                .get("processId")
                .and_then(Value::as_i64)
                .and_then(|pid| i32::try_from(pid).ok())
                .filter(|pid| *pid > 0),
        }
    }

    /// The answer to `initialize`.
    pub(crate) fn initialize_result(&self) -> Value {
        json!({
            "capabilities": {
                "positionEncoding": self.encoding.name(),
                "textDocumentSync": { "openClose": true, "change": lsp::TextDocumentSyncKind::INCREMENTAL },
                "diagnosticProvider": {
                    "identifier": SOURCE,
                    "interFileDependencies": false,
                    "workspaceDiagnostics": false,
                },
                "documentSymbolProvider": true,
                "foldingRangeProvider": true,
                "selectionRangeProvider": true,
            },
            "serverInfo": { "name": SOURCE, "version": env!("CARGO_PKG_VERSION") },
        })
    }
}

const SOURCE: &str = "prose";

/// One change of a document, as the client describes it.
#[derive(Debug, Clone)]
pub(crate) struct ContentChange {
    range: Option<lsp::Range>,
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
fn end_of_line(text: &Rope, line: usize) -> usize {
    let end = text.line_to_byte(line + 1);
    // Only the last line ends without a break.
    if line + 1 == text.len_lines() {
        return end;
    }
    let is_crlf = end >= 2 && text.byte(end - 1) == b'\n' && text.byte(end - 2) == b'\r';
    end - if is_crlf { 2 } else { 1 }
}

fn clamp_u32(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

/// Turns the results of the features into what the client is given.
pub(crate) struct Converter<'a> {
    pub(crate) text: &'a Rope,
    pub(crate) session: &'a Session,
}

impl Converter<'_> {
    fn position(&self, offset: TextSize) -> lsp::Position {
        position(self.text, offset.into(), self.session.encoding)
    }

    fn range(&self, range: TextRange) -> lsp::Range {
        lsp::Range { start: self.position(range.start()), end: self.position(range.end()) }
    }

    pub(crate) fn diagnostics(&self, diagnostics: &[Diagnostic]) -> Value {
        Value::Array(diagnostics.iter().map(|diagnostic| self.diagnostic(diagnostic)).collect())
    }

    fn diagnostic(&self, diagnostic: &Diagnostic) -> Value {
        let severity = match diagnostic.severity() {
            Severity::Error => lsp::DiagnosticSeverity::ERROR,
            Severity::Warning => lsp::DiagnosticSeverity::WARNING,
            Severity::Information => lsp::DiagnosticSeverity::INFORMATION,
            Severity::Hint => lsp::DiagnosticSeverity::HINT,
        };
        to_value(lsp::Diagnostic {
            range: self.range(diagnostic.range),
            severity: Some(severity),
            code: Some(lsp::NumberOrString::String(diagnostic.code.to_string())),
            source: Some(SOURCE.to_owned()),
            message: diagnostic.message.clone(),
            data: diagnostic.fix.as_ref().map(|fix| self.fix(fix)),
            ..lsp::Diagnostic::default()
        })
    }

    /// The fix as data of its diagnostic, which a client hands back when it asks for code actions.
    fn fix(&self, fix: &Fix) -> Value {
        let edits = fix
            .edits
            .iter()
            .map(|edit| lsp::TextEdit { range: self.range(edit.range), new_text: edit.new_text.clone() });
        let safety = match fix.safety {
            FixSafety::Safe => "safe",
            FixSafety::Unsafe => "unsafe",
        };
        json!({ "title": fix.title, "safety": safety, "edits": edits.collect::<Vec<_>>() })
    }

    /// Symbols as a tree or, for a client that does not know trees, as a list.
    pub(crate) fn symbols(&self, uri: &str, symbols: Vec<Symbol>) -> Value {
        if self.session.nests_symbols {
            self.nested_symbols(symbols)
        } else {
            self.flat_symbols(uri, &symbols)
        }
    }

    fn nested_symbols(&self, symbols: Vec<Symbol>) -> Value {
        let parents: Vec<Option<usize>> = symbols.iter().map(|symbol| symbol.parent).collect();
        let mut open: Vec<Option<lsp::DocumentSymbol>> =
            symbols.into_iter().map(|symbol| Some(self.document_symbol(symbol))).collect();
        let mut roots = Vec::new();
        // A symbol stands after its parent, so from behind every symbol has all its children when it is moved into its parent.
        for index in (0..open.len()).rev() {
            let Some(mut symbol) = open[index].take() else { continue };
            if let Some(children) = &mut symbol.children {
                children.reverse();
            }
            match parents[index].and_then(|parent| open.get_mut(parent)).and_then(Option::as_mut) {
                Some(parent) => parent.children.get_or_insert_default().push(symbol),
                None => roots.push(symbol),
            }
        }
        roots.reverse();
        to_value(roots)
    }

    #[allow(deprecated)] // The field `deprecated` has to be given.
    fn document_symbol(&self, symbol: Symbol) -> lsp::DocumentSymbol {
        lsp::DocumentSymbol {
            name: symbol.name,
            detail: symbol.detail,
            kind: symbol_kind(symbol.kind),
            tags: None,
            deprecated: None,
            range: self.range(symbol.range),
            selection_range: self.range(symbol.selection_range),
            children: None,
        }
    }

    fn flat_symbols(&self, uri: &str, symbols: &[Symbol]) -> Value {
        let list = symbols.iter().map(|symbol| {
            let mut entry = json!({
                "name": symbol.name,
                "kind": symbol_kind(symbol.kind),
                "location": { "uri": uri, "range": self.range(symbol.range) },
            });
            if let Some(parent) = symbol.parent.and_then(|parent| symbols.get(parent)) {
                entry["containerName"] = json!(parent.name);
            }
            entry
        });
        Value::Array(list.collect())
    }

    /// The folds that span lines. They come in the order of the text, outer ones first.
    pub(crate) fn folding_ranges(&self, folds: Vec<Fold>) -> Value {
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
                    FoldKind::Block | FoldKind::Inside => None,
                },
                collapsed_text: None,
            });
        }
        if let Some(limit) = self.session.fold_limit {
            ranges.truncate(limit);
        }
        to_value(ranges)
    }

    /// The ranges around each of `positions`, from the innermost outward.
    pub(crate) fn selection_ranges(
        &self,
        positions: &[lsp::Position],
        around: impl Fn(TextSize) -> Vec<TextRange>,
    ) -> Value {
        let ranges = positions.iter().map(|position| {
            let offset = TextSize::new(clamp_u32(offset(self.text, *position, self.session.encoding)));
            let mut ranges = around(offset);
            // Each range is nested in the next in the answer, and readers of JSON limit how deeply that may go.
            if ranges.len() > DEEPEST_SELECTION {
                ranges.drain(DEEPEST_SELECTION - 1..ranges.len() - 1);
            }
            let outside_in = ranges.into_iter().rev();
            outside_in
                .fold(None, |parent, range| {
                    Some(lsp::SelectionRange { range: self.range(range), parent: parent.map(Box::new) })
                })
                .unwrap_or_else(|| {
                    let here = self.range(TextRange::empty(offset));
                    lsp::SelectionRange { range: here, parent: None }
                })
        });
        to_value(ranges.collect::<Vec<_>>())
    }
}

const DEEPEST_SELECTION: usize = 64;

fn symbol_kind(kind: SymbolKind) -> lsp::SymbolKind {
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

/// The JSON of a type of the protocol.
fn to_value(value: impl serde::Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_else(|error| {
        // Only maps with keys that are no strings fail, and the protocol's types have none.
        tracing::error!("a result could not be written as JSON: {error}");
        Value::Null
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ENCODINGS: [Encoding; 3] = [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32];

    fn width(char: char, encoding: Encoding) -> usize {
        match encoding {
            Encoding::Utf8 => char.len_utf8(),
            Encoding::Utf16 => char.len_utf16(),
            Encoding::Utf32 => 1,
        }
    }

    /// Every place of `text` with its position, found by walking over the characters. The place inside a `\r\n` is that before it.
    fn places(text: &str, encoding: Encoding) -> Vec<(usize, lsp::Position)> {
        let (mut line, mut character) = (0, 0);
        let mut places = vec![(0, lsp::Position::new(0, 0))];
        let mut chars = text.char_indices().peekable();
        while let Some((offset, char)) = chars.next() {
            let in_crlf = char == '\r' && chars.peek().is_some_and(|(_, next)| *next == '\n');
            match char {
                '\r' if in_crlf => {}
                '\r' | '\n' => (line, character) = (line + 1, 0),
                _ => character += clamp_u32(width(char, encoding)),
            }
            places.push((offset + char.len_utf8(), lsp::Position::new(line, character)));
        }
        places
    }

    fn texts() -> impl Strategy<Value = String> {
        // Long runs have the rope spread over several chunks; the other line breaks of Unicode break no line here.
        prop::collection::vec(
            prop_oneof![
                Just("\r\n".to_owned()),
                Just("\n".to_owned()),
                Just("\r".to_owned()),
                "[a-zé€😀\u{2028}\u{85}\u{b}\t ]{0,8}",
                "[a😀]{300,400}",
            ],
            0..12,
        )
        .prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn every_place_has_its_position_and_back(text in texts()) {
            let rope = Rope::from_str(&text);
            for encoding in ENCODINGS {
                for (at, expected) in places(&text, encoding) {
                    prop_assert_eq!(position(&rope, at, encoding), expected);
                    let in_crlf = text[..at].ends_with('\r') && text[at..].starts_with('\n');
                    prop_assert_eq!(offset(&rope, expected, encoding), at - usize::from(in_crlf));
                }
            }
        }

        #[test]
        fn any_position_means_the_last_place_that_is_not_behind_it(
            text in texts(),
            line in prop_oneof![0..12u32, Just(u32::MAX)],
            character in prop_oneof![0..800u32, Just(u32::MAX)],
        ) {
            let rope = Rope::from_str(&text);
            for encoding in ENCODINGS {
                let asked = lsp::Position { line, character };
                let places = places(&text, encoding);
                let expected = places
                    .iter()
                    .filter(|(at, _)| !(text[..*at].ends_with('\r') && text[*at..].starts_with('\n')))
                    .rfind(|(_, position)| position.line == line && *position <= asked)
                    .map_or(text.len(), |(at, _)| *at);
                prop_assert_eq!(offset(&rope, asked, encoding), expected);
            }
        }

        #[test]
        fn any_offset_has_a_position(text in texts(), at in 0..6000usize) {
            let rope = Rope::from_str(&text);
            for encoding in ENCODINGS {
                let here = position(&rope, at, encoding);
                prop_assert!(offset(&rope, here, encoding) <= at);
            }
        }
    }

    #[test]
    fn a_range_that_ends_before_it_starts_is_turned_around() {
        let range = lsp::Range::new(lsp::Position::new(0, 3), lsp::Position::new(0, 1));
        let change = ContentChange { range: Some(range), text: String::new() };
        assert_eq!(change.range_in(&Rope::from_str("abcd"), Encoding::Utf16), Some(1..3));
    }

    fn session(capabilities: Value) -> Session {
        Session::from_initialize(&json!({ "capabilities": { "textDocument": capabilities } }))
    }

    #[test]
    fn capabilities_of_odd_types_count_as_absent() {
        let params = json!({ "processId": "7", "capabilities": { "general": [], "textDocument": { "diagnostic": 1 } } });
        assert_eq!(Session::from_initialize(&params), Session::default());
    }

    #[test]
    fn a_diagnostic_carries_its_code_and_its_fix() {
        let text = "session \"a\"\nsession \"😀b\n";
        let rope = Rope::from_str(text);
        let range = TextRange::new(20.into(), 26.into());
        let diagnostic = Diagnostic {
            code: prose_syntax::Code::E001,
            range,
            message: "this string is not closed".to_owned(),
            fix: Some(Fix {
                title: "Insert `\"`".to_owned(),
                safety: FixSafety::Unsafe,
                edits: vec![prose_syntax::TextEdit::insert(range.end(), "\"")],
            }),
        };
        let session = Session::default();
        let converter = Converter { text: &rope, session: &session };
        assert_eq!(
            converter.diagnostics(&[diagnostic]),
            json!([{
                "range": { "start": { "line": 1, "character": 8 }, "end": { "line": 1, "character": 12 } },
                "severity": 1,
                "code": "E001",
                "source": "prose",
                "message": "this string is not closed",
                "data": {
                    "title": "Insert `\"`",
                    "safety": "unsafe",
                    "edits": [{
                        "range": { "start": { "line": 1, "character": 12 }, "end": { "line": 1, "character": 12 } },
                        "newText": "\"",
                    }],
                },
            }])
        );
    }

    fn symbols() -> Vec<Symbol> {
        let symbol = |name: &str, range: std::ops::Range<u32>, parent| {
            let range = TextRange::new(range.start.into(), range.end.into());
            Symbol {
                name: name.to_owned(),
                detail: None,
                kind: SymbolKind::Block,
                range,
                selection_range: range,
                parent,
            }
        };
        vec![
            symbol("a", 0..4, None),
            symbol("a1", 1..2, Some(0)),
            symbol("a2", 2..3, Some(0)),
            symbol("b", 5..6, None),
        ]
    }

    #[test]
    fn symbols_nest_for_a_client_that_knows_trees() {
        let session = session(json!({ "documentSymbol": { "hierarchicalDocumentSymbolSupport": true } }));
        let converter = Converter { text: &Rope::from_str("abcdefgh"), session: &session };
        let answer = converter.symbols("file:///a.prose", symbols());
        let names = |symbols: &Value| -> Vec<String> {
            symbols
                .as_array()
                .unwrap()
                .iter()
                .map(|symbol| symbol["name"].as_str().unwrap().to_owned())
                .collect()
        };
        assert_eq!(names(&answer), ["a", "b"]);
        assert_eq!(names(&answer[0]["children"]), ["a1", "a2"]);
        assert_eq!(answer[1].get("children"), None);
    }

    #[test]
    fn symbols_are_a_list_for_another() {
        let converter = Converter { text: &Rope::from_str("abcdefgh"), session: &Session::default() };
        let answer = converter.symbols("file:///a.prose", symbols());
        assert_eq!(
            answer[1],
            json!({
                "name": "a1",
                "kind": 12,
                "location": {
                    "uri": "file:///a.prose",
                    "range": { "start": { "line": 0, "character": 1 }, "end": { "line": 0, "character": 2 } },
                },
                "containerName": "a",
            })
        );
        assert_eq!(answer.as_array().unwrap().len(), 4);
    }

    fn folds() -> Vec<Fold> {
        let fold = |range: std::ops::Range<u32>, kind| Fold {
            range: TextRange::new(range.start.into(), range.end.into()),
            kind,
        };
        // "ab\ncd\nef\n"
        vec![
            fold(1..8, FoldKind::Block),
            fold(2..5, FoldKind::Inside),
            fold(3..5, FoldKind::Inside),
            fold(4..8, FoldKind::Comment),
        ]
    }

    fn folded(capabilities: Value) -> Value {
        let session = session(json!({ "foldingRange": capabilities }));
        Converter { text: &Rope::from_str("ab\ncd\nef\n"), session: &session }.folding_ranges(folds())
    }

    #[test]
    fn folds_have_columns() {
        assert_eq!(
            folded(json!({})),
            json!([
                { "startLine": 0, "startCharacter": 1, "endLine": 2, "endCharacter": 2 },
                { "startLine": 0, "startCharacter": 2, "endLine": 1, "endCharacter": 2 },
                { "startLine": 1, "startCharacter": 1, "endLine": 2, "endCharacter": 2, "kind": "comment" },
            ])
        );
    }

    #[test]
    fn a_client_that_folds_lines_gets_one_fold_for_each_line() {
        assert_eq!(
            folded(json!({ "lineFoldingOnly": true })),
            json!([{ "startLine": 0, "endLine": 2 }, { "startLine": 1, "endLine": 2, "kind": "comment" }])
        );
    }

    #[test]
    fn no_more_folds_are_sent_than_the_client_wants() {
        assert_eq!(folded(json!({ "rangeLimit": 1 })).as_array().unwrap().len(), 1);
    }

    #[test]
    fn selections_nest_outward_and_not_too_deeply() {
        let text = "x".repeat(1000);
        let converter = Converter { text: &Rope::from_str(&text), session: &Session::default() };
        let around = |offset: TextSize| -> Vec<TextRange> {
            (0..500).map(|grow: u32| TextRange::new(offset, offset + TextSize::new(grow + 1))).collect()
        };
        let answer = converter.selection_ranges(&[lsp::Position::new(0, 7)], around);
        let mut ends = Vec::new();
        let mut range = Some(&answer[0]);
        while let Some(here) = range {
            assert_eq!(here["range"]["start"]["character"], 7);
            ends.push(here["range"]["end"]["character"].as_u64().unwrap());
            range = here.get("parent");
        }
        assert_eq!(ends.len(), DEEPEST_SELECTION);
        assert!(ends.is_sorted());
        assert_eq!((ends.first(), ends.last()), (Some(&8), Some(&507)));
    }
}
