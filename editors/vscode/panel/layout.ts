// The flow of a program as the server sends it, with its layout, and what the keyboard and the cursor lead to in it. Independent of the page, so that
// tests need no page.

/** A node of the flow: `prose/flowGraph`. */
export interface FlowNode {
  kind: string;
  label: string;
  detail: string | null;
  name: string | null;
  parent: number | null;
  range: { start: { line: number; character: number }; end: { line: number; character: number } };
  bytes: [number, number];
  /** Where it is drawn. */
  box: Box;
  /** The path of the sign of its kind, of 12 by 12 pixels. */
  sign: string;
}

export interface FlowEdge {
  from: number;
  to: number;
  kind: "next" | "enter" | "again" | "call";
  /** The path of its line. */
  path: string;
}

export interface FlowGraph {
  nodes: FlowNode[];
  edges: FlowEdge[];
  width: number;
  height: number;
}

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
  /** Whether it contains other nodes. */
  isFrame: boolean;
}

export const NO_FLOW: FlowGraph = { nodes: [], edges: [], width: 0, height: 0 };

/** The height of the label of a frame. */
export const HEADER = 26;

export type Direction = "up" | "down" | "left" | "right";

/** The next node in the direction of an arrow key; the same node if there is none. */
export function neighbour({ nodes }: FlowGraph, from: number, direction: Direction): number {
  const start = nodes[from];
  if (start === undefined) return from;
  const point = anchor(start.box);
  let [best, least] = [from, Infinity];
  nodes.forEach(({ box }, index) => {
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
