// The program of a run and those that it imports, line by line, with what came of each line.

import { callsText, counted, duration, durationText, type Item, type Site, type StatementState, usageText } from "../../src/runs/run";
import { element, icon } from "../dom";
import type { BoundValue, OpenRun } from "./data";
import { valueText } from "./data";
import { part } from "./page";

/** How many sessions a line lists. */
const MAX_SESSIONS = 3;
const MAX_NOTE = 90;

/** What a line leads to. */
export interface ProgramEvents {
  /** Open a session. */
  open(requests: number[]): void;
}

export class ProgramPart {
  readonly root: HTMLElement;
  private readonly body: HTMLElement;
  /** The rows of the lines, by the numbers of the executions of programs. */
  private readonly rows = new Map<number, HTMLTableRowElement[]>();
  private marked: HTMLTableRowElement[] = [];

  constructor(private readonly events: ProgramEvents) {
    ({ root: this.root, body: this.body } = part("program", "Program"));
  }

  show(run: OpenRun): void {
    const { model, data } = run;
    this.rows.clear();
    this.marked = [];
    const shown: HTMLElement[] = [];
    if (data.text === null) shown.push(element("p", "facts", "The program of this run cannot be shown."));
    else shown.push(this.table(run, data.text, [0], model.statements.values(), data.values.filter((value) => value.import === undefined)));
    for (const [index, { text, programs }] of data.imports.entries()) {
      // Files with the same text are shown once.
      const imported = programs.flatMap((program) => model.programs.get(program) ?? []);
      const unique = (texts: string[]) => [...new Set(texts)].join(", ");
      const facts = [unique(imported.map(({ from }) => from)), programs.length > 1 && `${programs.length} times`].filter(Boolean).join(", ");
      shown.push(element("h3", "", `Imported program ${unique(imported.map(({ name }) => name))}${facts && ` (${facts})`}`));
      shown.push(this.table(run, text, programs, [], data.values.filter((value) => value.import === index)));
    }
    this.body.replaceChildren(...shown);
  }

  /** The lines of a text with what came of them in some executions of it. */
  private table({ model }: OpenRun, text: string, programs: readonly number[], statements: Iterable<StatementState>, bound: readonly BoundValue[]): HTMLElement {
    const executions = new Set(programs);
    const items = new Map<number, Item[]>();
    for (const item of model.items) {
      const { site } = item;
      if (item.kind === "run" || site === undefined || !executions.has(site.program ?? 0)) continue;
      const here = items.get(site.line);
      if (here === undefined) items.set(site.line, [item]);
      else here.push(item);
    }
    const states = new Map([...statements].map((state) => [state.site.line, state]));
    const values = new Map<number, BoundValue[]>();
    for (const value of bound) values.set(value.line, [...(values.get(value.line) ?? []), value]);
    const head = element("tr", "", ...["Line", "Program", "Result"].map((name) => {
      const cell = element("th", "", name);
      cell.scope = "col";
      return cell;
    }));
    const rows = text.replace(/\n$/, "").split("\n").map((code, index) => {
      const line = index + 1;
      const number = element("th", "number", String(line));
      number.scope = "row";
      const happened = element("td", "happened");
      const state = states.get(line);
      if (state !== undefined) {
        const status = state.running > 0 ? "running" : state.failed > 0 ? "failed" : state.complete > 0 ? "complete" : "interrupted";
        const facts = [
          state.times > 1 && `${state.times} times`,
          state.failed > 0 && state.times > 1 && `${state.failed} failed`,
          state.took > 0 && durationText(state.took),
          usageText(state.usage),
        ];
        happened.append(icon(status), element("span", "visually-hidden", WORDS[status]), element("span", "facts", facts.filter(Boolean).join(" · ")));
      }
      const here = items.get(line) ?? [];
      const sessions = here.filter(({ kind }) => kind === "session");
      for (const item of here) if (item.kind !== "session" && item.note) happened.append(element("span", "note", shortened(item.note)));
      for (const item of sessions.slice(0, MAX_SESSIONS)) happened.append(this.session(item, model.now));
      if (sessions.length > MAX_SESSIONS) happened.append(element("span", "facts", `and ${counted(sessions.length - MAX_SESSIONS, "more session", "more sessions")}`));
      for (const { name, value } of values.get(line) ?? []) happened.append(element("span", "value", `${name} = ${shortened(valueText(value))}`));
      return element("tr", "", number, element("td", "code", element("code", "", code || " ")), happened);
    });
    for (const program of programs) this.rows.set(program, rows);
    return element("table", "program", element("thead", "", head), element("tbody", "", ...rows));
  }

  /** Marks the lines of a place, and leads to them. */
  mark({ program = 0, line, last_line }: Site, leads: boolean): void {
    for (const row of this.marked) row.classList.remove("marked");
    this.marked = this.rows.get(program)?.slice(line - 1, last_line) ?? [];
    for (const row of this.marked) row.classList.add("marked");
    if (leads && this.marked.length > 0) {
      this.marked[0]?.scrollIntoView({ block: "center" });
      this.root.focus({ preventScroll: true });
    }
  }

  private session(item: Item, now: number): HTMLElement {
    const open = element("button", "link session-link", shortened(item.label || "session"));
    open.type = "button";
    open.addEventListener("click", () => this.events.open(item.attempts.map(({ request }) => request)));
    const facts = [item.agent, durationText(duration(item, now)), callsText(item), usageText(item.usage)];
    const result = item.error ?? item.note ?? "";
    return element("span", "happened-session", icon(item.status), open, element("span", "facts", facts.filter(Boolean).join(" · ")), element("span", item.error === undefined ? "note" : "note error", shortened(result)));
  }
}

const WORDS = { running: "running", failed: "failed", complete: "done", interrupted: "stopped" };

function shortened(text: string): string {
  const [line = ""] = text.trim().split("\n", 1);
  return line.length > MAX_NOTE ? `${line.slice(0, MAX_NOTE - 1)}…` : line;
}
