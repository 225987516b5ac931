// Where the parts of the page stand: created before the panel of runs, which looks for its place.

import { element } from "../../vscode/panel/dom";

function region(name: string, label: string): HTMLElement {
  const created = element("section", name);
  created.setAttribute("aria-label", label);
  return created;
}

export const place = element("div", "run-panel");
place.dataset.panel = "";

/** What stands over the flow of a program that was not run yet. */
export const hint = region("hint", "Before the first run");
hint.append("What the program does. Run it to see its sessions.");
export const top = region("top", "Playground");
/** What the user is told about the shown program. */
export const note = region("note", "Shown program");
note.hidden = true;
export const questions = region("questions", "Questions of the run");
questions.hidden = true;
export const tabs = element("div", "tabs");
export const text = element("div", "text");
export const status = element("div", "status-line");
export const outcome = region("outcome", "Result of the run");
outcome.hidden = true;

const editor = region("editor", "Editor");
editor.append(tabs, text, status);
const right = element("div", "right", hint, place, outcome);
const columns = element("div", "columns", editor, right);

document.querySelector("#loading")?.remove();
document.body.classList.add("playground");
document.body.append(top, note, questions, columns);

/** Whether the panel has a run, or only the flow of a program. */
export function setHasRun(hasRun: boolean): void {
  hint.hidden = hasRun;
  place.classList.toggle("is-preview", !hasRun);
}

setHasRun(false);
