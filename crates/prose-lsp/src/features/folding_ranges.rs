//! `textDocument/foldingRange`.

use prose_ide::{Fold, FoldKind};

use crate::documents::snapshot::Snapshot;
use crate::protocol::convert::Converter;
use crate::protocol::json::{Json, json};
use crate::protocol::lsp;
use crate::protocol::session::Session;

/// The answer to `textDocument/foldingRange` about one of the programs of a document.
pub(crate) fn folding_ranges(snapshot: &Snapshot, session: &Session) -> Json {
    let folds = prose_ide::folding_ranges(&snapshot.parse().syntax());
    json(&spanning_lines(folds, &snapshot.converter(session)))
}

/// The folds that span lines. They come in the order of the text, outer ones first.
fn spanning_lines(folds: Vec<Fold>, converter: &Converter<'_>) -> Vec<lsp::FoldingRange> {
    let mut last_start = None;
    let mut ranges = Vec::new();
    for fold in folds {
        let lsp::Range { start, end } = converter.range(fold.range);
        if start.line == end.line {
            continue;
        }
        // A client that folds whole lines can fold only one range at each line: the outermost, which comes first.
        if converter.session.folds_whole_lines && last_start.replace(start.line) == Some(start.line) {
            continue;
        }
        let columns = !converter.session.folds_whole_lines;
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
    if let Some(limit) = converter.session.fold_limit {
        ranges.truncate(limit);
    }
    ranges
}

#[cfg(test)]
mod tests {
    use prose_syntax::TextRange;
    use serde_json::{Value, json};

    use super::*;
    use crate::protocol::convert::tests::{session, shown};

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
        json!(spanning_lines(folds(), &Converter::new(&shown("ab\ncd\nef\n"), &session)))
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
}
