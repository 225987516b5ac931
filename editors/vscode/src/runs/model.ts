// What a run looks like, made from its events: the same for one that goes on and for one of last week. Nothing here knows the editor.

import type { RunEvent, Site, Usage } from "./events";

export type Status = "waiting" | "running" | "complete" | "failed" | "skipped" | "interrupted";

export type ItemKind =
  | "run"
  | "session"
  | "parallel"
  | "branch"
  | "loop"
  | "iteration"
  | "block"
  | "program"
  | "pipeline"
  | "stage"
  | "try"
  | "part"
  | "condition"
  | "choice"
  | "input";

/** A stretch of time; without an end it goes on. */
export interface Span {
  from: number;
  to?: number;
}

/** One try of a session. */
export interface Attempt extends Span {
  request: number;
  /** When an agent began with it, where it waited for one. */
  began?: number;
  /** Whether it waits for one now. */
  queued?: boolean;
  status: Status;
  error?: string;
}

/** A part of a run, in the tree of its parts. */
export interface Item {
  /** Its index in {@link RunModel.items}; greater than that of the part that it is in. */
  id: number;
  kind: ItemKind;
  parent: number;
  children: number[];
  depth: number;
  label: string;
  detail: string;
  place: string;
  site?: Site;
  status: Status;
  from: number;
  to?: number;
  /** What came of it, in a few words. */
  note?: string;
  error?: string;
  agent?: string;
  model?: string;
  /** The attempts of a session. */
  attempts: Attempt[];
  /** The pauses between them. */
  pauses: Span[];
  usage?: Usage;
  /** How many sessions are in it, and how they stand. */
  sessions: { total: number; running: number; waiting: number; complete: number; failed: number };
}

/** How a statement of the program has gone so far, over all its executions. */
export interface StatementState {
  site: Site;
  times: number;
  running: number;
  failed: number;
  complete: number;
  /** How long it took, over all times that have ended. */
  took: number;
  /** When those that go on were started, for how long they have taken. */
  last: number;
}

const NO_PARENT = -1;

/** A run. */
export class RunModel {
  items: Item[] = [];
  /** By the bytes that they take in the program: `start-end`. Only those of the program itself, not of imported ones. */
  statements = new Map<string, StatementState>();
  warnings: string[] = [];
  inputs: [string, unknown][] = [];
  harness = "";
  /** The number of the last event. */
  seq = 0;
  /** Grows whenever something has changed. */
  version = 0;
  /** The time of the last event. */
  last = 0;

  // The parts that others are in, by the places that theirs start with.
  private containers = new Map<string, Item>();
  private byRequest = new Map<number, { item: Item; attempt: Attempt }>();
  private asked = new Map<string, Item>();
  private frames = new Map<number, Item>();
  private programs = new Map<number, Item>();
  private open = new Map<string, { site: Site; at: number }>();

  get root(): Item | undefined {
    return this.items[0];
  }

  get isOver(): boolean {
    return this.root?.to !== undefined;
  }

  /** Takes in what happened next. What is known already, because a run is told from its beginning again, changes nothing twice. */
  apply(events: readonly RunEvent[]): void {
    for (const event of events) this.take(event);
    if (events.length > 0) this.version++;
  }

