// The line under the editor: how many mistakes there are, and whether the language is there.

import type { EditorView } from "@codemirror/view";
import { element, setText } from "../../vscode/panel/dom";
import { counted } from "../../vscode/src/runs/run";
import { openProblems } from "./editor/problems";
import type { Diagnostic } from "./language";

export class StatusLine {
  private readonly button = element("button", "link");
  private readonly says = element("span", "facts", "The language is being loaded…");

  private isLoaded = false;

  constructor(place: HTMLElement, view: EditorView) {
    this.button.type = "button";
    this.button.title = "Show the list of problems (Ctrl+Shift+M)";
    this.button.hidden = true;
    this.button.addEventListener("click", () => openProblems(view));
    this.says.setAttribute("role", "status");
    place.append(this.button, this.says);
  }

  /** The language is there, so that what it finds is shown from now on. */
  loaded(): void {
    this.isLoaded = true;
    setText(this.says, "");
  }

  /** Shows how many diagnostics a program has. */
  show(found: readonly Diagnostic[] | undefined): void {
    if (!this.isLoaded) return;
    const count = (severity: Diagnostic["severity"]): number => (found ?? []).filter((each) => each.severity === severity).length;
    const [errors, warnings, others] = [count("error"), count("warning"), count("information")];
    const parts = [
      errors > 0 && counted(errors, "error", "errors"),
      warnings > 0 && counted(warnings, "warning", "warnings"),
      others > 0 && counted(others, "note", "notes"),
    ].filter(Boolean);
    setText(this.button, parts.join(", "));
    this.button.hidden = parts.length === 0;
    setText(this.says, found !== undefined && parts.length === 0 ? "No problems" : "");
  }

  fail(why: string): void {
    this.button.hidden = true;
    setText(this.says, why);
  }
}
