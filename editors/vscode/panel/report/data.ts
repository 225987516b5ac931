// The data of a report: what `prose runs report` has written into the page.

import type { Comparison } from "../../src/runs/comparison";
import { Run, type RunDelta } from "../../src/runs/run";
import type { Session } from "../../src/runs/session";
import type { FlowGraph } from "../layout";

/** The last value of a name. */
export interface BoundValue {
  name: string;
  line: number;
  /** The imported text that the line is in, from 0. */
  import?: number;
  value: unknown;
  /** Whether the end of its text is left out. */
  isCut?: boolean;
  times: number;
}

/** The text of an imported program, with the numbers of its executions. */
export interface ImportedText {
  text: string;
  programs: number[];
}

/** A run of a report. */
export interface ReportedRun {
  run: string;
  program: string;
  from: string;
  isRedacted: boolean;
  view: RunDelta;
  census: RunDelta["census"] | null;
  text: string | null;
  graph: FlowGraph | null;
  imports: ImportedText[];
  values: BoundValue[];
  outputs: [string, unknown][] | null;
  value: unknown;
  /** The requests of all attempts, in the order of the parts. */
  requests: number[];
  attemptsInPart: number;
}

/** What the page has been given. */
export interface Report {
  runs: ReportedRun[];
  /** The runs by their indices, the first one next to each other one. */
  comparisons: { a: number; b: number; comparison: Comparison }[];
}

export function readReport(): Report {
  return JSON.parse(document.getElementById("report")?.textContent ?? "{}") as Report;
}

/** A run with its model, and its sessions, which are read part by part. */
export class OpenRun {
  readonly model = new Run();
  /** The attempts that were read, and whether their part was. */
  private readonly attempts = new Map<number, Session>();
  private readonly read = new Set<number>();
  private readonly indices: Map<number, number>;

  constructor(
    readonly index: number,
    readonly data: ReportedRun,
  ) {
    // Time stands still in a report, also for a run that was at work.
    this.model.apply(this.delta);
    this.indices = new Map(data.requests.map((request, at) => [request, at]));
  }

  /** Its view, for displays of their own. */
  get delta(): RunDelta {
    const { view, census } = this.data;
    const isOver = view.end !== undefined;
    return { ...view, ...(isOver ? {} : { waits: true }), ...(census == null || isOver ? {} : { census }) };
  }

  /** The text of an execution of a program, by its number. */
  textOf(program: number): string | null {
    if (program === 0) return this.data.text;
    return this.data.imports.find(({ programs }) => programs.includes(program))?.text ?? null;
  }

  /** The attempts with these requests. */
  sessions(requests: readonly number[]): Session[] {
    return requests.flatMap((request) => {
      const at = this.indices.get(request);
      if (at === undefined) return [];
      const part = Math.floor(at / this.data.attemptsInPart);
      if (!this.read.has(part)) this.readPart(part);
      const found = this.attempts.get(request);
      return found === undefined ? [] : [found];
    });
  }

  private readPart(part: number): void {
    this.read.add(part);
    const text = document.getElementById(`part-${this.index}-${part}`)?.textContent ?? "[]";
    for (const session of JSON.parse(text) as Session[]) this.attempts.set(session.request, session);
  }
}

/** A value as text: texts as they are, everything else as JSON. */
export function valueText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}
