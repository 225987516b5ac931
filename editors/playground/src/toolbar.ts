// The toolbar: what runs the program and how, the examples, and the link that shares it.

import { element, icon } from "../../vscode/panel/dom";
import { EXAMPLES } from "./examples";
import { DELAY, isProgram, isScript, MAX_DELAY, type Program } from "./program";
import type { State } from "./run";

export interface ToolbarEvents {
  run(): void;
  stop(): void;
  pause(): void;
  continue(): void;
  format(): void;
  share(): void;
  example(name: string): void;
  /** How the program is run has changed. */
  changed(): void;
  /** The scripted harness was chosen. */
  scripted(): void;
}

/** How a program is run. */
export type Options = Pick<Program, "harness" | "seed" | "delay">;

export class Toolbar {
  private readonly runs = control("play", "Run", "Run the program (Ctrl+Enter)", () => this.events.run());
  private readonly stops = control("stop", "Stop", "Stop the run", () => this.events.stop());
  private readonly pauses = control("pause", "Pause", "Running sessions complete, and no new one starts", () => this.events.pause());
  private readonly continues = control("play", "Continue", "Continue the run", () => this.events.continue());
  private readonly harness = element("select", "field");
  private readonly program = element("select", "field");
  private readonly script = element("select", "field");
  private readonly seed = number(Number.MAX_SAFE_INTEGER);
  private readonly delay = number(MAX_DELAY);
  private readonly programLabel = labelled("Program", this.program);
  private readonly scriptLabel = labelled("Script", this.script);
  private readonly delayLabel = labelled("Delay in ms", this.delay);

  constructor(
    place: HTMLElement,
    private readonly events: ToolbarEvents,
  ) {
    this.harness.append(option("offline", "Offline: generated"), option("script", "Script: your own"));
    this.harness.addEventListener("change", () => {
      this.drawHarness();
      if (this.harness.value === "script") events.scripted();
      events.changed();
    });
    for (const field of [this.seed, this.delay]) field.addEventListener("change", () => events.changed());
    const examples = element("select", "field", option("", "Open an example"), ...Object.entries(EXAMPLES).map(([name, { title }]) => option(name, title)));
    examples.addEventListener("change", () => {
      const { value } = examples;
      // It offers to open one again.
      examples.value = "";
      if (value !== "") events.example(value);
    });
    this.seed.title = "The same seed gives the same replies";
    this.delay.title = "How long each reply takes";
    const runs = element("div", "controls", this.runs, this.stops, this.pauses, this.continues);
    const options = element("div", "controls", labelled("Replies", this.harness), this.scriptLabel, labelled("Seed", this.seed), this.delayLabel, this.programLabel);
    const others = element("div", "controls others", labelled("Examples", examples), plain("Format", "Format the program (Shift+Alt+F)", () => events.format()), plain("Share", "Copy a link to this program", () => events.share()));
    for (const [group, name] of [[runs, "Run"], [options, "How it is run"], [others, "Program"]] as const) {
      group.setAttribute("role", "group");
      group.setAttribute("aria-label", name);
    }
    place.append(element("h1", "", "OpenProse playground"), runs, options, others);
    this.show("idle");
    this.drawHarness();
  }

  get options(): Options {
    return {
      harness: this.harness.value === "script" ? "script" : "offline",
      seed: whole(this.seed, 0, Number.MAX_SAFE_INTEGER),
      delay: whole(this.delay, DELAY, MAX_DELAY),
    };
  }

  set options({ harness, seed, delay }: Options) {
    this.harness.value = harness;
    this.seed.value = String(seed);
    this.delay.value = String(delay);
    this.drawHarness();
  }

  /** The program that is run. */
  get chosen(): string {
    return this.program.value;
  }

  /** The script that has the replies, if there is one. */
  get chosenScript(): string | undefined {
    return this.script.value || undefined;
  }

  /** Offers the files that are there now. */
  setFiles(names: readonly string[]): void {
    fill(this.program, names.filter(isProgram));
    fill(this.script, names.filter(isScript));
    this.programLabel.hidden = this.program.length < 2;
    this.drawHarness();
  }

  show(state: State): void {
    const hadFocus = document.activeElement;
    this.runs.hidden = state !== "idle";
    this.stops.hidden = state === "idle";
    this.pauses.hidden = state !== "running";
    this.continues.hidden = state !== "paused";
    // What has the focus and is hidden passes it on.
    if (hadFocus === this.runs && state !== "idle") this.stops.focus();
    else if (hadFocus === this.pauses && state === "paused") this.continues.focus();
    else if (hadFocus === this.continues && state === "running") this.pauses.focus();
    else if (hadFocus !== null && [this.stops, this.pauses, this.continues].includes(hadFocus as HTMLButtonElement) && state === "idle") this.runs.focus();
  }

  private drawHarness(): void {
    const isScripted = this.harness.value === "script";
    this.scriptLabel.hidden = !isScripted || this.script.length < 2;
    // The replies of a script have delays of their own.
    this.delayLabel.hidden = isScripted;
  }
}

function control(picture: string, text: string, title: string, press: () => void): HTMLButtonElement {
  const created = element("button", "control", icon(picture), element("span", "", text));
  created.type = "button";
  created.title = title;
  created.addEventListener("click", press);
  return created;
}

function plain(text: string, title: string, press: () => void): HTMLButtonElement {
  const created = element("button", "control", text);
  created.type = "button";
  created.title = title;
  created.addEventListener("click", press);
  return created;
}

function labelled(text: string, field: HTMLElement): HTMLLabelElement {
  return element("label", "labelled", element("span", "", text), field);
}

function number(most: number): HTMLInputElement {
  const field = element("input", "field number");
  field.type = "number";
  field.min = "0";
  field.max = String(most);
  field.step = "1";
  field.value = "0";
  return field;
}

function whole(field: HTMLInputElement, without: number, most: number): number {
  const value = field.value.trim() === "" ? without : Math.floor(Number(field.value));
  return Number.isFinite(value) ? Math.min(most, Math.max(0, value)) : without;
}

function option(value: string, text: string): HTMLOptionElement {
  const created = element("option", "", text);
  created.value = value;
  return created;
}

function fill(field: HTMLSelectElement, names: readonly string[]): void {
  const before = field.value;
  field.replaceChildren(...names.map((name) => option(name, name)));
  if (names.includes(before)) field.value = before;
}
