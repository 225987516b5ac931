// The tabs of the files.

import { element } from "../../vscode/panel/dom";
import { ask, confirmed } from "./ask";
import { isProgram, isScript, MAX_FILES, nameError } from "./program";

/** What the tabs show and change. */
export interface Tabbed {
  readonly names: string[];
  readonly shown: string;
  text(name: string): string;
  show(name: string): void;
  add(name: string): void;
  rename(name: string, wanted: string): void;
  remove(name: string): void;
}

export class Tabs {
  private readonly list = element("div", "tab-list");
  private readonly renames = tool("Rename", "Rename the file", () => this.rename());
  private readonly removes = tool("Remove", "Remove the file", () => this.remove());
  private readonly adds = tool("Add file", "Add a program or a script", () => this.add());

  constructor(
    place: HTMLElement,
    private readonly panel: HTMLElement,
    private readonly files: Tabbed,
  ) {
    this.list.setAttribute("role", "tablist");
    this.list.setAttribute("aria-label", "Files");
    this.list.addEventListener("keydown", (event) => this.press(event));
    panel.id = "text";
    panel.setAttribute("role", "tabpanel");
    place.append(this.list, element("div", "tab-tools", this.adds, this.renames, this.removes));
  }

  /** Shows the files as they are now. */
  draw(): void {
    const { names, shown } = this.files;
    const hadFocus = this.list.contains(document.activeElement);
    const tabs = names.map((name, index) => {
      const tab = element("button", "tab", name);
      tab.type = "button";
      tab.id = `tab-${index}`;
      tab.setAttribute("role", "tab");
      tab.setAttribute("aria-selected", String(name === shown));
      tab.setAttribute("aria-controls", this.panel.id);
      tab.tabIndex = name === shown ? 0 : -1;
      tab.addEventListener("click", () => this.files.show(name));
      tab.addEventListener("dblclick", () => this.rename());
      return tab;
    });
    this.list.replaceChildren(...tabs);
    this.panel.setAttribute("aria-labelledby", `tab-${names.indexOf(shown)}`);
    // One program has to stay.
    this.removes.disabled = isProgram(shown) && names.filter(isProgram).length < 2;
    this.adds.disabled = names.length >= MAX_FILES;
    const selected = tabs[names.indexOf(shown)];
    if (hadFocus) selected?.focus();
    selected?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  private press(event: KeyboardEvent): void {
    const { names, shown } = this.files;
    const at = names.indexOf(shown);
    const next = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: names.length - 1 }[event.key];
    const name = next === undefined ? undefined : names[(next + names.length) % names.length];
    if (name !== undefined) this.files.show(name);
    else if (event.key === "F2") this.rename();
    else if (event.key === "Delete" && !this.removes.disabled) this.remove();
    else return;
    event.preventDefault();
  }

  private add(): void {
    const { names } = this.files;
    let name = "library.prose";
    for (let number = 2; names.includes(name); number++) name = `library-${number}.prose`;
    const wanted = { title: "Add a file", label: "Name, which ends with .prose or .toml", value: name, action: "Add", selected: name.lastIndexOf(".") };
    ask(wanted, (line) => {
      this.check(line);
      this.files.add(line);
    });
  }

  private rename(): void {
    const { shown, names } = this.files;
    const wanted = { title: `Rename ${shown}`, label: "New name", value: shown, action: "Rename", selected: shown.lastIndexOf(".") };
    ask(wanted, (line) => {
      if (line === shown) return;
      this.check(line);
      if (isScript(line) && isProgram(shown) && names.filter(isProgram).length < 2) throw new Error("one file has to end with .prose");
      this.files.rename(shown, line);
    });
  }

  private remove(): void {
    const { shown } = this.files;
    const remove = (): void => this.files.remove(shown);
    if (this.files.text(shown).trim() === "") remove();
    else confirmed(`Remove ${shown} and its text?`, "Remove", remove);
  }

  private check(name: string): void {
    const error = nameError(name);
    if (error !== undefined) throw new Error(error);
    if (this.files.names.includes(name)) throw new Error(`there is a file ${name} already`);
  }
}

function tool(text: string, title: string, press: () => void): HTMLButtonElement {
  const created = element("button", "link", text);
  created.type = "button";
  created.title = title;
  created.addEventListener("click", press);
  return created;
}
