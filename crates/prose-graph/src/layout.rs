//! The layout of a flow: statements in a column, parallel branches and alternatives side by side, in the frames of their parents; blocks and imported
//! programs on the right.

use prose_ide::{FlowEdge, FlowEdgeKind, FlowGraph, FlowKind, FlowNode};

use crate::text::{Style, width};
use crate::tree::{Tree, is_side_by_side, is_within};

/// Where everything is drawn, in pixels.
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    /// The rectangles of the nodes, by their indices.
    pub boxes: Vec<Rect>,
    /// The lines of the edges, by their indices.
    pub lines: Vec<Line>,
    /// The width of the drawing.
    pub width: f64,
    /// Its height.
    pub height: f64,
}

/// The rectangle of a node.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Rect {
    /// Its left side.
    pub x: f64,
    /// Its top.
    pub y: f64,
    /// Its width.
    pub width: f64,
    /// Its height.
    pub height: f64,
    /// Whether it is a frame around other nodes, with its label at the top.
    pub is_frame: bool,
}

/// The line of an edge.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// The edge.
    pub edge: FlowEdge,
    /// The path, as SVG writes it.
    pub path: String,
}

/// The height of the label of a frame.
pub(crate) const HEADER: f64 = 26.0;
/// The maximum number of columns in a row.
const MAX_COLUMNS: usize = 6;
const LEAF: f64 = 28.0;
const LEAF_WITH_DETAIL: f64 = 44.0;
const NARROWEST: f64 = 96.0;
const WIDEST: f64 = 230.0;
const WIDEST_HEADER: f64 = 330.0;
const PADDING: f64 = 14.0;
/// The distance between consecutive nodes.
const GAP: f64 = 22.0;
const COLUMN_GAP: f64 = 16.0;
/// The distance between blocks.
const BLOCK_GAP: f64 = 28.0;
/// The distance between the statements and the blocks.
const ASIDE: f64 = 64.0;
/// The space on the left of a loop for the line back to its start.
const BACK: f64 = 16.0;
const MARGIN: f64 = 16.0;

impl Layout {
    /// Computes the layout of a flow.
    pub fn new(graph: &FlowGraph) -> Self {
        let tree = Tree::new(graph);
        let mut boxes = vec![Rect::default(); graph.nodes.len()];
        // Inner nodes come after outer ones, so this order needs no recursion.
        for (index, node) in graph.nodes.iter().enumerate().rev() {
            boxes[index] = extent(node, &tree.children[index], &boxes);
        }
        let main = tree.tops.iter().map(|top| boxes[*top].width).fold(0.0, f64::max);
        let mut y = MARGIN;
        for top in &tree.tops {
            let rect = &mut boxes[*top];
            (rect.x, rect.y) = (MARGIN + (main - rect.width) / 2.0, y);
            y += rect.height + GAP;
        }
        // What is called stands at the left of its column, to keep the lines short.
        let aside = MARGIN + main + if tree.tops.is_empty() { 0.0 } else { ASIDE };
        let mut y = MARGIN;
        for called in &tree.called {
            let rect = &mut boxes[*called];
            (rect.x, rect.y) = (aside, y);
            y += rect.height + BLOCK_GAP;
        }
        for (index, node) in graph.nodes.iter().enumerate() {
            arrange(node, &tree.children[index], boxes[index], &mut boxes);
        }
        let right = boxes.iter().map(|rect| rect.x + rect.width).fold(0.0, f64::max);
        let bottom = boxes.iter().map(|rect| rect.y + rect.height).fold(0.0, f64::max);
        let lines = graph.edges.iter().map(|edge| Line { edge: *edge, path: path(*edge, graph, &boxes) });
        Self { lines: lines.collect(), width: right + MARGIN, height: bottom + MARGIN, boxes }
    }
}

/// The rows of the nodes in a node; consecutive nodes have a row each.
fn rows(kind: FlowKind, inner: &[usize]) -> std::slice::Chunks<'_, usize> {
    inner.chunks(if is_side_by_side(kind) { MAX_COLUMNS } else { 1 })
}

