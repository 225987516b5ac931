// The layout of the flow of a program: statements in a column, parallel branches and alternatives side by side, inside the frames of
// their parents. Independent of the page, so that tests need no page.

/** A node of the flow: `prose/flowGraph`. */
export interface FlowNode {
  kind: string;
  label: string;
  detail: string | null;
  name: string | null;
  parent: number | null;
  range: { start: { line: number; character: number }; end: { line: number; character: number } };
  bytes: [number, number];
}

export interface FlowEdge {
  from: number;
  to: number;
  kind: "next" | "enter" | "again" | "call";
}

export interface FlowGraph {
  nodes: FlowNode[];
  edges: FlowEdge[];
}

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
  /** Whether it contains other nodes. */
  isFrame: boolean;
}

export interface Line {
  edge: FlowEdge;
  path: string;
}

export interface Placed {
  boxes: Box[];
  lines: Line[];
  width: number;
  height: number;
}

/** Measures the width of a text. */
export type Measure = (text: string, kind: "label" | "detail") => number;

const SIDE_BY_SIDE = new Set(["parallel", "if", "choice", "try"]);
const FRAMES = new Set(["block", "do", "chain", "parallel", "parallel-loop", "loop", "if", "choice", "try", "pipeline", "way"]);
/** The maximum number of columns in a row. */
const MAX_COLUMNS = 6;

export const HEADER = 26;
const LEAF = 28;
const LEAF_WITH_DETAIL = 44;
const NARROWEST = 96;
const WIDEST = 230;
const WIDEST_HEADER = 330;
const PADDING = 14;
/** The distance between consecutive nodes. */
const GAP = 22;
const COLUMN_GAP = 16;
/** The space on the left of a loop for the line back to its start. */
const BACK = 16;
const MARGIN = 16;

/** Computes the layout of the flow of a program. */
export function place({ nodes, edges }: FlowGraph, measure: Measure): Placed {
  const children: number[][] = nodes.map(() => []);
  const tops: number[] = [];
  const blocks: number[] = [];
  nodes.forEach(({ parent, kind }, index) => {
    if (parent !== null) children[parent]?.push(index);
    else (kind === "block" ? blocks : tops).push(index);
  });
  const boxes: Box[] = nodes.map(() => ({ x: 0, y: 0, width: 0, height: 0, isFrame: false }));
  // Inner nodes come after outer ones, so this order needs no recursion.
  for (let index = nodes.length - 1; index >= 0; index--) {
    extend(nodes[index] as FlowNode, children[index] as number[], boxes, boxes[index] as Box, measure);
  }
  const main = stack(tops, boxes);
  const blockTops = stack(blocks, boxes, 28);
  const origin = { x: MARGIN, y: MARGIN };
  for (const [list, extent, x] of [
    [tops, main, origin.x],
    [blocks, blockTops, origin.x + main.width + (tops.length > 0 ? 64 : 0)],
  ] as const) {
    let { y } = origin;
    for (const index of list) {
      const box = boxes[index] as Box;
      // Called blocks are on the left, to keep the lines short.
      box.x = list === blocks ? x : x + (extent.width - box.width) / 2;
      box.y = y;
      y += box.height + (list === blocks ? 28 : GAP);
    }
  }
  nodes.forEach((node, index) => arrange(node, children[index] as number[], boxes, boxes[index] as Box));
  const right = Math.max(0, ...boxes.map(({ x, width }) => x + width));
  const bottom = Math.max(0, ...boxes.map(({ y, height }) => y + height));
  return { boxes, lines: edges.map((edge) => ({ edge, path: path(edge, nodes, boxes) })), width: right + MARGIN, height: bottom + MARGIN };
}

function stack(list: readonly number[], boxes: readonly Box[], gap = GAP): { width: number; height: number } {
  const inner = list.map((index) => boxes[index] as Box);
  return {
    width: Math.max(0, ...inner.map(({ width }) => width)),
    height: inner.reduce((height, box) => height + box.height, 0) + gap * Math.max(0, inner.length - 1),
  };
}

/** The rows of nodes side by side; one column per row for consecutive nodes. */
function grid({ kind }: FlowNode, inner: readonly number[]): number[][] {
  if (!SIDE_BY_SIDE.has(kind)) return inner.map((index) => [index]);
  const found: number[][] = [];
  for (let start = 0; start < inner.length; start += MAX_COLUMNS) found.push(inner.slice(start, start + MAX_COLUMNS));
  return found;
}

function rowExtent(row: readonly number[], boxes: readonly Box[]): { width: number; height: number } {
  const inner = row.map((index) => boxes[index] as Box);
  return {
    width: inner.reduce((width, box) => width + box.width, 0) + COLUMN_GAP * (inner.length - 1),
    height: Math.max(0, ...inner.map(({ height }) => height)),
  };
}

