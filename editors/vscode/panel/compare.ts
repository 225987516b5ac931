// The page that compares two runs: the steps that differ, and the timelines of both under each other.

import type { FromComparePanel, ToComparePanel } from "../src/runs/messages";
import { type Comparison, differencesOf, type Pair, type Part, titleOf, totalsText } from "../src/runs/comparison";
import { type Item, Run } from "../src/runs/run";
import { element, setText } from "./dom";
import { Timeline } from "./timeline";

interface Editor {
  postMessage(message: FromComparePanel): void;
}

declare function acquireVsCodeApi(): Editor;

const editor = acquireVsCodeApi();
let comparison: Comparison | undefined;
let showsAll = false;
let scheduled = false;

const heading = element("h1", "", "Compare runs");
const summary = element("p", "facts");
summary.setAttribute("role", "status");
const all = element("button", "choice", "All steps");
all.type = "button";
all.setAttribute("aria-pressed", "false");
all.addEventListener("click", () => {
  showsAll = !showsAll;
  all.setAttribute("aria-pressed", String(showsAll));
  list();
});
const steps = element("ol", "steps");
steps.setAttribute("aria-label", "Steps");

interface Side {
  model: Run;
  title: HTMLElement;
  timeline: Timeline;
}

const sides = ["First run", "Second run"].map((label): Side => {
  const timeline = new Timeline(
    {
      select: (item) => selected(item),
      reveal: () => {},
      open: () => {},
      leave: () => {},
      draw: schedule,
    },
    label,
  );
  return { model: new Run(), title: element("h2"), timeline };
});

document.body.classList.add("comparison");
document.body.append(
  element("header", "", element("div", "title", heading, summary, element("span", "space"), all)),
  element("main", "", ...sides.map(({ title, timeline }) => element("section", "side", title, timeline.element)), steps),
);

/** Selects the parts at the place of a step in both timelines. */
function select(pair: Pair): void {
  [pair.a, pair.b].forEach((step, index) => {
    const { model, timeline } = sides[index] as Side;
    const item = step && model.items.findLast(({ place }) => place !== "" && (step.place === place || step.place.startsWith(`${place}/`)));
    if (item !== undefined) timeline.select(item.id);
  });
}

/** Shows the step of a part, if it is in the list. */
function selected({ place }: Item): void {
  const index = comparison?.steps.findIndex(({ a, b }) => a?.place === place || b?.place === place) ?? -1;
  const row = steps.querySelector(`[data-step="${index}"]`);
  row?.scrollIntoView({ block: "nearest" });
  for (const other of steps.children) other.classList.toggle("selected", other === row);
}

function list(): void {
  const rows = (comparison?.steps ?? []).flatMap((pair, index) => (pair.different || showsAll ? [row(pair, index)] : []));
  steps.replaceChildren(...rows);
}

function row(pair: Pair, index: number): HTMLElement {
  const texts: [Part, string][] = [["asked", "Prompt"], ["result", "Reply"]];
  const buttons = texts
    .filter(([part]) => pair.differs?.includes(part) || ((pair.a ?? pair.b)?.[part] !== "" && (pair.a === undefined || pair.b === undefined)))
    .map(([part, name]) => {
      const open = element("button", "link", `Diff of ${name.toLowerCase()}`);
      open.type = "button";
      open.addEventListener("click", (event) => {
        event.stopPropagation();
        editor.postMessage({ type: "diff", step: index, part });
      });
      return open;
    });
  const title = element("button", "link step-title", titleOf(pair));
  title.type = "button";
  title.addEventListener("click", () => select(pair));
  const lines = differencesOf(pair).map((line) => element("div", "facts", line));
  const created = element("li", pair.different ? "step different" : "step", element("div", "step-head", title, ...buttons), ...lines);
  created.dataset.step = String(index);
  return created;
}

function schedule(): void {
  if (scheduled) return;
  scheduled = true;
  requestAnimationFrame(() => {
    scheduled = false;
    for (const { model, timeline } of sides) timeline.draw(model.last);
  });
}

window.addEventListener("message", ({ data }: MessageEvent<ToComparePanel>) => {
  ({ comparison } = data);
  [data.a, data.b].forEach((delta, index) => {
    const side = sides[index] as Side;
    side.model.apply(delta);
    const totals = index === 0 ? data.comparison.a : data.comparison.b;
    side.title.replaceChildren(totals.program, element("span", "facts", ` ${totals.run} · ${totalsText(totals)}`));
    side.timeline.show(side.model);
  });
  const differences = data.comparison.steps.filter(({ different }) => different).length;
  const same = data.comparison.steps.length - differences;
  setText(summary, `${differences} ${differences === 1 ? "difference" : "differences"}, ${same} ${same === 1 ? "step" : "steps"} the same`);
  list();
  schedule();
});

new MutationObserver(() => sides.forEach(({ timeline }) => timeline.themeChanged())).observe(document.body, { attributes: true, attributeFilter: ["class"] });

editor.postMessage({ type: "ready" });
