// Two runs next to each other: their timelines under each other, and the steps that differ.

import { type Comparison, differencesOf, type Pair, type Part, titleOf, totalsText } from "../src/runs/comparison";
import { counted, type Item, Run, type RunDelta } from "../src/runs/run";
import { element, setText } from "./dom";
import { Timeline } from "./timeline";

/** How many steps are shown at first, and then with each press of a button. */
const STEPS = 500;

interface Side {
  model: Run;
  title: HTMLElement;
  timeline: Timeline;
}

/** The view of two runs. */
export class ComparisonView {
  readonly summary = element("p", "facts");
  readonly all = element("button", "choice", "All steps");
  readonly sides: HTMLElement[];
  readonly steps = element("ol", "steps");
  private readonly runs: Side[];
  private comparison: Comparison | undefined;
  private showsAll = false;
  private shown = STEPS;
  private scheduled = false;

  /** `diff` opens the difference of a text of a step, where something can. */
  constructor(private readonly diff?: (step: number, part: Part) => void) {
    this.summary.setAttribute("role", "status");
    this.all.type = "button";
    this.all.setAttribute("aria-pressed", "false");
    this.all.addEventListener("click", () => {
      this.showsAll = !this.showsAll;
      this.all.setAttribute("aria-pressed", String(this.showsAll));
      this.shown = STEPS;
      this.list();
    });
    this.steps.setAttribute("aria-label", "Steps");
    this.runs = ["First run", "Second run"].map((label): Side => {
      const timeline = new Timeline(
        {
          select: (item) => this.selected(item),
          reveal: () => {},
          open: () => {},
          leave: () => {},
          draw: () => this.schedule(),
        },
        label,
      );
      return { model: new Run(), title: element("h2"), timeline };
    });
    this.sides = this.runs.map(({ title, timeline }) => element("section", "side", title, timeline.element));
  }

  show(a: RunDelta, b: RunDelta, comparison: Comparison): void {
    this.comparison = comparison;
    this.shown = STEPS;
    [a, b].forEach((delta, index) => {
      const side = this.runs[index] as Side;
      side.model.apply(delta);
      const totals = index === 0 ? comparison.a : comparison.b;
      side.title.replaceChildren(totals.program, element("span", "facts", ` ${totals.run} · ${totalsText(totals)}`));
      side.timeline.show(side.model);
    });
    const differences = comparison.steps.filter(({ different }) => different).length;
    const same = comparison.steps.length - differences;
    setText(this.summary, `${counted(differences, "difference", "differences")}, ${counted(same, "step", "steps")} the same`);
    this.list();
    this.schedule();
  }

  themeChanged(): void {
    for (const { timeline } of this.runs) timeline.themeChanged();
  }

  /** Selects the parts at the place of a step in both timelines. */
  private select(pair: Pair): void {
    [pair.a, pair.b].forEach((step, index) => {
      const { model, timeline } = this.runs[index] as Side;
      const item = step && model.items.findLast(({ place }) => place !== "" && (step.place === place || step.place.startsWith(`${place}/`)));
      if (item !== undefined) timeline.select(item.id);
    });
  }

  /** Shows the step of a part, if it is in the list. */
  private selected({ place }: Item): void {
    const index = this.comparison?.steps.findIndex(({ a, b }) => a?.place === place || b?.place === place) ?? -1;
    const row = this.steps.querySelector(`[data-step="${index}"]`);
    row?.scrollIntoView({ block: "nearest" });
    for (const other of this.steps.children) other.classList.toggle("selected", other === row);
  }

  private list(): void {
    const wanted = (this.comparison?.steps ?? []).flatMap((pair, index) => (pair.different || this.showsAll ? [{ pair, index }] : []));
    const rows = wanted.slice(0, this.shown).map(({ pair, index }) => this.row(pair, index));
    this.steps.replaceChildren(...rows);
    if (wanted.length <= this.shown) return;
    const more = element("button", "link", `Show more of ${counted(wanted.length, "step", "steps")}`);
    more.type = "button";
    more.addEventListener("click", () => {
      this.shown += STEPS;
      this.list();
    });
    this.steps.append(element("li", "step", more));
  }

  private row(pair: Pair, index: number): HTMLElement {
    const { diff } = this;
    const texts: [Part, string][] = diff === undefined ? [] : [["asked", "Prompt"], ["result", "Reply"]];
    const buttons = texts
      .filter(([part]) => pair.differs?.includes(part) || ((pair.a ?? pair.b)?.[part] !== "" && (pair.a === undefined || pair.b === undefined)))
      .map(([part, name]) => {
        const open = element("button", "link", `Diff of ${name.toLowerCase()}`);
        open.type = "button";
        open.addEventListener("click", (event) => {
          event.stopPropagation();
          diff?.(index, part);
        });
        return open;
      });
    const title = element("button", "link step-title", titleOf(pair));
    title.type = "button";
    title.addEventListener("click", () => this.select(pair));
    const lines = differencesOf(pair).map((line) => element("div", "facts", line));
    const created = element("li", pair.different ? "step different" : "step", element("div", "step-head", title, ...buttons), ...lines);
    created.dataset.step = String(index);
    return created;
  }

  private schedule(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    requestAnimationFrame(() => {
      this.scheduled = false;
      for (const { model, timeline } of this.runs) timeline.draw(model.last);
    });
  }
}
