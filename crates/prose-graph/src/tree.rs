//! The nodes of a flow graph as the tree that they are.

use prose_ide::{FlowGraph, FlowKind};

/// The children of each node, and the nodes without a parent.
pub(crate) struct Tree {
    pub(crate) children: Vec<Vec<usize>>,
    /// The nodes without a parent that are executed where they stand.
    pub(crate) tops: Vec<usize>,
    /// The blocks and imported programs, which are executed where they are called.
    pub(crate) called: Vec<usize>,
}

impl Tree {
    pub(crate) fn new(graph: &FlowGraph) -> Self {
        let mut tree =
            Self { children: vec![Vec::new(); graph.nodes.len()], tops: Vec::new(), called: Vec::new() };
        for (index, node) in graph.nodes.iter().enumerate() {
            match node.parent {
                Some(parent) => tree.children[parent].push(index),
                None if node.kind.is_called() => tree.called.push(index),
                None => tree.tops.push(index),
            }
        }
        tree
    }

    /// Whether a node has others in it.
    pub(crate) fn is_frame(&self, node: usize) -> bool {
        !self.children[node].is_empty()
    }

    /// The first or last innermost node in a node, or itself.
    pub(crate) fn leaf(&self, mut node: usize, is_last: bool) -> usize {
        loop {
            let children = &self.children[node];
            match if is_last { children.last() } else { children.first() } {
                Some(child) => node = *child,
                None => return node,
            }
        }
    }
}

/// Whether a node is another one or in it.
pub(crate) fn is_within(graph: &FlowGraph, node: usize, around: usize) -> bool {
    std::iter::successors(Some(node), |at| graph.nodes[*at].parent).any(|at| at == around)
}

/// Whether the children of a node stand side by side.
pub(crate) fn is_side_by_side(kind: FlowKind) -> bool {
    matches!(kind, FlowKind::Parallel | FlowKind::If | FlowKind::Choice | FlowKind::Try)
}
