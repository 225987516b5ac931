//! Flow graphs with their layouts as JSON, for panels.

use prose_ide::FlowGraph;
use prose_syntax::TextRange;
use serde_json::{Value, json};

use crate::layout::{Layout, round};
use crate::svg::sign;

/// The JSON of a flow graph, in which `range` writes ranges of the program.
pub fn graph_json(graph: &FlowGraph, range: impl Fn(TextRange) -> Value) -> Value {
    let Layout { boxes, lines, width, height } = Layout::new(graph);
    let nodes: Vec<Value> = graph
        .nodes
        .iter()
        .zip(&boxes)
        .map(|(node, rect)| {
            json!({
                "kind": node.kind.name(),
                "label": node.label,
                "detail": node.detail,
                "name": node.name.as_deref(),
                "parent": node.parent,
                "range": range(node.range),
                "sign": sign(node.kind),
                "bytes": [u32::from(node.range.start()), u32::from(node.range.end())],
                "box": {
                    "x": round(rect.x),
                    "y": round(rect.y),
                    "width": round(rect.width),
                    "height": round(rect.height),
                    "isFrame": rect.is_frame,
                },
            })
        })
        .collect();
    let edges: Vec<Value> = lines
        .iter()
        .map(|line| {
            json!({ "from": line.edge.from, "to": line.edge.to, "kind": line.edge.kind.name(), "path": line.path })
        })
        .collect();
    json!({ "nodes": nodes, "edges": edges, "width": round(width), "height": round(height) })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use expect_test::expect_file;
    use prose_syntax::LineIndex;

    use super::*;
    use crate::drawing::flow_of;

    /// The tests of the panel have the program of a recorded run as the server sends it.
    #[test]
    fn the_flow_of_the_recorded_run_is_that_of_its_program() {
        let program = include_str!("../../../editors/vscode/test/recorded/review.prose");
        let lines = LineIndex::new(program);
        let position = |offset: usize| {
            let line = lines.line(offset);
            json!({ "line": line, "character": offset - lines.range(line).start })
        };
        let graph = graph_json(
            &flow_of(Path::new("review.prose"), program),
            |range| json!({ "start": position(range.start().into()), "end": position(range.end().into()) }),
        );
        let file = expect_file!["../../../editors/vscode/test/recorded/review.flow.json"];
        file.assert_eq(&format!("{graph}\n"));
    }
}
