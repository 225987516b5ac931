// The rows of the timeline and its time axis. Independent of the page, so that tests need no page.

import type { Item, Run, Span, Status } from "../src/runs/run";

/** A row of the timeline. */
export interface Row {
  item: Item;
  depth: number;
  /** The prefix of the label: the branch or the iteration that contains only this session. */
  prefix: string;
  /** The outermost part of the row; for a branch with only one session, the branch. */
  outer: Item;
  hasChildren: boolean;
  isExpanded: boolean;
  /** Its number among its siblings, from 1, and their count, for screen readers. */
  position: number;
  siblings: number;
}

/** The rows of a run from top to bottom. The run itself is the heading and has none. */
export function rows(model: Run, collapsed: ReadonlySet<number>, isWanted?: (item: Item) => boolean): Row[] {
  const found: Row[] = [];
  const { items, root } = model;
  if (root === undefined) return found;
  const wanted = isWanted === undefined ? undefined : wantedItems(model, isWanted);
  const visit = (parent: Item, depth: number): void => {
    const children = wanted === undefined ? parent.children : parent.children.filter((child) => wanted.has(child));
    children.forEach((child, index) => {
      const outer = items[child] as Item;
      const item = onlySession(items, outer) ?? outer;
      const hasChildren = item.children.length > 0;
      const isExpanded = hasChildren && !collapsed.has(item.id);
      found.push({
        item,
        outer,
        depth,
        prefix: item === outer ? "" : outer.label,
        hasChildren,
        isExpanded,
        position: index + 1,
        siblings: children.length,
      });
      if (isExpanded) visit(item, depth + 1);
    });
  };
  visit(root, 0);
  return found;
}

/** The only session of a branch or an iteration. */
function onlySession(items: readonly Item[], { kind, children }: Item): Item | undefined {
  if ((kind !== "branch" && kind !== "iteration") || children.length !== 1) return undefined;
  const only = items[children[0] as number];
  return only?.kind === "session" ? only : undefined;
}

/** The matching parts, and all their ancestors. */
function wantedItems({ items }: Run, isWanted: (item: Item) => boolean): Set<number> {
  const wanted = new Set<number>();
  for (const item of items) {
    if (!isWanted(item)) continue;
    for (let at: Item | undefined = item; at !== undefined && !wanted.has(at.id); at = items[at.parent ?? -1]) wanted.add(at.id);
  }
  return wanted;
}

/** The row of a part, or of its innermost ancestor that has a row. */
export function rowOf(list: readonly Row[], model: Run, id: number): number {
  for (let at = model.items[id]; at !== undefined; at = model.items[at.parent ?? -1]) {
    const { id: wanted } = at;
    const index = list.findIndex((row) => row.item.id === wanted || row.outer.id === wanted);
    if (index >= 0) return index;
  }
  return -1;
}

/** A part of a bar. */
export interface Bar {
  kind: "work" | "queued" | "pause" | "frame" | "wait";
  status: Status;
  from: number;
  to: number;
}

/** The bars of a part: for a session, its attempts and waits; otherwise its duration. */
export function bars(item: Item, now: number): Bar[] {
  if (item.kind === "input") {
    return [{ kind: "wait", status: item.status, from: item.from, to: item.to ?? now }];
  }
  if (item.kind !== "session") {
    const kind = item.kind === "condition" || item.kind === "choice" ? "work" : "frame";
    return [{ kind, status: item.status, from: item.from, to: item.to ?? now }];
  }
  const found: Bar[] = item.pauses.map(({ from, to }) => ({ kind: "pause", status: "waiting", from, to: to ?? now }));
  for (const attempt of item.attempts) {
    const to = attempt.to ?? now;
    const began = attempt.queued ? to : (attempt.began ?? attempt.from);
    if (began > attempt.from) found.push({ kind: "queued", status: "waiting", from: attempt.from, to: began });
    if (to >= began && !attempt.queued) found.push({ kind: "work", status: attempt.status, from: began, to });
  }
  return found;
}

