// The editor with the language: it keeps the language up to date about the files, and shows what it says about them.

import type { EditorState } from "@codemirror/state";
import { errorText } from "../../vscode/src/error-text";
import { ask } from "./ask";
import type { Client } from "./client";
import { showDiagnostics } from "./editor/diagnostics";
import { Files } from "./editor/files";
import { setFolds } from "./editor/folds";
import { setProblems } from "./editor/problems";
import { type ListedPlace, setReferences } from "./editor/references";
import { extensionsOf } from "./editor/setup";
import { applyScheme, onScheme } from "./editor/theme";
import { setTokens } from "./editor/tokens";
import type { Diagnostic, Place } from "./language";
import { type File, isProgram } from "./program";

/** How long the text has to rest before it is coloured and checked, in milliseconds. */
const COLOUR = 20;
const CHECK = 150;

export interface EditorEvents {
  /** The text of a file, or the list of files, has changed. */
  changed(): void;
  /** Another file is shown. */
  shown(name: string): void;
  /** The cursor was moved. */
  moved(line: number): void;
  /** The shown file was checked; undefined if it is no program. */
  checked(found: readonly Diagnostic[] | undefined): void;
  explain(code: string): void;
  run(): void;
  /** Say something to the user. */
  say(text: string, isError?: boolean): void;
}

export class Editor {
  readonly files: Files;
  private colouring: ReturnType<typeof setTimeout> | undefined;
  private checking: ReturnType<typeof setTimeout> | undefined;
  /** The names that the language knows. */
  private readonly known = new Set<string>();

  constructor(
    private readonly client: Client,
    private readonly events: EditorEvents,
  ) {
    const actions = {
      complete: (offset: number) => client.call("completions", this.at(offset)),
      hover: (offset: number) => client.call("hover", this.at(offset)),
      define: (offset: number) => this.attempt(() => this.define(offset)),
      refer: (offset: number) => this.attempt(() => this.refer(offset)),
      rename: (offset: number) => this.attempt(() => this.rename(offset)),
      format: () => this.format(),
      run: () => events.run(),
      save: () => events.say("This browser keeps the files as they are."),
    };
    this.files = new Files(
      {
        changed: (name) => this.changed(name),
        shown: (name) => {
          applyScheme(this.files.view);
          events.shown(name);
          // What was found in another file is not about this one.
          events.checked(undefined);
          this.refresh();
        },
        moved: (line) => events.moved(line),
      },
      (name) => extensionsOf(name, isProgram(name), actions),
    );
    onScheme(() => applyScheme(this.files.view));
  }

  /** Shows other files instead of all that are there. */
  open(files: readonly File[]): void {
    for (const name of this.known) this.client.tell("removeFile", { name });
    this.known.clear();
    for (const { name, text } of files) this.send(name, text);
    this.files.replace(files);
  }

  add(name: string, text: string): void {
    this.files.add(name, text);
    this.files.show(name);
  }

  remove(name: string): void {
    this.files.remove(name);
    this.forget(name);
    this.events.changed();
    this.refresh();
  }

  renameFile(name: string, wanted: string): void {
    this.forget(name);
    this.files.rename(name, wanted);
  }

  format(): void {
    const { shown, view } = this.files;
    if (!isProgram(shown)) return;
    this.attempt(async () => {
      const { doc } = view.state;
      const edits = await this.client.call("format", { name: shown });
      if (shown !== this.files.shown || !view.state.doc.eq(doc)) return;
      this.files.edit(shown, edits);
      this.events.say(edits.length === 0 ? "The program is formatted already." : "The program was formatted.");
    });
  }

  /** Puts the cursor on the first mistake of a file. Returns whether there is one. */
  async showFirstMistake(name: string): Promise<boolean> {
    const found = await this.client.call("diagnostics", { name });
    const first = found.find(({ severity }) => severity === "error") ?? found[0];
    if (first === undefined) return false;
    this.files.select(name, first.from, first.from, false);
    return true;
  }

