// The timeline as it is printed: a table of the parts of the run with their bars, since what is on a screen shows only a window of it.

import { counted, duration, durationText, type Run } from "../../src/runs/run";
import { element, icon } from "../dom";
import { bars } from "../rows";

const MAX_ROWS = 2000;

/** The table. */
export function printedTimeline(model: Run): HTMLElement {
  const root = element("section", "printed");
  const run = model.root;
  if (run === undefined) return root;
  const total = Math.max(1, (run.to ?? model.now) - run.from);
  const parts = model.items.filter(({ kind }) => kind !== "run");
  const rows = parts.slice(0, MAX_ROWS).map((item) => {
    const track = element("div", "printed-track");
    for (const { kind, status, from, to } of bars(item, model.now)) {
      const bar = element("span", `printed-bar bar-${kind} bar-${status}`);
      bar.style.left = `${(100 * (from - run.from)) / total}%`;
      bar.style.width = `${Math.max(0.3, (100 * (to - from)) / total)}%`;
      track.append(bar);
    }
    const label = element("div", "printed-label", icon(item.status), element("span", "", item.label || item.kind), element("span", "facts", durationText(duration(item, model.now))));
    label.style.paddingLeft = `${(item.depth - 1) * 10}px`;
    return element("tr", "", element("td", "", label), element("td", "", track));
  });
  root.append(element("h2", "", "Timeline"), element("table", "", element("tbody", "", ...rows)));
  if (parts.length > MAX_ROWS) root.append(element("p", "facts", `${counted(parts.length - MAX_ROWS, "more part", "more parts")} not printed.`));
  return root;
}