  private take(event: RunEvent): void {
    if (event.event === "run-started") this.reset();
    this.seq = Math.max(this.seq, event.seq);
    this.last = Math.max(this.last, event.at);
    const { at, place } = event;
    switch (event.event) {
      case "run-started":
        this.harness = event.harness ?? "";
        this.inputs = event.inputs ?? [];
        this.add("run", event, String(event.program ?? ""), { key: "" });
        break;
      case "resumed":
        if (this.root !== undefined) {
          this.root.status = "running";
          this.root.to = undefined;
        }
        break;

      case "statement-started":
        this.statementStarted(event);
        break;
      case "statement-ended":
        this.statementEnded(place, at, event.status);
        this.endThoseAt(place, at, event.status);
        break;

      case "session-started":
        this.sessionStarted(event);
        break;
      case "queued":
        this.onAttempt(event, (item, attempt) => {
          attempt.queued = true;
          this.setStatus(item, "waiting");
        });
        break;
      case "begun":
        this.onAttempt(event, (item, attempt) => {
          attempt.queued = false;
          attempt.began = at;
          this.setStatus(item, "running");
        });
        break;
      case "effect":
        this.onAttempt(event, (item, attempt) => {
          attempt.began = event.began ?? attempt.began;
          attempt.queued = false;
          const reply = event.outcome?.reply;
          if (reply?.text !== undefined) item.note = firstLine(reply.text);
          if (reply?.usage !== undefined) this.addUsage(item, reply.usage);
        });
        break;
      case "session-ended":
        this.onAttempt(event, (item, attempt) => {
          attempt.to = at;
          attempt.status = statusOf(event.status);
          attempt.error = event.error?.message;
          this.end(item, at, attempt.status, event.error?.message);
        });
        break;
      case "retrying":
        this.retrying(event);
        break;

      case "parallel-started": {
        const label = event.is_loop ? "parallel for" : "parallel";
        const strategy = event.strategy === undefined || event.strategy === "all" ? [] : [event.strategy];
        const detail = [counted(event.branches?.length ?? 0, "branch", "branches"), ...strategy].join(", ");
        this.add("parallel", event, label, { key: place, detail });
        break;
      }
      case "branch-started":
        this.add("branch", event, event.name ?? `branch ${(event.index ?? 0) + 1}`, { key: place });
        break;
      case "branch-ended":
        this.endContainer(place, at, event.status);
        break;
      case "parallel-ended":
        this.endContainer(place, at, event.status);
        break;

      case "loop-started": {
        const label = [event.kind === "for" || event.kind === "repeat" ? event.kind : `loop ${event.kind}`, event.header];
        const detail = event.max == null || event.kind === "repeat" ? "" : `at most ${event.max}`;
        this.add("loop", event, label.filter(Boolean).join(" "), { key: place, detail });
        break;
      }
      case "iteration-started": {
        const number = event.number ?? 1;
        this.endIteration(place, at, "complete");
        const of = event.max == null ? "" : ` of ${event.max}`;
        this.add("iteration", event, `iteration ${number}${of}`, { key: `${place}/i${number - 1}` });
        break;
      }
      case "loop-ended": {
        const failed = event.why === "failed";
        this.endIteration(place, at, failed ? "failed" : "complete");
        const loop = this.containers.get(place);
        if (loop !== undefined) loop.note = WHY[event.why ?? ""] ?? event.why;
        this.endContainer(place, at, failed ? "failed" : "complete");
        break;
      }

      case "condition-asked": {
        if (event.of === "loop") this.endIteration(place.slice(0, place.lastIndexOf("/i")), at, "complete");
        const item = this.add("condition", event, event.text ?? "");
        this.asked.set(place, item);
        break;
      }
      case "condition-judged": {
        const item = this.asked.get(place);
        if (item === undefined) break;
        this.asked.delete(place);
        item.note = [event.met ? "yes" : "no", event.reason].filter(Boolean).join(": ");
        this.end(item, at, "complete");
        break;
      }
      case "chosen": {
        const item = this.add("choice", event, event.criterion ?? "");
        item.note = [event.label, event.reason].filter(Boolean).join(": ");
        this.end(item, at, "complete");
        break;
      }
      case "input-asked": {
        const item = this.add("input", event, event.name ?? "input", { detail: event.prompt ?? "" });
        this.asked.set(place, item);
        this.setStatus(item, "waiting");
        break;
      }
      case "input-given": {
        const item = this.asked.get(place);
        if (item !== undefined) this.end(item, at, "complete");
        this.asked.delete(place);
        break;
      }

      case "frame-entered":
        this.frames.set(
          event.id ?? 0,
          this.add("block", event, event.block ?? "", { key: `${place}/f${event.id}`, detail: `call ${event.id}` }),
        );
        break;
      case "frame-left": {
        const frame = this.frames.get(event.id ?? 0);
        if (frame !== undefined) this.end(frame, at, statusOf(event.status));
        break;
      }
      case "import-called": {
        const number = Number(event.program);
        this.programs.set(number, this.add("program", event, event.alias ?? "", { key: `${place}/m${number}` }));
        break;
      }
      case "import-ended": {
        const program = this.programs.get(Number(event.program));
        if (program !== undefined) {
          this.end(program, at, event.error ? "failed" : "complete", event.error?.message);
        }
        break;
      }

      case "pipeline-started":
        this.add("pipeline", event, "pipeline", {
          key: place,
          detail: [...(event.stages ?? []), counted(event.items ?? 0, "item", "items")].join(", "),
        });
        break;
      case "stage-started":
        this.add("stage", event, event.operator ?? "", { key: place, detail: counted(event.items ?? 0, "item", "items") });
        break;
      case "stage-ended":
        this.endContainer(place, at, "complete");
        break;

      case "try-started":
        this.add("try", event, "try", { key: place });
        break;
      case "caught":
        this.add("part", event, event.name ? `catch ${event.name}` : "catch", {
          key: `${place}/catch`,
          detail: firstLine(event.error?.message ?? ""),
        });
        break;
      case "finally-started":
        this.add("part", event, "finally", { key: `${place}/finally` });
        break;
      case "try-ended":
        if (event.part !== "body") this.endContainer(`${place}/${event.part}`, at, event.status);
        break;

      case "warning":
        this.warnings.push(event.message ?? "");
        break;
      case "run-ended":
        this.runEnded(event);
        break;
    }
  }