  /** Shows lines of a file, from 1. */
  showLines(name: string, first: number, last: number, keepsFocus: boolean): void {
    this.files.show(name);
    const state = this.files.state(name);
    if (state === undefined) return;
    const { lines } = state.doc;
    const start = state.doc.line(Math.min(first, lines));
    const end = state.doc.line(Math.min(Math.max(first, last), lines));
    const indent = start.text.length - start.text.trimStart().length;
    this.files.select(name, start.from + indent, end.to, keepsFocus);
  }

  /** Colours and checks the shown file. */
  refresh(): void {
    clearTimeout(this.colouring);
    clearTimeout(this.checking);
    if (!isProgram(this.files.shown)) {
      this.events.checked(undefined);
      return;
    }
    this.colouring = setTimeout(() => void this.colour(), COLOUR);
    this.checking = setTimeout(() => void this.check(), CHECK);
  }

  private changed(name: string): void {
    this.send(name, this.files.text(name));
    this.events.changed();
    this.refresh();
  }

  private send(name: string, text: string): void {
    this.known.add(name);
    this.client.tell("setFile", { name, text });
  }

  private forget(name: string): void {
    this.known.delete(name);
    this.client.tell("removeFile", { name });
  }

  private at(offset: number): { name: string; offset: number } {
    return { name: this.files.shown, offset };
  }

  private async colour(): Promise<void> {
    const { shown: name, view } = this.files;
    const { doc } = view.state;
    try {
      const [tokens, folds] = await Promise.all([this.client.call("tokens", { name }), this.client.call("folds", { name })]);
      if (name === this.files.shown && view.state.doc.eq(doc)) view.dispatch({ effects: [setTokens.of(tokens), setFolds.of(folds)] });
    } catch {
      // The text stays as it is; the page says why the language is not there.
    }
  }

  private async check(): Promise<void> {
    const { shown: name, view } = this.files;
    const { doc } = view.state;
    try {
      const found = await this.client.call("diagnostics", { name });
      if (name !== this.files.shown || !view.state.doc.eq(doc)) return;
      const events = {
        explain: this.events.explain,
        show: (place: Place) => this.show(place),
        lineOf: (place: Place) => this.listed(place).line,
      };
      view.dispatch(showDiagnostics(view.state, found, events), { effects: setProblems.of({ found, events }) });
      this.events.checked(found);
    } catch (error) {
      this.events.say(errorText(error), true);
    }
  }

  private show({ name, from, to }: Place): void {
    if (this.files.state(name) === undefined) this.events.say(`${name} is not one of the files.`, true);
    else this.files.select(name, from, to, false);
  }

  private async define(offset: number): Promise<void> {
    const places = await this.client.call("definition", this.at(offset));
    const [first] = places;
    if (first === undefined) this.events.say("No definition was found here.");
    else if (places.length > 1) this.list(places);
    else this.show({ ...first, to: first.from });
  }

  private async refer(offset: number): Promise<void> {
    const places = await this.client.call("references", this.at(offset));
    if (places.length === 0) this.events.say("No references were found here.");
    else this.list(places);
  }

  private list(places: readonly Place[]): void {
    const listed = places.map((place) => this.listed(place));
    this.files.view.dispatch({ effects: setReferences.of({ places: listed, show: (place) => this.show(place) }) });
  }

  private listed(place: Place): ListedPlace {
    const state: EditorState | undefined = this.files.state(place.name);
    if (state === undefined) return { ...place, line: 1, text: "" };
    const { number, text } = state.doc.lineAt(Math.min(place.from, state.doc.length));
    return { ...place, line: number, text };
  }

  private async rename(offset: number): Promise<void> {
    const place = this.at(offset);
    const { placeholder } = await this.client.call("renameable", place);
    ask({ title: `Rename ${placeholder}`, label: "New name", value: placeholder, action: "Rename" }, async (newName) => {
      for (const { name, edits } of await this.client.call("rename", { ...place, newName })) this.files.edit(name, edits);
      this.files.view.focus();
    });
  }

  /** Does something, and says why if it cannot be done. */
  private attempt(action: () => Promise<void>): void {
    action().catch((error: unknown) => this.events.say(errorText(error), true));
  }
}
