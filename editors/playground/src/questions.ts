// The questions of a run, as a form under the toolbar: one at a time, in the order in which they were asked.

import { element } from "../../vscode/panel/dom";
import { errorText } from "../../vscode/src/error-text";
import type { Question } from "./language";

/** Answers a question; throws an error with a message for the user. */
export type Answer = (id: number, text: string) => Promise<void>;

export class Questions {
  private shown: number | undefined;
  private focused: Element | null = null;

  constructor(
    private readonly place: HTMLElement,
    private readonly answer: Answer,
  ) {}

  /** Shows the first of the open questions. */
  show(open: readonly Question[]): void {
    const [first] = open;
    if (first?.id === this.shown) return;
    if (first === undefined) return this.clear();
    if (this.shown === undefined) this.focused = document.activeElement;
    this.shown = first.id;
    this.place.hidden = false;
    this.place.replaceChildren(this.form(first));
    this.place.querySelector<HTMLElement>(".question-field, .choice")?.focus();
  }

  clear(): void {
    if (this.shown === undefined) return;
    const hadFocus = this.place.contains(document.activeElement);
    this.shown = undefined;
    this.place.hidden = true;
    this.place.replaceChildren();
    if (hadFocus && this.focused instanceof HTMLElement) this.focused.focus();
  }

  private form({ id, kind, text, line, choices, isOptional }: Question): HTMLFormElement {
    const name = `question-${id}`;
    const error = element("p", "error");
    error.id = `${name}-error`;
    error.setAttribute("role", "alert");
    const asked = kind === "input" ? `Line ${line} asks` : `Line ${line} asks for permission`;
    const form = element("form", "question");
    const label = element("label", "question-text", element("span", "facts", `${asked}: `), text);
    label.id = name;
    const buttons = element("div", "buttons");
    const send = async (value: string): Promise<void> => {
      error.textContent = "";
      const pressable = [...form.querySelectorAll("button")];
      // An answer is given once.
      for (const each of pressable) each.disabled = true;
      try {
        await this.answer(id, value);
        if (this.shown === id) this.clear();
      } catch (thrown) {
        for (const each of pressable) each.disabled = false;
        error.textContent = errorText(thrown);
        form.querySelector<HTMLElement>(".question-field, .choice")?.focus();
      }
    };
    form.append(label);
    if (choices.length === 0) form.append(this.field(label, error, form));
    else {
      buttons.setAttribute("role", "group");
      buttons.setAttribute("aria-labelledby", name);
      for (const { value, title } of choices) buttons.append(pressed("control choice", title, () => send(value)));
    }
    if (choices.length === 0) {
      const submit = element("button", "control primary", "Answer");
      submit.type = "submit";
      buttons.append(submit);
    }
    if (isOptional) buttons.append(pressed("control", "Skip", () => send("")));
    form.append(buttons, error);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      void send(form.querySelector("textarea")?.value ?? "");
    });
    return form;
  }

  /** A field that grows: Enter answers, Shift and Enter start a new line. */
  private field(label: HTMLLabelElement, error: HTMLElement, form: HTMLFormElement): HTMLTextAreaElement {
    const field = element("textarea", "field question-field");
    field.rows = 1;
    field.id = `${label.id}-field`;
    label.htmlFor = field.id;
    field.setAttribute("aria-describedby", error.id);
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      form.requestSubmit();
    });
    field.addEventListener("input", () => (field.rows = Math.min(8, field.value.split("\n").length)));
    return field;
  }
}

function pressed(style: string, text: string, press: () => Promise<void>): HTMLButtonElement {
  const created = element("button", style, text);
  created.type = "button";
  created.addEventListener("click", () => void press());
  return created;
}
