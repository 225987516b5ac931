//! `prose/flowGraph` about a program that is open.

use crate::protocol::flow_graph::graph_json;
use crate::protocol::json::{Json, json};
use crate::reads::views::Views;

/// The answer to `prose/flowGraph`. Of a document with several programs it is that of the first one.
pub(crate) fn flow_graph(views: &Views) -> Json {
    json(&views.each().next().map(|view| {
        let graph = prose_ide::flow_graph(view.db, view.snapshot.file);
        graph_json(&graph, &view.converter())
    }))
}