fn row_extent(row: &[usize], boxes: &[Rect]) -> (f64, f64) {
    let width: f64 = row.iter().map(|index| boxes[*index].width).sum();
    let height = row.iter().map(|index| boxes[*index].height).fold(0.0, f64::max);
    (width + COLUMN_GAP * (row.len() as f64 - 1.0), height)
}

fn extent(node: &FlowNode, inner: &[usize], boxes: &[Rect]) -> Rect {
    let own = width(&label(node), Style::Label) + 2.0 * PADDING + 18.0;
    if inner.is_empty() && !is_frame(node.kind) {
        let detail = node.detail.as_deref();
        let told = detail.map_or(0.0, |detail| width(detail, Style::Detail) + 2.0 * PADDING);
        let height = if detail.is_some() { LEAF_WITH_DETAIL } else { LEAF };
        return Rect { width: own.max(told).clamp(NARROWEST, WIDEST), height, ..Rect::default() };
    }
    let back = if node.kind == FlowKind::Loop { BACK } else { 0.0 };
    let extents = rows(node.kind, inner).map(|row| row_extent(row, boxes));
    let (widest, height) = extents.fold((0.0, 0.0), |(widest, height): (f64, f64), (width, high)| {
        (widest.max(width + 2.0 * PADDING + 2.0 * back), height + high + GAP)
    });
    let height = HEADER + if inner.is_empty() { 6.0 } else { height + PADDING };
    Rect { width: own.min(WIDEST_HEADER).max(widest), height, is_frame: true, ..Rect::default() }
}

/// Whether a node is drawn as a frame even if nothing is in it yet.
fn is_frame(kind: FlowKind) -> bool {
    is_side_by_side(kind)
        || matches!(
            kind,
            FlowKind::Block
                | FlowKind::Do
                | FlowKind::Chain
                | FlowKind::ParallelLoop
                | FlowKind::Loop
                | FlowKind::Pipeline
                | FlowKind::Way
        )
}

/// What is written on a node, after the sign of its kind.
pub(crate) fn label(node: &FlowNode) -> String {
    match &node.name {
        Some(name) => format!("{name} = {}", node.label),
        None => node.label.clone(),
    }
}

/// Places the nodes in a node.
fn arrange(node: &FlowNode, inner: &[usize], outer: Rect, boxes: &mut [Rect]) {
    let mut y = outer.y + HEADER + GAP;
    for row in rows(node.kind, inner) {
        let (width, height) = row_extent(row, boxes);
        let mut x = outer.x + (outer.width - width) / 2.0;
        for index in row {
            let rect = &mut boxes[*index];
            (rect.x, rect.y) = (x, y);
            x += rect.width + COLUMN_GAP;
        }
        y += height + GAP;
    }
}

fn path(edge: FlowEdge, graph: &FlowGraph, boxes: &[Rect]) -> String {
    let (a, b) = (boxes[edge.from], boxes[edge.to]);
    let middle = |rect: Rect| round(rect.x + rect.width / 2.0);
    match edge.kind {
        // The next one stands in the same row, such as a value in the header of a `parallel`.
        FlowEdgeKind::Next if b.y < a.y + a.height => {
            let y = round(a.y + a.height.min(b.height) / 2.0);
            format!("M{} {y}H{}", round(a.x + a.width), round(b.x))
        }
        FlowEdgeKind::Next if middle(a) == middle(b) => {
            format!("M{} {}V{}", middle(a), round(a.y + a.height), round(b.y))
        }
        FlowEdgeKind::Next => {
            let turn = round(b.y - GAP / 2.0);
            format!("M{} {}V{turn}H{}V{}", middle(a), round(a.y + a.height), middle(b), round(b.y))
        }
        FlowEdgeKind::Enter => {
            let (start, end, turn) = (round(a.y + HEADER), round(b.y), round(b.y - GAP / 2.0));
            if middle(a) == middle(b) {
                return format!("M{} {start}V{end}", middle(a));
            }
            // The line to a second row of branches runs on the left of the first row.
            let is_below = b.y > a.y + HEADER + GAP + 1.0 && is_side_by_side(graph.nodes[edge.from].kind);
            let aside = round(a.x + PADDING / 2.0);
            let first = match is_below {
                true => format!("V{}H{aside}", round(a.y + HEADER + GAP / 2.0)),
                false => String::new(),
            };
            format!("M{} {start}{first}V{turn}H{}V{end}", middle(a), middle(b))
        }
        FlowEdgeKind::Again => {
            let x = round(b.x + PADDING / 2.0);
            let (bottom, top) = (round(a.y + a.height), round(b.y + HEADER));
            format!("M{} {bottom}v7H{}q-6 0 -6 -6V{top}", middle(a), x + 6.0)
        }
        FlowEdgeKind::Call => {
            let (right, y1) = (a.x + a.width, a.y + a.height.min(HEADER) / 2.0);
            let (x2, y2) = (b.x, b.y + b.height.min(HEADER) / 2.0);
            let (y1, y2) = (round(y1), round(y2));
            // The line of a call to the same column runs around its left side.
            if x2 < right || is_within(graph, edge.from, edge.to) {
                let bend = round(x2.min(a.x) - 28.0);
                return format!("M{} {y1}C{bend} {y1} {bend} {y2} {} {y2}", round(a.x), round(x2));
            }
            let bend = ((x2 - right) / 2.0).max(24.0);
            let (first, second) = (round(right + bend), round(x2 - bend));
            format!("M{} {y1}C{first} {y1} {second} {y2} {} {y2}", round(right), round(x2))
        }
    }
}

