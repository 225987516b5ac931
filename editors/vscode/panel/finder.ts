// What finds parts of a run: the search, the levels that are shown, and the sessions that were slow, failed or cost much.

import { counted, type Run } from "../src/runs/run";
import { button, element, setText } from "./dom";
import { type Ranking, ranked } from "./rows";
import type { Timeline } from "./timeline";

const RANKINGS: Record<Ranking, { icon: string; title: string; none: string }> = {
  slowest: { icon: "waiting", title: "Next slowest session", none: "No sessions" },
  failed: { icon: "failed", title: "Next failed session", none: "No failed sessions" },
  dearest: { icon: "cost", title: "Next dearest session", none: "No session has a cost" },
};

export class Finder {
  readonly element = element("div", "finder");
  private readonly field = element("input", "search");
  private readonly levels = element("select");
  private readonly found = element("span", "facts");
  private ranking: Ranking | undefined;
  private rank = 0;
  private depth = 0;

  constructor(
    private readonly timeline: Timeline,
    private readonly model: () => Run,
    page: HTMLElement,
  ) {
    this.element.setAttribute("role", "search");
    this.element.setAttribute("aria-label", "Parts of the run");
    this.found.setAttribute("role", "status");
    this.field.type = "search";
    this.field.placeholder = "Search";
    this.field.setAttribute("aria-label", "Search parts");
    this.field.addEventListener("input", () => {
      const count = timeline.setSearch(this.field.value);
      setText(this.found, this.field.value.trim() === "" ? "" : counted(count, "match", "matches"));
    });
    this.field.addEventListener("keydown", (event) => {
      if (event.key === "Enter") timeline.nextMatch(event.shiftKey);
      else if (event.key === "Escape" && this.field.value !== "") this.clear();
      else return;
      event.preventDefault();
    });
    this.levels.setAttribute("aria-label", "Levels");
    this.levels.addEventListener("change", () => timeline.setLevels(Number(this.levels.value)));
    const jumps = Object.entries(RANKINGS).map(([ranking, { icon, title }]) => button(icon, title, () => this.jump(ranking as Ranking)));
    this.element.append(this.field, this.levels, ...jumps, this.found);
    // The keys of editors and browsers for a search.
    document.addEventListener("keydown", (event) => {
      if (event.key.toLowerCase() !== "f" || !(event.ctrlKey || event.metaKey) || !page.contains(document.activeElement)) return;
      this.field.focus();
      this.field.select();
      event.preventDefault();
    });
  }

  /** Another run is shown. */
  show(): void {
    this.clear();
    this.ranking = undefined;
    this.depth = 0;
    this.draw();
  }

  private clear(): void {
    this.field.value = "";
    this.timeline.setSearch("");
    setText(this.found, "");
  }

  /** Offers the levels that the run has now. */
  draw(): void {
    const depth = Math.max(1, this.model().depth);
    if (depth === this.depth) return;
    this.depth = depth;
    const option = (value: number, label: string): HTMLOptionElement => {
      const created = element("option", "", label);
      created.value = String(value);
      return created;
    };
    const some = Array.from({ length: depth - 1 }, (_, index) => option(index + 1, counted(index + 1, "level", "levels")));
    this.levels.replaceChildren(option(depth + 1, "All levels"), ...some);
  }

  /** Selects the first session of an order, and the one after it the next time. */
  private jump(ranking: Ranking): void {
    const model = this.model();
    const order = ranked(model, ranking, model.now);
    this.rank = ranking === this.ranking && order.length > 0 ? (this.rank + 1) % order.length : 0;
    this.ranking = ranking;
    const item = order[this.rank];
    if (item !== undefined) {
      // A search could hide it.
      if (this.field.value !== "") this.clear();
      this.timeline.goTo(item);
    }
    setText(this.found, item === undefined ? RANKINGS[ranking].none : `${ranking}: ${this.rank + 1} of ${order.length}`);
  }
}
