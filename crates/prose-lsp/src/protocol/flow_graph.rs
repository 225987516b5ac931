//! Flow graphs as JSON.

use serde_json::{Value, json};

use crate::protocol::convert::Converter;

/// The JSON of a flow graph with its layout.
pub(crate) fn graph_json(graph: &prose_ide::FlowGraph, converter: &Converter<'_>) -> Value {
    prose_graph::graph_json(graph, |range| json!(converter.range(range)))
}
