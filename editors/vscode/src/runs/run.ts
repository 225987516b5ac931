// A run as the server sends it: the nodes of its tree, which the views of the editor show. Independent of the editor.

/** A place in the text of a program. */
export interface Site {
  /** 0 for the main program, which is the default. */
  program?: number;
  start: number;
  end: number;
  /** From 1. */
  line: number;
  last_line: number;
}

/** An execution of a program that the run imports. */
export interface ImportedProgram {
  /** Its number in {@link Site.program}. */
  program: number;
  /** The path of its `use` line. */
  name: string;
  /** What it was read from: a path, a reference to a registry, an address; may be empty. */
  from: string;
}

/** `line 4`, or `lib.prose:4` in an imported program, as `prose` names lines in messages. */
export function namedLine(line: number, program?: string): string {
  return program === undefined ? `line ${line}` : `${program}:${line}`;
}

export interface Usage {
  input_tokens: number;
  output_tokens: number;
  cost?: number;
}

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
  | "input"
  /** Several iterations or branches, which the panel shows as one part. */
  | "group";

/** A period of time; without an end, it continues. */
export interface Span {
  from: number;
  to?: number;
}

/** A tool call that was denied. */
export interface Denial {
  title: string;
  reason: string;
}

/** The session of an agent, as its own program names it. */
export interface AgentSession {
  id: string;
  model?: string;
  transcript?: string;
}

/** One attempt of a session. */
export interface Attempt extends Span {
  request: number;
  /** When an agent started it, if it waited for one. */
  began?: number;
  /** Whether it is waiting for an agent. */
  queued?: boolean;
  status: Status;
  error?: string;
  usage?: Usage;
  /** The number of tool calls, once it has ended. */
  calls?: number;
  denials?: Denial[];
  session?: AgentSession;
  /** How long it waited for people. */
  waited?: number;
}

/** What the agent of an open session reports. */
export interface Activity {
  node: number;
  /** The time of the last report; 0 before the first one. */
  last: number;
  /** The number of tool calls. */
  calls: number;
  /** The number of denied tool calls. */
  denied?: number;
  tool?: { title: string; kind: string; paths?: string[]; status: "pending" | "running" | "completed" | "failed" | "denied" };
  /** The last line of the reply up to now. */
  text?: string;
  reasoning?: boolean;
  /** The retry that the provider is waited for. */
  retry?: { attempt: number; status?: number; until: number; message: string };
  /** The permission questions without an answer. */
  questions?: { id: string; title: string; rule: string }[];
  stalledSince?: number;
}

/** A part of a run, in the tree of its parts. */
export interface Item {
  /** Its index in {@link Run.items}; greater than the index of its parent. */
  id: number;
  kind: ItemKind;
  parent?: number;
  children: number[];
  depth: number;
  label: string;
  detail: string;
  place: string;
  site?: Site;
  status: Status;
  from: number;
  to?: number;
  /** Its result, in a few words. */
  note?: string;
  error?: string;
  agent?: string;
  model?: string;
  /** The attempts of a session. */
  attempts: Attempt[];
  /** The pauses between them. */
  pauses: Span[];
  /** When a session waited for a person; without a length where the whole run waited. */
  waits?: Span[];
  /** How long only people were waited for: in total, and as a part of the time between start and end; and since when it is so. */
  waiting?: { total: number; within: number; since?: number };
  /** For how long the run was stopped between its start and its end. */
  stopped?: number;
  usage?: Usage;
  /** What the agent of an open session does. */
  activity?: Activity;
  /** The numbers of its sessions by status. */
  sessions: { total: number; running: number; waiting: number; complete: number; failed: number };
}

/** The status of a statement of the program, over all its executions. */
export interface StatementState {
  site: Site;
  times: number;
  running: number;
  failed: number;
  complete: number;
  /** Its total duration, over all finished executions. */
  took: number;
  /** When the last execution started. */
  started: number;
  /** What the requests in it have used. */
  usage?: Usage;
}

