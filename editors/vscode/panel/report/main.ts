// A report on runs: the panel of an editor with the program, the values and the sessions of a run under it, in a page that has everything in itself.

import { listen, send } from "./host";
import { place, top } from "./page";
// The panel takes its host and its place when it is loaded.
import "../main";

import type { FromPanel } from "../../src/runs/messages";
import { readLog } from "../../src/runs/agentLog";
import { totalsText } from "../../src/runs/comparison";
import { codeOf } from "../../src/runs/session";
import { ComparisonView } from "../comparison";
import { element } from "../dom";
import { OpenRun, readReport } from "./data";
import { part } from "./page";
import { printedTimeline } from "./printed";
import { ProgramPart } from "./program";
import { Sessions } from "./sessions";
import { ValuesPart } from "./values";

const report = readReport();
const opened = new Map<number, OpenRun>();
const sessions = new Sessions();
const program = new ProgramPart({ open: (requests) => sessions.open(requests) });
const values = new ValuesPart();
const differences = part("differences", "Differences");
const comparison = new ComparisonView();
let shown: OpenRun | undefined;

/** A run, which is read when it is shown first. */
function runAt(index: number): OpenRun | undefined {
  const data = report.runs[index];
  if (data === undefined) return undefined;
  const run = opened.get(index) ?? new OpenRun(index, data);
  opened.set(index, run);
  return run;
}

function show(index: number): void {
  const run = runAt(index);
  if (run === undefined) return;
  shown = run;
  for (const [at, tab] of tabs.entries()) tab.setAttribute("aria-pressed", String(at === index));
  send({ type: "run", run: `${index} ${run.data.run}`, delta: run.delta, graph: run.data.graph, can: [] });
  program.show(run);
  values.show(run);
  sessions.show(run);
  compare(index);
}

/** Shows the run next to the first one, or the second one next to that. */
function compare(index: number): void {
  const found = report.comparisons.find(({ b }) => b === index) ?? report.comparisons[0];
  if (found === undefined) return;
  const [a, b] = [runAt(found.a), runAt(found.b)];
  if (a !== undefined && b !== undefined) comparison.show(a.delta, b.delta, found.comparison);
}

function receive(message: FromPanel): void {
  const run = shown;
  switch (message.type) {
    case "ready":
      return show(0);
    case "details": {
      if (run === undefined || message.node === null) return;
      const { requests } = message;
      const attempts = run.sessions(requests);
      const log = attempts.at(-1)?.log ?? null;
      const code = codeOf(run.model, (program) => run.textOf(program), requests);
      return send({ type: "details", details: { requests, attempts, log: log === null ? null : readLog(log), code } });
    }
    case "reveal":
      program.mark(message.site, !message.keepsFocus);
      return;
    case "session":
      return sessions.open(message.requests);
    case "command":
    case "session-command":
      // A report cannot do anything with a run.
      return;
  }
}

/** A link to a part of the page, which gets the focus. */
function link(id: string, label: string): HTMLAnchorElement {
  const created = element("a", "", label);
  created.href = `#${id}`;
  return created;
}

const tabs = report.runs.map(({ run, program: name }, index) => {
  const tab = element("button", "choice", `${name} ${run}`);
  tab.type = "button";
  tab.addEventListener("click", () => show(index));
  return tab;
});

const hasSeveral = report.runs.length > 1;
place.id = "run";
place.tabIndex = -1;
const parts = [link("run", "Timeline and flow"), ...(hasSeveral ? [link("differences", "Differences")] : []), link("values", "Values"), link("program", "Program"), link("sessions", "Sessions")];
const nav = element("nav", "", ...parts);
nav.setAttribute("aria-label", "Report");
top.append(nav);
if (hasSeveral) {
  const group = element("div", "group runs", ...tabs);
  group.setAttribute("role", "group");
  group.setAttribute("aria-label", "Runs");
  nav.append(group);
  const totals = [report.comparisons[0]?.comparison.a, ...report.comparisons.map(({ comparison }) => comparison.b)];
  const rows = totals.flatMap((run) => (run === undefined ? [] : [element("li", "", `${run.program} ${run.run}: ${totalsText(run)}`)]));
  differences.body.classList.add("comparison");
  differences.body.append(element("ul", "totals", ...rows), element("div", "title", comparison.summary, comparison.all), ...comparison.sides, comparison.steps);
  document.body.append(differences.root);
}
document.body.append(values.root, program.root, sessions.root);

// The canvases of timelines have the colours of the moment in which they are drawn.
const dark = matchMedia("(prefers-color-scheme: dark)");
dark.addEventListener("change", () => {
  document.body.classList.toggle("changed");
  comparison.themeChanged();
});

let undo: (() => void)[] = [];
window.addEventListener("beforeprint", () => {
  if (shown === undefined || undo.length > 0) return;
  const timeline = printedTimeline(shown.model);
  place.after(timeline);
  undo = [() => timeline.remove(), sessions.print()];
});
window.addEventListener("afterprint", () => {
  for (const step of undo.splice(0)) step();
});

listen(receive);
