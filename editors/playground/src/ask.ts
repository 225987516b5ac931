// Small dialogs: for a name, for a decision, and for a text to read.

import { element } from "../../vscode/panel/dom";
import { errorText } from "../../vscode/src/error-text";

let count = 0;

export interface Wanted {
  title: string;
  label: string;
  value: string;
  /** What the button says. */
  action: string;
  /** How much of the value is selected; all by default. */
  selected?: number;
}

/** Asks for a line. What `submit` throws is shown, and the dialog stays open. */
export function ask({ title, label, value, action, selected }: Wanted, submit: (line: string) => Promise<void> | void): void {
  const field = element("input", "field");
  field.type = "text";
  field.value = value;
  field.autocomplete = "off";
  field.spellcheck = false;
  const error = element("p", "error");
  error.id = `ask-${++count}`;
  error.setAttribute("role", "alert");
  field.setAttribute("aria-describedby", error.id);
  const { dialog, form } = dialogOf(title, action);
  form.prepend(element("label", "", element("span", "", label), field), error);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      await submit(field.value.trim());
      dialog.close();
    } catch (thrown) {
      error.textContent = errorText(thrown);
      field.focus();
    }
  });
  dialog.showModal();
  field.focus();
  field.setSelectionRange(0, selected ?? value.length);
}

/** Asks whether to do something that cannot be undone. */
export function confirmed(title: string, action: string, act: () => void): void {
  const { dialog, form } = dialogOf(title, action);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    dialog.close();
    act();
  });
  dialog.showModal();
}

/** Shows something to read. */
export function read(title: string, content: HTMLElement): void {
  const { dialog, form } = dialogOf(title, undefined);
  dialog.classList.add("reading");
  content.tabIndex = 0;
  content.setAttribute("role", "group");
  content.setAttribute("aria-label", title);
  form.before(content);
  dialog.showModal();
  content.focus();
}

function dialogOf(title: string, action: string | undefined): { dialog: HTMLDialogElement; form: HTMLFormElement } {
  const heading = element("h2", "", title);
  heading.id = `ask-${++count}`;
  const leave = element("button", "control", action === undefined ? "Close" : "Cancel");
  leave.type = "button";
  const buttons = element("div", "buttons", leave);
  if (action !== undefined) {
    const go = element("button", "control primary", action);
    go.type = "submit";
    buttons.append(go);
  }
  const form = element("form", "", buttons);
  const dialog = element("dialog", "", heading, form);
  dialog.setAttribute("aria-labelledby", heading.id);
  leave.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  return { dialog, form };
}