  private reset(): void {
    this.items = [];
    this.statements.clear();
    this.warnings = [];
    this.seq = 0;
    this.containers.clear();
    this.byRequest.clear();
    this.asked.clear();
    this.frames.clear();
    this.programs.clear();
    this.open.clear();
  }

  /** The part that something at a place is in. */
  private around(place: string): Item | undefined {
    for (let at = place; at !== ""; at = at.slice(0, Math.max(0, at.lastIndexOf("/")))) {
      const container = this.containers.get(at);
      if (container !== undefined) return container;
    }
    return this.root;
  }

  private add(kind: ItemKind, event: RunEvent, label: string, more: { key?: string; detail?: string } = {}): Item {
    const parent = this.around(event.place);
    const item: Item = {
      id: this.items.length,
      kind,
      parent: parent?.id ?? NO_PARENT,
      children: [],
      depth: parent === undefined ? 0 : parent.depth + 1,
      label: firstLine(label),
      detail: more.detail ?? "",
      place: event.place,
      site: event.site,
      status: "running",
      from: event.at,
      attempts: [],
      pauses: [],
      sessions: { total: 0, running: 0, waiting: 0, complete: 0, failed: 0 },
    };
    this.items.push(item);
    parent?.children.push(item.id);
    if (more.key !== undefined) this.containers.set(more.key, item);
    return item;
  }

  private sessionStarted(event: RunEvent): void {
    const number = event.task?.attempt ?? 0;
    // A retry is one step further than the first attempt.
    const base = number > 0 ? event.place.replace(/\/a\d+$/, "") : event.place;
    const attempt: Attempt = { request: event.request ?? 0, from: event.at, status: "running" };
    let item = number > 0 ? this.asked.get(base) : undefined;
    if (item === undefined) {
      const task = firstLine(event.task?.task ?? "");
      item = this.add("session", event, task, { detail: event.task?.agent ?? "" });
      item.agent = event.task?.agent;
      item.model = event.task?.model;
      if (event.task?.retries) this.asked.set(base, item);
      this.count(item, (sessions) => {
        sessions.total++;
        sessions.running++;
      });
    } else {
      const pause = item.pauses.at(-1);
      if (pause !== undefined) pause.to = event.at;
      item.to = undefined;
      item.error = undefined;
      this.setStatus(item, "running");
    }
    item.attempts.push(attempt);
    this.byRequest.set(attempt.request, { item, attempt });
  }

