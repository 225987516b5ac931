//! The rows of the tree of a run.

use std::collections::BTreeMap;

use prose_view::{Node, NodeId, NodeKind, Status, View};

/// A row: a node, and how deep it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Row {
    /// The node.
    pub(crate) id: NodeId,
    /// The branch that has nothing but this node in it, and shares the row with it.
    pub(crate) branch: Option<NodeId>,
    /// How many rows it is in.
    pub(crate) depth: usize,
    /// Whether what is in it has rows; `None` if nothing is.
    pub(crate) is_open: Option<bool>,
}

/// Which parts have rows for what is in them.
#[derive(Debug, Default)]
pub(crate) struct Folding {
    /// What the user has opened or folded.
    chosen: BTreeMap<NodeId, bool>,
    /// Whether what has ended well has no rows.
    pub(crate) hides_complete: bool,
    /// Counts the changes, so that rows are made again only after one.
    pub(crate) changes: u64,
}

impl Folding {
    /// Opens or folds a part.
    pub(crate) fn set(&mut self, id: NodeId, is_open: bool) {
        self.chosen.insert(id, is_open);
        self.changes += 1;
    }

    /// Shows or hides what has ended well.
    pub(crate) fn toggle_complete(&mut self) {
        self.hides_complete = !self.hides_complete;
        self.changes += 1;
    }

    /// What has ended well is folded unless the user opens it: what runs has the room.
    fn is_open(&self, id: NodeId, node: &Node) -> bool {
        let is_over = matches!(node.status, Status::Complete | Status::Skipped);
        self.chosen.get(&id).copied().unwrap_or(!is_over)
    }

    fn hides(&self, node: &Node) -> bool {
        self.hides_complete && matches!(node.status, Status::Complete | Status::Skipped)
    }
}

/// The rows of a run, without one for the run itself.
pub(crate) fn rows(view: &View, folding: &Folding) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut left: Vec<(NodeId, usize)> = view.children(NodeId::ROOT).map(|(id, _)| (id, 0)).collect();
    while let Some((id, depth)) = left.pop() {
        let Some(node) = view.node(id) else { continue };
        if folding.hides(node) {
            continue;
        }
        let (id, node, branch) = match only_child(view, id, node) {
            Some((child, in_it)) => (child, in_it, Some(id)),
            None => (id, node, None),
        };
        let is_open = node.last_child.map(|_| folding.is_open(id, node));
        rows.push(Row { id, branch, depth, is_open });
        if is_open == Some(true) {
            left.extend(view.children(id).map(|(child, _)| (child, depth + 1)));
        }
    }
    rows
}

/// What shares the row of a branch: the session that is all that it has.
fn only_child<'a>(view: &'a View, id: NodeId, node: &Node) -> Option<(NodeId, &'a Node)> {
    if !matches!(node.kind, NodeKind::Branch(_) | NodeKind::Iteration(_) | NodeKind::Stage) {
        return None;
    }
    let mut children = view.children(id);
    match (children.next(), children.next()) {
        (Some((child, only)), None) if only.session().is_some() => Some((child, only)),
        _ => None,
    }
}