/** What an agent has used. */
export interface AgentTotal {
  /** The name of the agent, `(no agent)` or `(decisions)`. */
  name: string;
  decisions?: boolean;
  /** The number of attempts of its sessions, or of decisions. */
  requests: number;
  usage?: Usage;
}

/** A line of a log of the run. */
export interface Entry {
  kind: "started" | "resumed" | "attempt" | "attempt-ended" | "pause" | "node" | "cancelled" | "memory" | "warning" | "denied" | "asked" | "provider-retry" | "stalled" | "ended";
  nesting: number;
  node?: number;
  attempt?: number;
  message?: string;
  harness?: string;
  title?: string;
  reason?: string;
  rule?: string;
  status?: number | null;
  /** A time in milliseconds. */
  delay?: number;
  silent?: number;
}

/** What the time of a run was taken up by, in milliseconds. */
export interface Times {
  work: number;
  waiting: number;
  stopped: number;
}

/** The pause of a run: since when, by which user and from where. */
export interface Pause {
  /** In milliseconds since 1970. */
  since: number;
  by?: string;
  from: string;
}

/** What became of a run. */
export interface Census {
  failureCount: number;
  /** The census in lines. */
  lines: string[];
}

/** What changed in a run: `prose/runView`. */
export interface RunDelta {
  /** Whether it contains the complete run. */
  whole: boolean;
  /** The number of the last event. */
  seq: number;
  /** The time of the last event, without the time while the run was stopped or only waited for people. */
  now: number;
  /** The total of that time until then. */
  paused: number;
  /** While the run only waits for people. */
  waits?: boolean | undefined;
  /** What the time of the run was taken up by, if it has waited for people or was stopped. */
  times?: Times | undefined;
  harness: string;
  /** Only of a paused run. */
  pause?: Pause;
  program?: string;
  inputs?: [string, unknown][];
  /** The executions of imported programs that started. */
  programs?: ImportedProgram[];
  end?: { status: string; sessions: number; failures?: number; error: { message: string; line: number } | null };
  /** What became of the sessions of a run that has ended, and which failures its program handled. */
  census?: Census;
  nodes: Partial<Item>[];
  statements: StatementState[];
  entries: Entry[];
  /** What the agents of open sessions report, as far as it changed. */
  activities?: Activity[];
  /** The agents whose usage changed. */
  agents?: AgentTotal[];
  /** What the run may use, in a few words. */
  limits?: string;
}

/** The defaults of a node. */
const UNSAID = {
  detail: "",
  site: undefined,
  to: undefined,
  note: undefined,
  error: undefined,
  agent: undefined,
  model: undefined,
  usage: undefined,
  waits: undefined,
  waiting: undefined,
  stopped: undefined,
};

/** The view of a run in which nothing has happened. */
export const NOTHING: RunDelta = { whole: true, seq: 0, now: 0, paused: 0, waits: true, harness: "", nodes: [], statements: [], entries: [] };

/** A run. */
export class Run {
  items: Item[] = [];
  /** By their bytes in the program: `start-end`. Only statements of the main program, not of imported ones. */
  statements = new Map<string, StatementState>();
  inputs: [string, unknown][] = [];
  /** The executions of imported programs, by their numbers. */
  programs = new Map<number, ImportedProgram>();
  /** By their names, in the order in which they started. */
  agents = new Map<string, AgentTotal>();
  /** What the run may use, if this server started it. */
  limits: string | undefined;
  /** Once the run has ended. */
  census: Census | undefined;
  /** While the run starts no new session. */
  pause: Pause | undefined;
  harness = "";
  /** The number of the last event. */
  seq = 0;
  /** Increases with every change. */
  version = 0;
  /** Increases with every new part. */
  structure = 0;
  /** The number of levels of parts. */
  depth = 0;
  /** The time of the last event. */
  last = 0;
  /** What its time was taken up by, if it has waited for people or was stopped. */
  times: Times | undefined;
  private paused = 0;
  private waits = false;

  get root(): Item | undefined {
    return this.items[0];
  }

  get isOver(): boolean {
    return this.root?.to !== undefined;
  }