/// To half a pixel.
pub(crate) fn round(pixels: f64) -> f64 {
    (pixels * 2.0).round() / 2.0
}

#[cfg(test)]
mod tests {
    use prose_syntax::TextRange;

    use super::*;
    use crate::testing::{EVERYTHING, flow};

    #[test]
    fn no_two_nodes_lie_on_one_another_unless_one_is_in_the_other() {
        let graph = flow(EVERYTHING);
        let Layout { boxes, width, height, lines } = Layout::new(&graph);
        assert_eq!(lines.len(), graph.edges.len());
        for (i, a) in boxes.iter().enumerate() {
            assert!(a.x >= 0.0 && a.y >= 0.0 && a.x + a.width <= width && a.y + a.height <= height);
            for (j, b) in boxes.iter().enumerate().skip(i + 1) {
                let is_apart = a.x + a.width <= b.x
                    || b.x + b.width <= a.x
                    || a.y + a.height <= b.y
                    || b.y + b.height <= a.y;
                let is_inside = b.x >= a.x
                    && b.y >= a.y
                    && b.x + b.width <= a.x + a.width
                    && b.y + b.height <= a.y + a.height;
                let labels = (&graph.nodes[i].label, &graph.nodes[j].label);
                assert!(if is_within(&graph, j, i) { is_inside } else { is_apart }, "{labels:?}");
            }
        }
    }

    #[test]
    fn statements_follow_below_and_branches_stand_side_by_side() {
        let graph = flow(
            "session \"first\"\nparallel:\n  a = session \"a\"\n  b = session \"b\"\nsession \"last\"\n",
        );
        let Layout { boxes, .. } = Layout::new(&graph);
        assert!(boxes[0].y < boxes[1].y && boxes[1].y < boxes[4].y);
        assert_eq!(boxes[2].y, boxes[3].y);
        assert!(boxes[2].x + boxes[2].width < boxes[3].x);
    }

    #[test]
    fn a_program_without_statements_has_an_empty_drawing() {
        let Layout { width, height, boxes, .. } = Layout::new(&FlowGraph::default());
        assert!(boxes.is_empty() && width > 0.0 && height > 0.0);
    }

    #[test]
    fn a_large_program_is_placed_in_a_moment() {
        let node = |index: usize| FlowNode {
            kind: if index.is_multiple_of(10) { FlowKind::Loop } else { FlowKind::Session },
            label: format!("session {index}"),
            detail: None,
            name: None,
            range: TextRange::empty(0.into()),
            parent: (!index.is_multiple_of(10)).then_some(index - index % 10),
        };
        let graph = FlowGraph { nodes: (0..50_000).map(node).collect(), edges: Vec::new() };
        let start = std::time::Instant::now();
        assert_eq!(Layout::new(&graph).boxes.len(), 50_000);
        assert!(start.elapsed().as_secs() < 5);
    }
}
