// The flow of the program, with the progress of the run.

import { durationText, type Run, siteKey, type StatementState } from "../src/runs/run";
import { element, setText, svg } from "./dom";
import { type Direction, type FlowGraph, type FlowNode, HEADER, neighbour, NO_FLOW, nodeAtBytes, nodeAtLine } from "./layout";

/** The callbacks of the graph. */
export interface GraphEvents {
  select(node: FlowNode): void;
  reveal(node: FlowNode, keepsFocus: boolean): void;
}

interface Shape {
  group: SVGGElement;
  badge: SVGGElement;
  badgeText: SVGTextElement;
  state: string;
  badgeShown: string;
}

type NodeStatus = "idle" | "running" | "complete" | "failed";

const DIRECTIONS: Record<string, Direction> = { ArrowUp: "up", ArrowDown: "down", ArrowLeft: "left", ArrowRight: "right" };
const WORDS: Record<NodeStatus, string> = { idle: "not reached", running: "running", complete: "done", failed: "failed" };

export class Graph {
  readonly element: HTMLElement;
  private readonly scroller = element("div", "graph-scroll");
  private readonly empty: HTMLElement;
  private picture: SVGSVGElement | undefined;
  private graph: FlowGraph = NO_FLOW;
  private shapes: Shape[] = [];
  private model: Run | undefined;
  private drawn = -1;
  private active = -1;
  private atCursor = -1;
  private scale = 1;
  private follows = "";

  /** `empty` is shown without statements. */
  constructor(
    private readonly events: GraphEvents,
    empty = "The program of this run cannot be shown.",
  ) {
    this.empty = element("p", "empty", empty);
    this.element = element("section", "graph", this.scroller, this.empty);
    this.element.setAttribute("aria-label", "Flow of the program");
    this.scroller.addEventListener(
      "wheel",
      (event) => {
        if (!event.ctrlKey && !event.metaKey) return;
        this.zoom(event.deltaY > 0 ? 0.9 : 1.1);
        event.preventDefault();
      },
      { passive: false },
    );
  }

  /** Shows a flow. An edited one keeps the zoom and the place that is looked at. */
  show(model: Run, graph: FlowGraph | null, isEdited = false): void {
    const { scrollTop, scrollLeft } = this.scroller;
    const hadPicture = this.picture !== undefined;
    this.model = model;
    this.graph = graph ?? NO_FLOW;
    this.drawn = -1;
    this.active = -1;
    this.atCursor = -1;
    this.follows = "";
    this.build();
    if (!isEdited || !hadPicture) return this.fit();
    this.resize();
    this.scroller.scrollTo(scrollLeft, scrollTop);
  }

  zoom(factor: number): void {
    this.scale = Math.min(2, Math.max(0.4, this.scale * factor));
    this.resize();
  }

  fit(): void {
    const room = this.scroller.clientWidth / Math.max(1, this.graph.width);
    this.scale = Math.min(1, Math.max(0.5, room));
    this.resize();
  }

  private resize(): void {
    this.picture?.setAttribute("width", String(this.graph.width * this.scale));
    this.picture?.setAttribute("height", String(this.graph.height * this.scale));
  }

  /** The node at a place of the program. */
  nodeAt(start: number, end: number): FlowNode | undefined {
    return this.graph.nodes[nodeAtBytes(this.graph, start, end)];
  }

  /** Marks a node from outside. */
  select(node: FlowNode | undefined): void {
    this.activate(node === undefined ? -1 : this.graph.nodes.indexOf(node), false);
  }

  /** Marks the statement in a line, from 1. */
  setCursor(line: number | null): void {
    this.shapes[this.atCursor]?.group.classList.remove("at-cursor");
    this.atCursor = line === null ? -1 : nodeAtLine(this.graph, line - 1);
    this.shapes[this.atCursor]?.group.classList.add("at-cursor");
    this.scrollTo(this.atCursor);
  }

  private activate(index: number, focuses: boolean): void {
    const before = this.shapes[this.active]?.group;
    before?.classList.remove("active");
    before?.setAttribute("aria-selected", "false");
    this.active = index;
    const shape = this.shapes[index]?.group;
    if (shape === undefined) return;
    for (const { group } of this.shapes) group.setAttribute("tabindex", "-1");
    shape.classList.add("active");
    shape.setAttribute("aria-selected", "true");
    shape.setAttribute("tabindex", "0");
    if (focuses) shape.focus({ preventScroll: true });
    this.scrollTo(index);
  }

  private scrollTo(index: number): void {
    const box = this.graph.nodes[index]?.box;
    if (box === undefined) return;
    const { scrollTop, scrollLeft, clientHeight, clientWidth } = this.scroller;
    const [x, y] = [box.x * this.scale, box.y * this.scale];
    const height = (box.isFrame ? HEADER : box.height) * this.scale;
    if (y < scrollTop || y + height > scrollTop + clientHeight) this.scroller.scrollTop = y - clientHeight / 3;
    if (x < scrollLeft || x + box.width * this.scale > scrollLeft + clientWidth) this.scroller.scrollLeft = x - 24;
  }

