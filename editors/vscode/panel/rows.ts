// The rows of the timeline and its time axis. Independent of the page, so that tests need no page.

import { duration, type Item, type Run, type Span, type Status } from "../src/runs/run";

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

/** What is shown of a run. */
export interface Shown {
  /** The parts whose children are hidden. */
  collapsed: ReadonlySet<number>;
  /** The groups whose iterations are shown. */
  expanded: ReadonlySet<number>;
  /** Only the matching parts, with their ancestors; then neither collapsed parts nor groups hide any. */
  isWanted?: ((item: Item) => boolean) | undefined;
}

/** The rows of a run from top to bottom. The run itself is the heading and has none. */
export class RowList {
  readonly rows: Row[] = [];
  /** The row of each part that has one, or is in a group without open rows. */
  private readonly indices = new Map<number, number>();

  constructor(
    private readonly model: Run | undefined,
    { collapsed, expanded, isWanted }: Shown = { collapsed: new Set(), expanded: new Set() },
  ) {
    const root = model?.root;
    if (model === undefined || root === undefined) return;
    const { items } = model;
    const wanted = isWanted === undefined ? undefined : wantedItems(model, isWanted);
    const add = (row: Row): void => {
      for (const { id } of [row.item, row.outer]) this.indices.set(id, this.rows.length);
      this.rows.push(row);
    };
    const visit = (children: readonly number[], depth: number): void => {
      children.forEach((child, index) => {
        const outer = items[child] as Item;
        const item = onlySession(items, outer) ?? outer;
        const hasChildren = item.children.length > 0;
        const isExpanded = hasChildren && (wanted !== undefined || !collapsed.has(item.id));
        const prefix = item === outer ? "" : outer.label;
        add({ item, outer, depth, prefix, hasChildren, isExpanded, position: index + 1, siblings: children.length });
        if (isExpanded) visitChildren(item, depth + 1);
      });
    };
    const visitChildren = (parent: Item, depth: number): void => {
      if (wanted !== undefined) return visit(parent.children.filter((child) => wanted.has(child)), depth);
      const size = groupSize(parent.children.length);
      if (size === undefined) return visit(parent.children, depth);
      const groups = Math.ceil(parent.children.length / size);
      for (let index = 0; index < groups; index++) {
        const item = group(model, parent, index, size);
        const isExpanded = expanded.has(item.id);
        const at = this.rows.length;
        add({ item, outer: item, depth, prefix: "", hasChildren: true, isExpanded, position: index + 1, siblings: groups });
        if (isExpanded) visit(item.children, depth + 1);
        else for (const child of item.children) this.indices.set(child, at);
      }
    };
    visitChildren(root, 0);
  }

  /** The index of the row of a part, or of its innermost ancestor that has a row; -1 without one. */
  indexOf(id: number): number {
    const group = this.indices.get(id);
    if (group !== undefined) return group;
    for (let at = this.model?.items[id]; at !== undefined; at = this.model?.items[at.parent ?? -1]) {
      const index = this.indices.get(at.id);
      if (index !== undefined) return index;
    }
    return -1;
  }
}

/** How many parts are shown under each other without groups. */
const MAX_UNGROUPED = 50;

/** The number of parts in each group of the children of a part; undefined if they need no groups. */
export function groupSize(count: number): number | undefined {
  if (count <= MAX_UNGROUPED) return undefined;
  let size = 10;
  while (count / size > MAX_UNGROUPED) size *= 10;
  return size;
}

/** The ids of groups are negative, so that they are never those of parts. */
const MAX_GROUPS = 1 << 12;

/** The id of the group of a part, if its parent has groups. */
export function groupOf({ items }: Run, { id, parent }: Item): number | undefined {
  const siblings = items[parent ?? -1]?.children ?? [];
  const size = groupSize(siblings.length);
  // Children are in the order of their ids.
  return size === undefined ? undefined : groupId(parent ?? 0, Math.floor(indexIn(siblings, id) / size));
}

function groupId(parent: number, index: number): number {
  return -1 - (parent * MAX_GROUPS + index);
}