  private retrying(event: RunEvent): void {
    const item = this.asked.get(event.place.replace(/\/a\d+$/, ""));
    if (item === undefined) return;
    item.pauses.push({ from: event.at });
    item.to = undefined;
    this.setStatus(item, "waiting");
  }

  private onAttempt(event: RunEvent, change: (item: Item, attempt: Attempt) => void): void {
    const found = this.byRequest.get(event.request ?? -1);
    if (found !== undefined) change(found.item, found.attempt);
  }

  private setStatus(item: Item, status: Status): void {
    if (item.status === status) return;
    if (item.kind === "session") {
      const [before, now] = [counter(item.status), counter(status)];
      this.count(item, (sessions) => {
        if (before !== undefined) sessions[before]--;
        if (now !== undefined) sessions[now]++;
      });
    }
    item.status = status;
  }

  /** Changes the counts of an item and of all that it is in. */
  private count(item: Item, change: (sessions: Item["sessions"]) => void): void {
    for (let at: Item | undefined = item; at !== undefined; at = this.items[at.parent]) change(at.sessions);
  }

  private addUsage(item: Item, usage: Usage): void {
    for (let at: Item | undefined = item; at !== undefined; at = this.items[at.parent]) {
      at.usage = sum(at.usage, usage);
    }
  }

  private end(item: Item, at: number, status: Status, error?: string): void {
    if (item.to !== undefined && item.kind !== "session") return;
    for (const child of item.children) {
      const inner = this.items[child];
      // What has no end of its own was not waited for.
      if (inner !== undefined && inner.to === undefined) this.end(inner, at, status === "interrupted" ? status : "skipped");
    }
    for (const attempt of item.attempts) {
      if (attempt.to === undefined) {
        attempt.to = at;
        attempt.status = status;
        attempt.queued = false;
      }
    }
    const pause = item.pauses.at(-1);
    if (pause !== undefined && pause.to === undefined) pause.to = at;
    item.to = at;
    if (error !== undefined) item.error = error;
    this.setStatus(item, status);
  }

  private endContainer(key: string, at: number, status: string | undefined): void {
    const item = this.containers.get(key);
    if (item === undefined || item === this.root) return;
    this.end(item, at, statusOf(status));
    if (status === "skipped") this.endStatementsIn(key, at);
  }

  private endIteration(loop: string, at: number, status: Status): void {
    const item = this.containers.get(loop);
    const last = this.items[item?.children.findLast((child) => this.items[child]?.kind === "iteration") ?? NO_PARENT];
    if (last !== undefined && last.to === undefined) this.end(last, at, status);
  }

  /** A statement that has ended ends what it is that has no end of its own, such as a pipeline. */
  private endThoseAt(place: string, at: number, status: string | undefined): void {
    const item = this.containers.get(place);
    if (item !== undefined && item !== this.root && item.to === undefined) this.end(item, at, statusOf(status));
    // The value of a binding has a place of its own, one step further.
    const last = this.items[this.around(place)?.children.at(-1) ?? NO_PARENT];
    const isInside = last !== undefined && last.to === undefined && last.place.startsWith(`${place}/`);
    if (isInside) this.end(last, at, statusOf(status));
  }

  private statementStarted({ place, site, at }: RunEvent): void {
    if (site === undefined || (site.program ?? 0) !== 0) return;
    const key = siteKey(site);
    let state = this.statements.get(key);
    if (state === undefined) {
      state = { site, times: 0, running: 0, failed: 0, complete: 0, took: 0, last: at };
      this.statements.set(key, state);
    }
    state.times++;
    state.running++;
    state.last = at;
    this.open.set(place, { site, at });
  }

  private statementEnded(place: string, at: number, status: string | undefined): void {
    const open = this.open.get(place);
    if (open === undefined) return;
    this.open.delete(place);
    const state = this.statements.get(siteKey(open.site));
    if (state === undefined) return;
    state.running--;
    state.took += at - open.at;
    if (status === "failed") state.failed++;
    else if (status !== "skipped") state.complete++;
  }

  private endStatementsIn(around: string, at: number): void {
    for (const place of [...this.open.keys()]) {
      if (around === "" || place === around || place.startsWith(`${around}/`)) this.statementEnded(place, at, "skipped");
    }
  }