  /** Shows the progress of the run. */
  draw(now: number, follows: boolean): void {
    const { model } = this;
    if (model === undefined || this.drawn === model.version) return;
    this.drawn = model.version;
    const states = this.graph.nodes.map(({ bytes: [start, end] }) => model.statements.get(siteKey({ start, end })));
    const statuses: NodeStatus[] = states.map(statusOf);
    // A node without a statement, such as an alternative of an `if`, has the status of its content.
    for (let index = this.graph.nodes.length - 1; index >= 0; index--) {
      const parent = this.graph.nodes[index]?.parent ?? -1;
      if (parent >= 0 && states[parent] === undefined) {
        statuses[parent] = stronger(statuses[parent] as NodeStatus, statuses[index] as NodeStatus);
      }
    }
    let running = -1;
    this.shapes.forEach((shape, index) => {
      const status = statuses[index] as NodeStatus;
      if (status === "running") running = index;
      if (shape.state !== status) {
        shape.group.classList.remove(`is-${shape.state}`);
        shape.group.classList.add(`is-${status}`);
        shape.state = status;
      }
      const badge = badgeOf(states[index]);
      if (shape.badgeShown !== badge) {
        shape.badgeShown = badge;
        setText(shape.badgeText, badge);
        shape.badge.style.display = badge === "" ? "none" : "";
        this.sizeBadge(shape, index);
      }
      if (states[index] !== undefined) shape.group.setAttribute("aria-label", labelOf(this.graph.nodes[index] as FlowNode, status, states[index], now));
    });
    const key = `${running}`;
    if (follows && running >= 0 && key !== this.follows) this.scrollTo(running);
    this.follows = key;
  }

  private sizeBadge(shape: Shape, index: number): void {
    const width = 10 + shape.badgeShown.length * 6.2;
    const box = this.graph.nodes[index]?.box;
    if (box === undefined) return;
    shape.badge.setAttribute("transform", `translate(${box.width - width - 6}, -8)`);
    shape.badge.firstElementChild?.setAttribute("width", String(width));
    shape.badgeText.setAttribute("x", String(width / 2));
  }

  private build(): void {
    this.empty.hidden = this.graph.nodes.length > 0;
    const measure = measured(this.element);
    const { width, height } = this.graph;
    const lines = svg("g", { class: "lines", "aria-hidden": "true" });
    for (const { kind, path } of this.graph.edges) {
      lines.append(svg("path", { d: path, class: `line ${kind}`, "marker-end": "url(#arrow)" }));
    }
    const nodes = svg("g", { role: "none" });
    this.shapes = this.graph.nodes.map((node, index) => {
      const shape = this.shape(node, index, measure);
      nodes.append(shape.group);
      return shape;
    });
    this.shapes[0]?.group.setAttribute("tabindex", "0");
    const arrow = svg("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto-start-reverse" }, svg("path", { d: "M0 .8L7 4L0 7.2z" }));
    const picture = svg("svg", { role: "tree", "aria-label": "Statements", viewBox: `0 0 ${Math.max(1, width)} ${Math.max(1, height)}` }, svg("defs", {}, arrow));
    // Frames are drawn first, so that lines lie on them and below the statements.
    const frames = svg("g");
    this.shapes.forEach(({ group }, index) => {
      if (this.graph.nodes[index]?.box.isFrame) frames.append(group);
    });
    picture.append(frames, lines, nodes);
    frames.setAttribute("role", "none");
    nodes.addEventListener("keydown", (event) => this.key(event));
    frames.addEventListener("keydown", (event) => this.key(event));
    this.picture = picture;
    this.scroller.replaceChildren(picture);
  }

  private shape(node: FlowNode, index: number, measure: Measure): Shape {
    const { box } = node;
    const title = node.name === null ? node.label : `${node.name} = ${node.label}`;
    const text = svg("text", { x: 28, y: box.isFrame ? HEADER / 2 + 1 : node.detail === null ? box.height / 2 : 15, class: "title" });
    text.textContent = fitted(title, box.width - 36, (text) => measure(text, "label"));
    const badgeText = svg("text", { y: 8 });
    const badge = svg("g", { class: "badge" }, svg("rect", { height: 16, rx: 8 }), badgeText);
    badge.style.display = "none";
    const group = svg(
      "g",
      {
        class: `node kind-${node.kind} is-idle${box.isFrame ? " frame" : ""}`,
        transform: `translate(${box.x}, ${box.y})`,
        tabindex: -1,
        role: "treeitem",
        "aria-selected": "false",
        "aria-label": labelOf(node, "idle", undefined, 0),
      },
      svg("rect", { class: "box", width: box.width, height: box.height, rx: box.isFrame ? 8 : 5 }),
      svg("path", { class: "sign", d: node.sign, transform: `translate(10, ${(box.isFrame ? HEADER / 2 + 1 : node.detail === null ? box.height / 2 : 15) - 6})` }),
      text,
    );
    if (!box.isFrame && node.detail !== null) {
      const detail = svg("text", { x: 12, y: 31, class: "told" });
      detail.textContent = fitted(node.detail, box.width - 22, (text) => measure(text, "detail"));
      group.append(detail);
    }
    const tip = svg("title");
    tip.textContent = node.detail === null ? title : `${title}\n${node.detail}`;
    group.append(tip, badge);
    group.addEventListener("click", (event) => {
      event.stopPropagation();
      this.activate(index, true);
      this.events.select(node);
      this.events.reveal(node, true);
    });
    group.addEventListener("focus", () => {
      if (this.active !== index) this.activate(index, false);
    });
    return { group, badge, badgeText, state: "idle", badgeShown: "" };
  }

  private key(event: KeyboardEvent): void {
    const node = this.graph.nodes[this.active];
    const direction = DIRECTIONS[event.key];
    if (direction !== undefined) {
      const next = neighbour(this.graph, Math.max(0, this.active), direction);
      this.activate(next, true);
      const chosen = this.graph.nodes[next];
      if (chosen !== undefined) this.events.select(chosen);
    } else if (event.key === "Home" || event.key === "End") {
      this.activate(event.key === "Home" ? 0 : this.graph.nodes.length - 1, true);
    } else if (event.key === "Enter" || event.key === " ") {
      if (node !== undefined) this.events.reveal(node, false);
    } else if (event.key === "+" || event.key === "=") this.zoom(1.15);
    else if (event.key === "-") this.zoom(1 / 1.15);
    else if (event.key === "0") this.fit();
    else return;
    event.preventDefault();
  }
}

