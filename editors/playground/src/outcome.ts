// What a run has come to: its outputs, its value, or why it has failed.

import { element, icon } from "../../vscode/panel/dom";
import type { RunEnd } from "./language";

const TITLES: Record<RunEnd["status"], string> = {
  completed: "The run is complete",
  failed: "The run has failed",
  interrupted: "The run was stopped",
  waiting: "The run waits",
};

export class Outcome {
  constructor(
    private readonly place: HTMLElement,
    private readonly say: (text: string, isError?: boolean) => void,
  ) {}

  clear(): void {
    this.place.hidden = true;
    this.place.replaceChildren();
  }

  show({ status, error, outputs, value }: RunEnd): void {
    const title = element("h2", "", icon(status === "completed" ? "complete" : status), element("span", "", TITLES[status]));
    const parts: HTMLElement[] = [title];
    if (error !== null && status !== "interrupted") parts.push(element("p", "error", error));
    for (const { name, text } of outputs) parts.push(this.text(name, text));
    if (value !== null && outputs.length === 0) parts.push(this.text("result", value));
    if (parts.length === 1) parts.push(element("p", "facts", "No outputs."));
    this.place.replaceChildren(...parts);
    this.place.hidden = false;
  }

  /** Only a part of a run can be shown, since the language has stopped in the middle of it. */
  lost(): void {
    this.show({ status: "interrupted", error: null, outputs: [], value: null });
  }

  private text(name: string, text: string): HTMLElement {
    const copy = element("button", "link", "Copy");
    copy.type = "button";
    copy.setAttribute("aria-label", `Copy ${name}`);
    copy.addEventListener("click", () => {
      navigator.clipboard.writeText(text).then(
        () => this.say(`${name} was copied.`),
        () => this.say("the browser does not allow copying; select the text instead", true),
      );
    });
    const shown = element("pre", "", text);
    // It scrolls, so that the keyboard has to reach it.
    shown.tabIndex = 0;
    shown.setAttribute("role", "region");
    shown.setAttribute("aria-label", name);
    return element("div", "output", element("div", "output-head", element("h3", "", name), copy), shown);
  }
}
