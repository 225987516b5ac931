//! Flow graphs as JSON.

use serde_json::{Value, json};

use crate::protocol::convert::Converter;

/// The JSON of a flow graph.
pub(crate) fn graph_json(graph: &prose_ide::FlowGraph, converter: &Converter<'_>) -> Value {
    let nodes: Vec<Value> = graph
        .nodes
        .iter()
        .map(|node| {
            json!({
                "kind": node.kind.name(),
                "label": node.label,
                "detail": node.detail,
                "name": node.name,
                "parent": node.parent,
                "range": converter.range(node.range),
                "bytes": [u32::from(node.range.start()), u32::from(node.range.end())],
            })
        })
        .collect();
    let edges: Vec<Value> = graph
        .edges
        .iter()
        .map(|edge| json!({ "from": edge.from, "to": edge.to, "kind": edge.kind.name() }))
        .collect();
    json!({ "nodes": nodes, "edges": edges })
}
