// What `prose test` writes: the list of cases, and the events of a run. Independent of the editor.

/** Lines and columns, from 1. */
export interface Place {
  line: number;
  column: number;
  endLine: number;
  endColumn: number;
}

/** The debug session that executes a case, as the debugger takes it; the script has to be written to a file first. */
export interface Debugged {
  program: string;
  inputs?: Record<string, unknown>;
  script?: string;
  run?: string;
  harness?: string;
  maxCost?: number;
}

/** A combination of the values of a matrix; cases without a matrix have one, with their own name. */
export interface Variant {
  name: string;
  debug: Debugged | null;
}

export interface Case extends Place {
  name: string;
  variants: Variant[];
  skipped?: string;
}

export interface Problem extends Place {
  code: string;
  message: string;
}

/** A test file, as `prose test --list --json` describes it. */
export interface ListedFile {
  path: string;
  program: string;
  cases: Case[];
  problems: Problem[];
}

/** An expectation that a run did not fulfil. */
export interface Mismatch extends Place {
  message: string;
  expected?: string;
  actual?: string;
}

export interface Attempt {
  status: "passed" | "failed" | "error" | "stopped";
  seconds: number;
  message?: string;
  mismatches?: Mismatch[];
}

export interface Ended {
  event: "ended";
  path: string;
  name: string;
  line: number;
  column: number;
  status: "passed" | "failed" | "skipped" | "stopped";
  skipped?: string;
  runs: Attempt[];
}

export interface Statement {
  line: number;
  column: number;
  range: [number, number];
  hits: number;
}

export interface Branch {
  line: number;
  /** The bytes of the statement that it belongs to. */
  of: [number, number];
  name: string;
  hits: number;
}

export interface CoveredFile {
  path: string;
  statements: Statement[];
  branches: Branch[];
}

export interface Finished {
  event: "finished";
  passed: number;
  failed: number;
  skipped: number;
  stopped: number;
  coverage?: CoveredFile[];
}

/** An event of `prose test --format events`. */
export type TestEvent =
  | { event: "started"; path: string; name: string }
  | Ended
  | ({ event: "problem"; path: string } & Problem)
  | Finished;

/** Something that can be run: a file, a case of it, or one combination of its matrix. */
export interface Selected {
  file: string;
  /** The name of the case or the combination; a whole file without it. */
  name?: string;
}

/** The arguments of `prose test` that select what is run. Files that are run as a whole are in a call of their own, since a filter applies to all files. */
export function calls(selected: Selected[]): string[][] {
  const whole = [...new Set(selected.filter(({ name }) => name === undefined).map(({ file }) => file))];
  const parts = selected.filter(({ file, name }) => name !== undefined && !whole.includes(file));
  const files = [...new Set(parts.map(({ file }) => file))];
  const filters = parts.flatMap(({ file, name }) => ["--filter", `${file}::${name}`]);
  return [
    ...(whole.length === 0 ? [] : [whole]),
    ...(files.length === 0 ? [] : [[...files, "--exact", ...filters]]),
  ];
}

/** Splits a stream of text into lines, whatever its pieces are. */
export function lineReader(take: (line: string) => void): { push(text: string): void; end(): void } {
  let rest = "";
  return {
    push(text) {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) if (line.trim() !== "") take(line);
    },
    end() {
      if (rest.trim() !== "") take(rest);
      rest = "";
    },
  };
}

/** The first run of a case that did not pass. */
export function firstFailure({ runs }: Ended): Attempt | undefined {
  return runs.find(({ status }) => status === "failed" || status === "error");
}

/** How long the runs of a case took, in milliseconds. */
export function duration({ runs }: Ended): number {
  return runs.reduce((sum, { seconds }) => sum + seconds * 1000, 0);
}

/** The branches of each statement of a file, by the index of the statement. */
export function branchesOf({ statements, branches }: CoveredFile): Map<number, Branch[]> {
  const index = new Map(statements.map(({ range }, index) => [range.join(), index]));
  const found = new Map<number, Branch[]>();
  for (const branch of branches) {
    const statement = index.get(branch.of.join());
    if (statement !== undefined) found.set(statement, [...(found.get(statement) ?? []), branch]);
  }
  return found;
}