  /** The current time, without the time while the run was stopped or only waited for people. */
  get now(): number {
    return this.waits ? this.last : Date.now() - this.paused;
  }

  /** Applies changes. */
  apply(delta: RunDelta): void {
    this.version++;
    if (delta.whole) {
      this.structure++;
      this.depth = 0;
      this.items = [];
      this.statements.clear();
      this.agents.clear();
      this.inputs = delta.inputs ?? [];
      this.programs.clear();
    }
    for (const program of delta.programs ?? []) this.programs.set(program.program, program);
    for (const agent of delta.agents ?? []) this.agents.set(agent.name, agent);
    this.limits = delta.limits ?? this.limits;
    this.census = delta.census ?? (delta.whole ? undefined : this.census);
    this.harness = delta.harness;
    this.pause = delta.pause;
    this.seq = delta.seq;
    this.last = delta.now;
    this.paused = delta.paused;
    this.waits = delta.waits ?? false;
    this.times = delta.times;
    for (const node of delta.nodes) this.put(node);
    for (const activity of delta.activities ?? []) {
      const item = this.items[activity.node];
      if (item !== undefined && item.to === undefined) item.activity = activity;
    }
    for (const state of delta.statements) this.statements.set(siteKey(state.site), state);
  }

  private put(node: Partial<Item>): void {
    const id = node.id as number;
    const before = this.items[id];
    if (before !== undefined) {
      // The editor identifies parts by object identity.
      Object.assign(before, UNSAID, { attempts: [], pauses: [] }, node);
      if (before.to !== undefined) delete before.activity;
      return;
    }
    this.structure++;
    const parent = node.parent === undefined ? undefined : this.items[node.parent];
    const depth = parent === undefined ? 0 : parent.depth + 1;
    this.depth = Math.max(this.depth, depth);
    this.items[id] = { ...UNSAID, attempts: [], pauses: [], sessions: NO_SESSIONS, ...node, depth, children: [] } as unknown as Item;
    parent?.children.push(id);
  }

  /** The complete view, for new subscribers. */
  whole(): RunDelta {
    return {
      whole: true,
      seq: this.seq,
      now: this.last,
      paused: this.paused,
      ...(this.waits ? { waits: true } : {}),
      ...(this.times === undefined ? {} : { times: this.times }),
      harness: this.harness,
      inputs: this.inputs,
      programs: [...this.programs.values()],
      nodes: this.items.map(({ children: _, ...node }) => node),
      statements: [...this.statements.values()],
      entries: [],
      agents: [...this.agents.values()],
      ...(this.pause === undefined ? {} : { pause: this.pause }),
      ...(this.limits === undefined ? {} : { limits: this.limits }),
      ...(this.census === undefined ? {} : { census: this.census }),
    };
  }

  /** The line of a site, as messages name it. */
  lineOf(site: Site): string {
    return namedLine(site.line, this.programs.get(site.program ?? 0)?.name);
  }

  /** The latest innermost part in a range of lines of the program; undefined if no part of it was executed. */
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
}

const NO_SESSIONS = { total: 0, running: 0, waiting: 0, complete: 0, failed: 0 };

/** The key of {@link Run.statements}. */
export function siteKey({ start, end }: { start: number; end: number }): string {
  return `${start}-${end}`;
}

/** `1 branch`, `2 branches` */
export function counted(count: number, one: string, several: string): string {
  return `${count} ${count === 1 ? one : several}`;
}

/** A duration, without the time of waiting for an agent or only for people. */
export function duration(item: Item, now: number): number {
  const began = item.kind === "session" ? (item.attempts[0]?.began ?? item.from) : item.from;
  const { within = 0, since = now } = item.waiting ?? {};
  return Math.max(0, (item.to ?? now) - began - within - Math.max(0, now - since));
}

/** What a part of a run waited, and for how long the run was stopped inside it. */
export function idleTextsOf({ waiting, stopped }: Item, now: number): string[] {
  const { total = 0, since = now } = waiting ?? {};
  return idleTexts({ waiting: total + Math.max(0, now - since), stopped });
}

