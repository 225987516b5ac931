// The values of a run: inputs, outputs and names; its agents; and the warnings about it.

import { agentTexts, type Entry, idleTexts, namedLine } from "../../src/runs/run";
import { element } from "../dom";
import type { OpenRun } from "./data";
import { valueText } from "./data";
import { part } from "./page";

/** Texts with more lines are closed at first. */
const MAX_OPEN_LINES = 6;

export class ValuesPart {
  readonly root: HTMLElement;
  private readonly body: HTMLElement;

  constructor() {
    ({ root: this.root, body: this.body } = part("values", "Values"));
  }

  show({ model, data }: OpenRun): void {
    const { outputs, value, values } = data;
    const hasValue = value !== null && value !== undefined;
    const shown = [
      ...table("Inputs", model.inputs.map(([name, value]) => [name, valueText(value)])),
      ...table("Outputs", [...(outputs ?? []), ...(hasValue ? [["result", value] as [string, unknown]] : [])].map(([name, value]) => [name, valueText(value)])),
      ...table("Names", values.map(({ name, line, import: index, value, isCut, times }) => {
        const [program] = index === undefined ? [] : (data.imports[index]?.programs ?? []);
        const facts = times > 1 ? `, the last of ${times}` : "";
        return [`${name} (${namedLine(line, model.programs.get(program ?? 0)?.name)}${facts})`, `${valueText(value)}${isCut ? "…" : ""}`];
      })),
      ...list("Agents", agentTexts(model)),
      ...list("Census", model.census?.lines ?? []),
      ...list("Waits", idleTexts(model.times)),
      ...list("Warnings", warnings(data.view.entries)),
    ];
    if (data.isRedacted) shown.unshift(element("p", "warning", "Texts of this run were redacted."));
    this.body.replaceChildren(...(shown.length === 0 ? [element("p", "facts", "No values.")] : shown));
  }
}

function warnings(entries: readonly Entry[]): string[] {
  return entries.flatMap(({ kind, message, title, reason }) => {
    if (kind === "warning") return [message ?? ""];
    if (kind === "denied") return [`tool call denied: ${title ?? ""}${reason ? ` (${reason})` : ""}`];
    if (kind === "provider-retry") return [`the provider failed and was tried again: ${message ?? ""}`];
    return [];
  });
}

function table(title: string, rows: [string, string][]): HTMLElement[] {
  if (rows.length === 0) return [];
  const caption = element("caption", "", title);
  const body = rows.map(([name, text]) => {
    const head = element("th", "", name);
    head.scope = "row";
    return element("tr", "", head, element("td", "", textElement(text)));
  });
  return [element("table", "values", caption, element("tbody", "", ...body))];
}

/** A text, closed at first if it is long. */
function textElement(text: string): HTMLElement {
  const lines = text.split("\n");
  if (lines.length <= MAX_OPEN_LINES && text.length < 1000) return element("pre", "", text);
  const [first = ""] = lines;
  const summary = element("summary", "", `${first.slice(0, 100)}… (${lines.length} lines)`);
  return element("details", "long", summary, element("pre", "", text));
}

function list(title: string, lines: string[]): HTMLElement[] {
  const shown = lines.filter((line) => line !== "");
  if (shown.length === 0) return [];
  return [element("h3", "", title), element("ul", "", ...shown.map((line) => element("li", "", line)))];
}