function statusOf(state: StatementState | undefined): NodeStatus {
  if (state === undefined) return "idle";
  if (state.running > 0) return "running";
  if (state.failed > 0) return "failed";
  return state.complete > 0 ? "complete" : "idle";
}

const STRENGTH: NodeStatus[] = ["idle", "complete", "failed", "running"];

function stronger(one: NodeStatus, other: NodeStatus): NodeStatus {
  return STRENGTH.indexOf(one) >= STRENGTH.indexOf(other) ? one : other;
}

function badgeOf(state: StatementState | undefined): string {
  if (state === undefined || state.times < 2) return "";
  if (state.running > 0) return `${state.times - state.running}/${state.times}`;
  const unfinished = unfinishedOf(state);
  return [`×${state.times}`, state.failed > 0 && `✗${state.failed}`, unfinished > 0 && `–${unfinished}`].filter(Boolean).join(" ");
}

/** How often a statement was neither completed nor failed, such as in a branch that was cancelled. */
function unfinishedOf({ times, running, failed, complete }: StatementState): number {
  return Math.max(0, times - running - failed - complete);
}

function labelOf(node: FlowNode, status: NodeStatus, state: StatementState | undefined, now: number): string {
  const name = node.name === null ? "" : `${node.name} = `;
  const parts = [`${node.kind} ${name}${node.label}`, node.detail, WORDS[status]];
  if (state !== undefined && state.times > 1) {
    const unfinished = unfinishedOf(state);
    parts.push(`${state.times} times`, state.failed > 0 ? `${state.failed} failed` : "", unfinished > 0 ? `${unfinished} not finished` : "");
  }
  if (state !== undefined && state.running === 0 && state.took > 0) parts.push(durationText(state.took));
  else if (state !== undefined && state.running > 0) parts.push(`for ${durationText(Math.max(0, now - state.started))}`);
  return `${parts.filter(Boolean).join(", ")}, line ${node.range.start.line + 1}`;
}

/** Measures the width of a text. */
type Measure = (text: string, kind: "label" | "detail") => number;

/** A text, truncated to a width. */
function fitted(text: string, width: number, measure: (text: string) => number): string {
  if (measure(text) <= width) return text;
  let length = Math.max(1, Math.floor((text.length * width) / measure(text)));
  while (length > 1 && measure(`${text.slice(0, length)}…`) > width) length--;
  return `${text.slice(0, length).trimEnd()}…`;
}

function measured(around: HTMLElement): Measure {
  const context = element("canvas").getContext("2d");
  const family = getComputedStyle(around).fontFamily || "sans-serif";
  return (text, kind) => {
    if (context === null) return text.length * 7;
    context.font = kind === "label" ? `600 12px ${family}` : `11px ${family}`;
    return context.measureText(text).width;
  };
}
