// The events of runs, as far as the views of runs look at them. `prose run --json` writes the same.

/** A place in the text of a program. */
export interface Site {
  /** 0 for the program that was started, which is left out. */
  program?: number;
  start: number;
  end: number;
  /** From 1. */
  line: number;
  last_line: number;
}

export interface Usage {
  input_tokens: number;
  output_tokens: number;
  cost?: number;
}

interface Failed {
  message: string;
  line?: number;
}

/** Something that happened in a run. Which of the other parts there are depends on `event`. */
export interface RunEvent {
  seq: number;
  /** Milliseconds since 1970. */
  at: number;
  /** The way to it through the execution: steps between slashes. */
  place: string;
  site?: Site;
  event: string;

  alias?: string;
  arguments?: [string, string, unknown][];
  attempt?: number;
  block?: string;
  branches?: string[];
  count?: number;
  criterion?: string;
  delay_ms?: number;
  error?: Failed | null;
  failures?: string[];
  from?: string;
  harness?: string;
  header?: string;
  id?: number;
  index?: number;
  inputs?: [string, unknown][];
  is_loop?: boolean;
  items?: number;
  iterations?: number;
  kind?: string;
  label?: string;
  max?: number | null;
  message?: string;
  met?: boolean;
  name?: string | null;
  number?: number | null;
  of?: string;
  operator?: string;
  outcome?: { reply?: { text?: string; usage?: Usage } };
  part?: string;
  program?: string | number;
  prompt?: string;
  reason?: string;
  began?: number;
  request?: number | null;
  retries?: number;
  run?: string;
  sessions?: number;
  stages?: string[];
  status?: string;
  strategy?: string;
  task?: { agent?: string; task: string; model?: string; attempt?: number; retries?: number };
  text?: string;
  usage?: Usage;
  why?: string;
}

// What no view of a whole run shows; prompts and replies are asked for session by session.
const LEFT_OUT = new Set(["value", "binding", "fingerprint", "memory", "record", "bound", "outputs", "sha256", "imports"]);
const OF_TASKS = ["agent", "task", "model", "attempt", "retries"] as const;
const LONGEST = 300;

// The events that no view looks at.
const IGNORED = new Set(["bound", "resolved", "defined", "imported", "inputs-received", "output-given", "memory-written"]);

/** The events that a view of a run looks at, without long texts: what is kept and sent of a run with thousands of sessions. */
export function slim(events: readonly RunEvent[]): RunEvent[] {
  const kept: RunEvent[] = [];
  for (const event of events) {
    if (IGNORED.has(event.event) || isEffectOfNoUse(event)) continue;
    const copy: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(event)) {
      if (!LEFT_OUT.has(key) && value !== null) copy[key] = shortened(key, value);
    }
    kept.push(copy as unknown as RunEvent);
  }
  return kept;
}

function isEffectOfNoUse({ event, outcome, began }: RunEvent): boolean {
  return event === "effect" && outcome?.reply === undefined && began === undefined;
}

function shortened(key: string, value: unknown): unknown {
  if (typeof value === "string") return cut(value);
  if (key === "task" && typeof value === "object") {
    const task = value as Record<string, unknown>;
    return Object.fromEntries(
      OF_TASKS.filter((part) => task[part] !== undefined).map((part) => [part, cutAny(task[part])]),
    );
  }
  if (key === "outcome") {
    const { reply } = value as NonNullable<RunEvent["outcome"]>;
    return { reply: { text: cut(reply?.text ?? ""), usage: reply?.usage } };
  }
  if (key === "arguments") return [];
  return value;
}

function cutAny(value: unknown): unknown {
  return typeof value === "string" ? cut(value) : value;
}

function cut(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
