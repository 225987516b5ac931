// Where the parts of a report stand: created before the panel, which looks for its place.

import { element } from "../dom";

export const place = element("div", "report-panel");
place.dataset.panel = "";

/** A part of a report with a heading. */
export function part(id: string, title: string): { root: HTMLElement; body: HTMLElement } {
  const heading = element("h2", "", title);
  heading.id = `${id}-title`;
  const body = element("div", "part-body");
  const root = element("section", "part", heading, body);
  root.id = id;
  root.tabIndex = -1;
  root.setAttribute("aria-labelledby", heading.id);
  return { root, body };
}

export const top = element("div", "top");
document.body.append(top, place);