/** The merged working times of the sessions in a part, drawn if its rows are hidden. */
export function activity(model: Run, item: Item, now: number, most = 2000): Span[] {
  const spans: { from: number; to: number }[] = [];
  const waiting = [item.id];
  while (waiting.length > 0 && spans.length < most) {
    const next = model.items[waiting.pop() as number] as Item;
    for (const { kind, from, to } of next.kind === "session" ? bars(next, now) : []) {
      if (kind === "work") spans.push({ from, to });
    }
    waiting.push(...next.children);
  }
  spans.sort((a, b) => a.from - b.from);
  const merged: { from: number; to: number }[] = [];
  for (const span of spans) {
    const last = merged.at(-1);
    if (last !== undefined && span.from <= last.to) last.to = Math.max(last.to, span.to);
    else merged.push({ ...span });
  }
  return merged;
}

/** The number of parallel sessions, for a number of periods of a window. */
export function load(model: Run, window: TimeWindow, stretches: number, now: number): { working: number[]; failures: number[] } {
  const working = new Array<number>(stretches + 1).fill(0);
  const failures = new Array<number>(stretches).fill(0);
  const stretch = (at: number): number =>
    Math.min(stretches - 1, Math.max(0, Math.floor(((at - window.from) / (window.to - window.from)) * stretches)));
  for (const { kind, attempts } of model.items) {
    if (kind !== "session") continue;
    for (const attempt of attempts) {
      const [from, to] = [attempt.began ?? attempt.from, attempt.to ?? now];
      if (attempt.queued || to < window.from || from > window.to) continue;
      const [first, last] = [stretch(from), stretch(to)];
      working[first] = (working[first] as number) + 1;
      // A session that starts when another ends is not parallel to it.
      const end = Math.max(first + 1, last);
      working[end] = (working[end] as number) - 1;
      if (attempt.status === "failed") failures[last] = (failures[last] as number) + 1;
    }
  }
  for (let index = 1; index < stretches; index++) working[index] = (working[index] as number) + (working[index - 1] as number);
  working.length = stretches;
  return { working, failures };
}

/** The visible period of time. */
export interface TimeWindow {
  from: number;
  to: number;
}

const STEPS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000, 900_000,
  1_800_000, 3_600_000, 7_200_000, 14_400_000, 43_200_000, 86_400_000,
];

/** The marks on the time axis: at round times after the start of the run, with a minimum distance in pixels. */
export function ticks(window: TimeWindow, start: number, width: number, apart = 90): { at: number; label: string }[] {
  const span = Math.max(1, window.to - window.from);
  const step = STEPS.find((step) => (step / span) * width >= apart) ?? (STEPS.at(-1) as number);
  const found = [];
  const first = Math.ceil((window.from - start) / step) * step;
  for (let at = Math.max(0, first); start + at <= window.to; at += step) found.push({ at: start + at, label: clock(at) });
  return found;
}

/** `0 s`, `250 ms`, `1.5 s`, `2:05`, `1:02:05` */
export function clock(milliseconds: number): string {
  if (milliseconds === 0) return "0";
  if (milliseconds < 1000) return `${milliseconds} ms`;
  const seconds = milliseconds / 1000;
  if (seconds < 60) return `${Number(seconds.toFixed(2))} s`;
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const rest = String(Math.round(seconds % 60)).padStart(2, "0");
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, "0")}:${rest}` : `${minutes}:${rest}`;
}

/** Zooms the window around a fixed time, within the limits of the run. */
export function zoomed(window: TimeWindow, factor: number, around: number, all: TimeWindow): TimeWindow {
  const extent = Math.min(Math.max((window.to - window.from) * factor, 20), all.to - all.from);
  const share = (around - window.from) / Math.max(1, window.to - window.from);
  return inside({ from: around - extent * share, to: around + extent * (1 - share) }, all);
}

/** Moves the window, within the limits of the run. */
export function moved(window: TimeWindow, by: number, all: TimeWindow): TimeWindow {
  return inside({ from: window.from + by, to: window.to + by }, all);
}

function inside({ from, to }: TimeWindow, all: TimeWindow): TimeWindow {
  const extent = Math.min(to - from, all.to - all.from);
  const start = Math.min(Math.max(from, all.from), all.to - extent);
  return { from: start, to: start + extent };
}
