//! `textDocument/selectionRange`.

use prose_syntax::{TextRange, TextSize};

use crate::documents::snapshot::Snapshot;
use crate::protocol::convert::Converter;
use crate::protocol::json::{Json, json};
use crate::protocol::lsp::{Position, Range, SelectionRange};
use crate::protocol::session::Session;

/// Each range is nested in the next in the answer, and readers of JSON limit how deeply that may go.
const MAX_DEPTH: usize = 64;

/// The answer to `textDocument/selectionRange`.
pub(crate) fn selection_ranges(snapshots: &[Snapshot], session: &Session, positions: &[Position]) -> Json {
    let roots: Vec<_> = snapshots.iter().map(|snapshot| snapshot.parse().syntax()).collect();
    let ranges = positions.iter().map(|position| {
        let here = snapshots.iter().zip(&roots).find_map(|(snapshot, root)| {
            let around = |offset| prose_ide::selection_ranges(root, offset);
            nested(&snapshot.converter(session), *position, around)
        });
        here.unwrap_or_else(|| empty(*position))
    });
    json(&ranges.collect::<Vec<_>>())
}

/// The ranges around a position, from the innermost outward; none if the position is outside of the program.
fn nested(
    converter: &Converter<'_>,
    position: Position,
    around: impl Fn(TextSize) -> Vec<TextRange>,
) -> Option<SelectionRange> {
    let offset = converter.text_offset(position)?;
    let mut ranges = around(offset);
    if ranges.len() > MAX_DEPTH {
        ranges.drain(MAX_DEPTH - 1..ranges.len() - 1);
    }
    let outside_in = ranges.into_iter().rev();
    let nested = outside_in.fold(None, |parent, range| {
        Some(SelectionRange { range: converter.range(range), parent: parent.map(Box::new) })
    });
    Some(nested.unwrap_or_else(|| empty(converter.position(offset))))
}

/// The selection at a position outside of programs.
fn empty(at: Position) -> SelectionRange {
    SelectionRange { range: Range { start: at, end: at }, parent: None }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::protocol::convert::tests::shown;

    #[test]
    fn selections_nest_outward_and_not_too_deeply() {
        let text = "x".repeat(1000);
        let (shown, session) = (shown(&text), Session::default());
        let converter = Converter::new(&shown, &session);
        let around = |offset: TextSize| -> Vec<TextRange> {
            (0..500).map(|grow: u32| TextRange::new(offset, offset + TextSize::new(grow + 1))).collect()
        };
        let answer = json!(nested(&converter, Position::new(0, 7), around));
        let mut ends = Vec::new();
        let mut range = Some(&answer);
        while let Some(here) = range {
            assert_eq!(here["range"]["start"]["character"], 7);
            ends.push(here["range"]["end"]["character"].as_u64().unwrap());
            range = here.get("parent");
        }
        assert_eq!(ends.len(), MAX_DEPTH);
        assert!(ends.is_sorted());
        assert_eq!((ends.first(), ends.last()), (Some(&8), Some(&507)));
    }
}