function extend(node: FlowNode, inner: readonly number[], boxes: readonly Box[], box: Box, measure: Measure): void {
  const title = node.name === null ? node.label : `${node.name} = ${node.label}`;
  const own = measure(title, "label") + 2 * PADDING + 18;
  box.isFrame = inner.length > 0 || FRAMES.has(node.kind);
  if (!box.isFrame) {
    const told = node.detail === null ? 0 : measure(node.detail, "detail") + 2 * PADDING;
    box.width = Math.min(WIDEST, Math.max(NARROWEST, own, told));
    box.height = node.detail === null ? LEAF : LEAF_WITH_DETAIL;
    return;
  }
  const extents = grid(node, inner).map((row) => rowExtent(row, boxes));
  const back = node.kind === "loop" ? BACK : 0;
  box.width = Math.max(Math.min(own, WIDEST_HEADER), ...extents.map(({ width }) => width + 2 * PADDING + 2 * back));
  const height = extents.reduce((height, row) => height + row.height + GAP, 0);
  box.height = HEADER + (extents.length > 0 ? height + PADDING : 6);
}

function arrange(node: FlowNode, inner: readonly number[], boxes: readonly Box[], box: Box): void {
  let y = box.y + HEADER + GAP;
  for (const row of grid(node, inner)) {
    const extent = rowExtent(row, boxes);
    let x = box.x + (box.width - extent.width) / 2;
    for (const index of row) {
      const child = boxes[index] as Box;
      child.x = x;
      child.y = y;
      x += child.width + COLUMN_GAP;
    }
    y += extent.height + GAP;
  }
}

function path({ from, to, kind }: FlowEdge, nodes: readonly FlowNode[], boxes: readonly Box[]): string {
  const [a, b] = [boxes[from] as Box, boxes[to] as Box];
  const middle = (box: Box): number => box.x + box.width / 2;
  switch (kind) {
    case "next":
      return `M${round(middle(a))} ${round(a.y + a.height)}V${round(b.y)}`;
    case "enter": {
      const [start, end, turn] = [a.y + HEADER, b.y, b.y - GAP / 2];
      if (Math.abs(middle(a) - middle(b)) < 1) return `M${round(middle(a))} ${round(start)}V${round(end)}`;
      // The line to a second row of branches runs on the left of the first row.
      const isBelow = b.y > a.y + HEADER + GAP + 1 && SIDE_BY_SIDE.has(nodes[from]?.kind ?? "");
      const way = isBelow ? a.x + PADDING / 2 : middle(a);
      const first = isBelow ? `V${round(start + GAP / 2)}H${round(way)}` : "";
      return `M${round(middle(a))} ${round(start)}${first}V${round(turn)}H${round(middle(b))}V${round(end)}`;
    }
    case "again": {
      const x = b.x + PADDING / 2;
      const [bottom, top] = [a.y + a.height, b.y + HEADER];
      return `M${round(middle(a))} ${round(bottom)}v7H${round(x + 6)}q-6 0 -6 -6V${round(top)}`;
    }
    case "call": {
      const [x1, y1] = [a.x + a.width, a.y + Math.min(a.height, HEADER) / 2];
      const [x2, y2] = [b.x, b.y + HEADER / 2];
      // The line of a call to the same column runs around its left side.
      if (x2 < x1) return `M${round(a.x)} ${round(y1)}C${round(b.x - 28)} ${round(y1)} ${round(b.x - 28)} ${round(y2)} ${round(x2)} ${round(y2)}`;
      const bend = Math.max(24, (x2 - x1) / 2);
      return `M${round(x1)} ${round(y1)}C${round(x1 + bend)} ${round(y1)} ${round(x2 - bend)} ${round(y2)} ${round(x2)} ${round(y2)}`;
    }
  }
}

function round(pixels: number): number {
  return Math.round(pixels * 2) / 2;
}

export type Direction = "up" | "down" | "left" | "right";

/** The next node in the direction of an arrow key; the same node if there is none. */
export function neighbour({ boxes }: Placed, from: number, direction: Direction): number {
  const start = boxes[from];
  if (start === undefined) return from;
  const point = anchor(start);
  let [best, least] = [from, Infinity];
  boxes.forEach((box, index) => {
    if (index === from) return;
    const { x, y } = anchor(box);
    const [dx, dy] = [x - point.x, y - point.y];
    const along = { up: -dy, down: dy, left: -dx, right: dx }[direction];
    const across = Math.abs(direction === "up" || direction === "down" ? dx : dy);
    if (along <= 2 || across > 3 * along + 40) return;
    const distance = along + 2 * across;
    if (distance < least) [best, least] = [index, distance];
  });
  return best;
}

function anchor({ x, y, width, height, isFrame }: Box): { x: number; y: number } {
  return { x: x + width / 2, y: y + (isFrame ? HEADER : height) / 2 };
}

/** The innermost node around bytes of the program, if any. */
export function nodeAtBytes({ nodes }: FlowGraph, start: number, end: number): number {
  return innermost(nodes, ({ bytes: [from, to] }) => from <= start && end <= to);
}

/** The innermost node around a line of the program, from 0. */
export function nodeAtLine({ nodes }: FlowGraph, line: number): number {
  return innermost(nodes, ({ range: { start, end } }) => start.line <= line && line <= end.line);
}

function innermost(nodes: readonly FlowNode[], holds: (node: FlowNode) => boolean): number {
  let [best, least] = [-1, Infinity];
  nodes.forEach((node, index) => {
    const extent = node.bytes[1] - node.bytes[0];
    if (holds(node) && extent <= least) [best, least] = [index, extent];
  });
  return best;
}