function indexIn(sorted: readonly number[], wanted: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] as number) < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A group of the children of a part, as a part. */
function group({ items }: Run, parent: Item, index: number, size: number): Item {
  const first = index * size;
  const children = parent.children.slice(first, first + size);
  const label = `${first + 1}–${first + children.length}`;
  const made = { ...parent, id: groupId(parent.id, index), kind: "group" as const, label, detail: "", children, attempts: [], pauses: [] };
  made.depth = parent.depth + 1;
  delete made.note;
  delete made.error;
  // What is in it changes without another list of rows.
  const parts = (): Item[] => children.map((child) => items[child] as Item);
  const total = (count: (sessions: Item["sessions"]) => number): number => parts().reduce((sum, { sessions }) => sum + count(sessions), 0);
  Object.defineProperties(made, {
    from: { get: () => Math.min(...parts().map(({ from }) => from)) },
    to: { get: () => (parts().some(({ to }) => to === undefined) ? undefined : Math.max(...parts().map(({ to }) => to ?? 0))) },
    status: { get: () => strongest(parts()) },
    usage: { get: () => undefined },
    sessions: {
      get: () => ({
        total: total(({ total }) => total),
        running: total(({ running }) => running),
        waiting: total(({ waiting }) => waiting),
        complete: total(({ complete }) => complete),
        failed: total(({ failed }) => failed),
      }),
    },
  });
  return made;
}

const STRENGTHS: Status[] = ["running", "waiting", "failed", "interrupted", "skipped", "complete"];

function strongest(items: readonly Item[]): Status {
  return STRENGTHS.find((status) => items.some((item) => item.status === status)) ?? "complete";
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

/** Whether one of the texts of a part contains a text, which is in lower case. */
export function contains({ label, detail, agent, model, note, error, activity }: Item, text: string): boolean {
  return [label, detail, agent, model, note, error, activity?.text].some((found) => found?.toLowerCase().includes(text));
}

/** The parts whose children are hidden if only so many levels are shown. */
export function collapsedBelow({ items }: Run, levels: number): Set<number> {
  const below = items.filter(({ kind, depth, children }) => kind !== "run" && depth >= levels && children.length > 0);
  return new Set(below.map(({ id }) => id));
}

/** An order of sessions to look at. */
export type Ranking = "slowest" | "failed" | "dearest";

/** The sessions of a run in an order; failed ones from the first to the last. */
export function ranked(model: Run, ranking: Ranking, now: number): Item[] {
  const sessions = model.items.filter(({ kind }) => kind === "session");
  switch (ranking) {
    case "slowest":
      return sortedBy(sessions, (item) => duration(item, now));
    case "failed":
      return sessions.filter(({ status }) => status === "failed");
    case "dearest":
      return sortedBy(sessions, ({ usage }) => usage?.cost ?? 0).filter(({ usage }) => (usage?.cost ?? 0) > 0);
  }
}

function sortedBy(items: Item[], value: (item: Item) => number): Item[] {
  return items
    .map((item) => ({ item, value: value(item) }))
    .sort((a, b) => b.value - a.value)
    .map(({ item }) => item);
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
    if (to >= began && !attempt.queued) found.push(...worked(item.waits ?? [], { from: began, to }, attempt.status, now));
  }
  return found;
}

/** The bars of an attempt that works, and waits for people in between. */
function worked(waits: readonly Span[], { from, to }: TimeWindow, status: Status, now: number): Bar[] {
  const found: Bar[] = [];
  let at = from;
  for (const wait of waits) {
    const [start, end] = [wait.from, wait.to ?? now];
    if (start < from || start > to) continue;
    if (start > at) found.push({ kind: "work", status, from: at, to: start });
    found.push({ kind: "wait", status: "waiting", from: start, to: end });
    at = end;
  }
  if (to > at || found.length === 0) found.push({ kind: "work", status, from: at, to });
  return found;
}

/** The merged working times of the sessions in a part, drawn if its rows are hidden. */
export function activity(model: Run, item: Item, now: number, most = 2000): Span[] {
  const spans: { from: number; to: number }[] = [];
  // A group has no number in the run.
  const waiting = [item];
  while (waiting.length > 0 && spans.length < most) {
    const next = waiting.pop() as Item;
    for (const { kind, from, to } of next.kind === "session" ? bars(next, now) : []) {
      if (kind === "work") spans.push({ from, to });
    }
    for (const child of next.children) waiting.push(model.items[child] as Item);
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

/** The maximum number of sessions that work at the same time in a window, however wide it is drawn. */
export function peak({ items }: Run, { from: start, to: end }: TimeWindow, now: number): number {
  const changes: { at: number; by: number }[] = [];
  for (const { kind, attempts } of items) {
    if (kind !== "session") continue;
    for (const attempt of attempts) {
      const [from, to] = [attempt.began ?? attempt.from, attempt.to ?? now];
      if (attempt.queued || to < start || from > end) continue;
      changes.push({ at: from, by: 1 }, { at: Math.max(to, from + 0.5), by: -1 });
    }
  }
  // A session that starts when another ends is not parallel to it.
  changes.sort((a, b) => a.at - b.at || a.by - b.by);
  let [working, most] = [0, 0];
  for (const { by } of changes) {
    working += by;
    most = Math.max(most, working);
  }
  return most;
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
