// What the user is told about a program that is not their own.

import { element } from "../../vscode/panel/dom";

export interface NoteEvents {
  /** Show the user's own program again. */
  back(): void;
  /** Make the shown program the user's own one. */
  keep(): void;
}

export class NoteOfProgram {
  private readonly says = element("span");

  constructor(
    private readonly place: HTMLElement,
    events: NoteEvents,
  ) {
    this.says.setAttribute("role", "status");
    place.append(this.says, button("Back to my program", () => events.back()), button("Keep as my program", () => events.keep()));
  }

  show(about: string): void {
    this.place.hidden = false;
    this.says.textContent = `${about} Your own program is kept.`;
  }

  hide(): void {
    this.place.hidden = true;
  }
}

function button(text: string, press: () => void): HTMLButtonElement {
  const created = element("button", "link", text);
  created.type = "button";
  created.addEventListener("click", press);
  return created;
}