/** `waited 3 m 10 s for answers`, `stopped for 2 h 5 m` */
export function idleTexts({ waiting = 0, stopped = 0 }: Partial<Times> = {}): string[] {
  return [waiting > 0 ? `waited ${durationText(waiting)} for answers` : "", stopped > 0 ? `stopped for ${durationText(stopped)}` : ""].filter(Boolean);
}

/** `12 ms`, `1.2 s`, `3 m 10 s`, `2 h 5 m` */
export function durationText(milliseconds: number): string {
  if (milliseconds < 100) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1000;
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
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

/** What each agent has used, in lines; empty unless there are several. */
export function agentTexts({ agents }: Run): string[] {
  const totals = [...agents.values()];
  if (totals.length < 2 || totals.every(({ usage }) => usage === undefined)) return [];
  const parts = totals.map(({ name, decisions, requests, usage }) => {
    const count = decisions ? counted(requests, "decision", "decisions") : counted(requests, "session", "sessions");
    return `${name}: ${[count, usageText(usage)].filter(Boolean).join(", ")}`;
  });
  return parts;
}

/** `paused by ada` */
export function pauseText({ by }: Pause): string {
  return by === undefined ? "paused" : `paused by ${by}`;
}

/** The request of a session that can be skipped, and whether it can be retried. */
export function openRequest({ kind, to, attempts }: Item): { request: number; isAtWork: boolean } | undefined {
  const last = attempts.at(-1);
  if (kind !== "session" || to !== undefined || last === undefined || last.to !== undefined) return undefined;
  return { request: last.request, isAtWork: last.status === "running" };
}

/** The request with the reply of a session. */
export function repliedRequest({ kind, attempts }: Item): number | undefined {
  const last = attempts.at(-1);
  return kind === "session" && last?.status === "complete" ? last.request : undefined;
}

/** What an agent does now, in a few words; empty before its first report. */
export function activityText(activity: Activity | undefined, now: number): string {
  if (activity === undefined) return "";
  const { tool, questions, retry, stalledSince, reasoning, text } = activity;
  const question = questions?.at(-1);
  if (question !== undefined) return `waits for permission: ${question.title}`;
  const isOpen = tool?.status === "pending" || tool?.status === "running";
  if (stalledSince !== undefined) return `no activity for ${durationText(now - stalledSince)}${isOpen ? ` in ${tool.title}` : ""}`;
  if (retry !== undefined) {
    const status = retry.status === undefined ? "" : ` ${retry.status}`;
    const left = retry.until - now;
    if (retry.attempt === 0) return `waits for the provider${left > 0 ? ` for ${durationText(left)}` : ""}`;
    return `provider failed${status}, retrying${left > 0 ? ` in ${durationText(left)}` : ""}`;
  }
  if (isOpen) return tool.title;
  if (reasoning) return "thinking";
  return text ?? tool?.title ?? "";
}

/** `3 tool calls`; empty without any. */
export function callsText({ attempts, activity }: Item): string {
  const calls = attempts.reduce((sum, { calls }) => sum + (calls ?? 0), activity?.calls ?? 0);
  return calls === 0 ? "" : counted(calls, "tool call", "tool calls");
}

/** The tool calls of a session that were denied. */
export function denialsOf({ attempts }: Item): Denial[] {
  return attempts.flatMap(({ denials }) => denials ?? []);
}

/** `git push (execute: deny)` */
export function denialText({ title, reason }: Denial): string {
  return reason === "" ? title : `${title} (${reason})`;
}

export function costText(cost: number): string {
  return cost > 0 && cost < 0.01 ? `$${cost.toFixed(4)}` : `$${cost.toFixed(2)}`;
}

function short(count: number): string {
  if (count < 1000) return String(count);
  if (count < 100_000) return `${(count / 1000).toFixed(1)}k`;
  return count < 1_000_000 ? `${Math.round(count / 1000)}k` : `${(count / 1_000_000).toFixed(1)}M`;
}