  private runEnded(event: RunEvent): void {
    this.endStatementsIn("", event.at);
    const { root } = this;
    if (root === undefined) return;
    const status: Status = event.status === "completed" ? "complete" : event.status === "failed" ? "failed" : "interrupted";
    root.to = undefined;
    this.end(root, event.at, status, event.error?.message);
    root.usage = event.usage ?? root.usage;
  }

  /** The innermost part that is at or in a range of lines of the program, the latest one of several; none if nothing of it happened. */
  itemAtLine(line: number): Item | undefined {
    let best: Item | undefined;
    for (const item of this.items) {
      const { site } = item;
      if (site === undefined || (site.program ?? 0) !== 0 || line < site.line || line > site.last_line) continue;
      const extent = site.last_line - site.line;
      const bestExtent = best?.site === undefined ? Infinity : best.site.last_line - best.site.line;
      const isBetter = extent < bestExtent || (extent === bestExtent && item.depth >= (best?.depth ?? 0));
      if (isBetter) best = item;
    }
    return best;
  }

  /** The part with a place, as it is told in events. */
  itemAt(place: string): Item | undefined {
    return this.items.find((item) => item.place === place);
  }
}

/** The key of {@link RunModel.statements}. */
export function siteKey({ start, end }: { start: number; end: number }): string {
  return `${start}-${end}`;
}

const WHY: Record<string, string> = {
  satisfied: "condition met",
  "no-progress": "no progress",
  max: "reached its limit",
  exhausted: "",
  left: "left",
  failed: "failed",
};

function statusOf(status: string | undefined): Status {
  switch (status) {
    case "failed":
    case "skipped":
    case "interrupted":
      return status;
    default:
      // `left` is a way of being done.
      return "complete";
  }
}

function counter(status: Status): "running" | "waiting" | "complete" | "failed" | undefined {
  return status === "skipped" || status === "interrupted" ? undefined : status;
}

export function sum(one: Usage | undefined, other: Usage): Usage {
  if (one === undefined) return { ...other };
  const cost = one.cost === undefined && other.cost === undefined ? undefined : (one.cost ?? 0) + (other.cost ?? 0);
  return {
    input_tokens: one.input_tokens + other.input_tokens,
    output_tokens: one.output_tokens + other.output_tokens,
    ...(cost === undefined ? {} : { cost }),
  };
}

/** `1 branch`, `2 branches` */
export function counted(count: number, one: string, several: string): string {
  return `${count} ${count === 1 ? one : several}`;
}

/** The first line with something on it, shortened. */
export function firstLine(text: string): string {
  const line = text.trimStart().split("\n", 1)[0]?.trimEnd() ?? "";
  return line.length > 120 ? `${line.slice(0, 119)}…` : line;
}

/** How long something has taken, the waiting for an agent left out. */
export function duration(item: Item, now: number): number {
  const began = item.kind === "session" ? (item.attempts[0]?.began ?? item.from) : item.from;
  return Math.max(0, (item.to ?? now) - began);
}

/** `12 ms`, `1.2 s`, `3 m 10 s`, `2 h 5 m` */
export function durationText(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 3600) return `${Math.floor(whole / 60)} m ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} m`;
}

/** `1.2k tokens, $0.03` */
export function usageText(usage: Usage | undefined): string {
  if (usage === undefined) return "";
  const cost = usage.cost === undefined ? "" : `, ${costText(usage.cost)}`;
  return `${short(usage.input_tokens + usage.output_tokens)} tokens${cost}`;
}

export function costText(cost: number): string {
  return cost > 0 && cost < 0.01 ? `$${cost.toFixed(4)}` : `$${cost.toFixed(2)}`;
}

function short(count: number): string {
  if (count < 1000) return String(count);
  if (count < 100_000) return `${(count / 1000).toFixed(1)}k`;
  return count < 1_000_000 ? `${Math.round(count / 1000)}k` : `${(count / 1_000_000).toFixed(1)}M`;
}
