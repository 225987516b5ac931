//! `textDocument/inlayHint`: hints of the analysis and results of runs.

use prose_ide::HintKind;
use serde_json::{Value, json};

use crate::features::run_hints;
use crate::protocol::lsp;
use crate::reads::views::View;

/// The answer to `textDocument/inlayHint`.
pub(crate) fn inlay_hints(view: &View<'_>, range: lsp::Range) -> Vec<Value> {
    let lines = range.start.line as usize..=range.end.line as usize;
    let mut shown = known(view, range);
    shown.extend(run_hints::inlay_hints(view, &lines));
    shown
}

/// The hints of the analysis.
fn known(view: &View<'_>, range: lsp::Range) -> Vec<Value> {
    let snapshot = view.snapshot;
    let converter = view.converter();
    let Some(range) = converter.text_range(range) else { return Vec::new() };
    let (wanted, most) = (snapshot.config.hints(), snapshot.config.run().max_iterations.get());
    let hints = prose_ide::inlay_hints(view.db, snapshot.file, range, wanted, most);
    hints
        .iter()
        .map(|hint| {
            let is_parameter = hint.kind == HintKind::Parameter;
            json!({
                "position": converter.position(hint.offset),
                "label": hint.label,
                // The protocol has two kinds: types and parameters.
                "kind": if is_parameter { 2 } else { 1 },
                "tooltip": hint.tooltip,
                "paddingLeft": !is_parameter,
                "paddingRight": is_parameter,
            })
        })
        .collect()
}
