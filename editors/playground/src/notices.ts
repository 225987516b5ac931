// What the page says to the user in a line, which screen readers say as well.

import { element } from "../../vscode/panel/dom";

/** How long it stays, unless it is an error. */
const STAYS = 6000;

export class Notices {
  private readonly root = element("section", "notice");
  private readonly calm = element("span");
  private readonly urgent = element("span");
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    this.calm.setAttribute("role", "status");
    this.urgent.setAttribute("role", "alert");
    const close = element("button", "link", "Close");
    close.type = "button";
    close.addEventListener("click", () => this.clear());
    this.root.append(this.calm, this.urgent, close);
    this.root.setAttribute("aria-label", "Message");
    this.root.classList.add("is-empty");
    document.body.append(this.root);
  }

  say(text: string, isError = false): void {
    clearTimeout(this.timer);
    this.root.classList.remove("is-empty");
    this.root.classList.toggle("is-error", isError);
    this.calm.textContent = isError ? "" : text;
    this.urgent.textContent = isError ? sentence(text) : "";
    if (!isError) this.timer = setTimeout(() => this.clear(), STAYS);
  }

  clear(): void {
    clearTimeout(this.timer);
    this.root.classList.add("is-empty");
    this.calm.textContent = "";
    this.urgent.textContent = "";
  }
}

function sentence(text: string): string {
  return `Error: ${text}`;
}
