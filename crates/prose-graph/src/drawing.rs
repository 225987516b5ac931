//! What is drawn.

use std::path::Path;

use prose_analysis::{AnalysisHost, Text};
use prose_ide::{FlowGraph, FlowNode, flow_graph};

/// The flow of a program by itself, such as the one that a run was started with. The path is only a name.
pub fn flow_of(path: &Path, program: &str) -> FlowGraph {
    let mut host = AnalysisHost::default();
    let file = host.set_text(path, Text::new(program.to_owned()));
    flow_graph(host.db(), file)
}

/// A flow graph, with the name of its program and the lines of its nodes.
#[derive(Clone, Copy)]
pub struct Drawing<'a> {
    /// The graph.
    pub graph: &'a FlowGraph,
    /// The name of the program.
    pub title: &'a str,
    /// The line of a node, from 1.
    pub line: &'a dyn Fn(&FlowNode) -> usize,
}
