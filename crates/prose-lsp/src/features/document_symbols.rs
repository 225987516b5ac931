//! `textDocument/documentSymbol`.

use std::ops::Range;

use prose_ide::Symbol;
use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};

use crate::documents::snapshot::Snapshot;
use crate::protocol::convert::{Converter, symbol_kind};
use crate::protocol::json::{Json, json};
use crate::protocol::lsp;
use crate::protocol::session::Session;

/// The answer to `textDocument/documentSymbol` about one of the programs of a document.
pub(crate) fn document_symbols(snapshot: &Snapshot, session: &Session) -> Json {
    let symbols = prose_ide::document_symbols(&snapshot.parse().syntax());
    encoded(&symbols, &snapshot.uri, &snapshot.converter(session))
}

/// Symbols as a tree or, for a client that does not support trees, as a list.
fn encoded(symbols: &[Symbol], uri: &str, converter: &Converter<'_>) -> Json {
    if converter.session.nests_symbols {
        json(&SymbolTree { converter, symbols, siblings: 0..symbols.len() })
    } else {
        flat(symbols, uri, converter)
    }
}

fn flat(symbols: &[Symbol], uri: &str, converter: &Converter<'_>) -> Json {
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
        location: Location { uri, range: converter.range(symbol.range) },
        container_name: symbol.parent.and_then(|parent| symbols.get(parent)).map(|parent| &*parent.name),
    });
    json(&entries.collect::<Vec<_>>())
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

#[cfg(test)]
mod tests {
    use prose_ide::SymbolKind;
    use prose_syntax::TextRange;
    use serde_json::{Value, json};

    use super::*;
    use crate::protocol::convert::tests::{parsed, session, shown};

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
    fn symbols_nest_for_a_client_that_supports_trees() {
        let session = session(json!({ "documentSymbol": { "hierarchicalDocumentSymbolSupport": true } }));
        let shown = shown("abcdefgh");
        let converter = Converter::new(&shown, &session);
        let answer = parsed(&encoded(&symbols(), "file:///a.prose", &converter));
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
        let (shown, session) = (shown("abcdefgh"), Session::default());
        let converter = Converter::new(&shown, &session);
        let answer = parsed(&encoded(&symbols(), "file:///a.prose", &converter));
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
}
