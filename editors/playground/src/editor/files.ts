// The editor of the files: one view, with a state for each file, so that each has its own history and cursor.

import { type ChangeSpec, EditorState, type Extension, type Transaction } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import type { Edit } from "../language";
import type { File } from "../program";

export interface FilesEvents {
  /** A file was added, or its text was changed. */
  changed(name: string): void;
  /** Another file is shown. */
  shown(name: string): void;
  /** The cursor was moved. */
  moved(line: number): void;
}

export class Files {
  readonly view: EditorView;
  /** The states of the files that are not shown; that of the shown one is in the view. */
  private readonly states = new Map<string, EditorState>();
  private current = "";

  constructor(
    private readonly events: FilesEvents,
    private readonly extensions: (name: string) => Extension,
  ) {
    this.view = new EditorView({ dispatchTransactions: (transactions) => this.dispatch(transactions) });
  }

  /** The name of the shown file. */
  get shown(): string {
    return this.current;
  }

  get names(): string[] {
    return [...this.states.keys()];
  }

  /** The state of a file. */
  state(name: string): EditorState | undefined {
    return name === this.current ? this.view.state : this.states.get(name);
  }

  text(name: string): string {
    return this.state(name)?.doc.toString() ?? "";
  }

  all(): File[] {
    return this.names.map((name) => ({ name, text: this.text(name) }));
  }

  /** Replaces everything by other files. */
  replace(files: readonly File[]): void {
    this.states.clear();
    this.current = "";
    for (const { name, text } of files) this.states.set(name, this.created(name, text));
    const [first] = files;
    if (first !== undefined) this.show(first.name);
  }

  add(name: string, text: string): void {
    this.states.set(name, this.created(name, text));
    this.events.changed(name);
  }

  remove(name: string): void {
    const { names } = this;
    const at = names.indexOf(name);
    this.states.delete(name);
    if (name !== this.current) return;
    this.current = "";
    const next = names[at + 1] ?? names[at - 1];
    if (next !== undefined) this.show(next);
  }

  /** Gives a file another name, in its place among the others. */
  rename(name: string, wanted: string): void {
    const files = this.all();
    const isShown = name === this.current;
    const shown = isShown ? wanted : this.current;
    const states = new Map(this.states);
    if (this.current !== "") states.set(this.current, this.view.state);
    this.states.clear();
    for (const { name: each, text } of files) {
      const kept = states.get(each);
      this.states.set(each === name ? wanted : each, each === name || kept === undefined ? this.created(wanted, text) : kept);
    }
    this.current = "";
    this.show(shown);
    this.events.changed(wanted);
  }

  show(name: string): void {
    const state = this.states.get(name);
    if (state === undefined || name === this.current) return;
    if (this.current !== "") this.states.set(this.current, this.view.state);
    this.current = name;
    this.view.setState(state);
    this.events.shown(name);
  }

  /** Shows a part of a file. */
  select(name: string, from: number, to: number, keepsFocus: boolean): void {
    if (!this.states.has(name)) return;
    this.show(name);
    const { length } = this.view.state.doc;
    const selection = { anchor: Math.min(from, length), head: Math.min(to, length) };
    this.view.dispatch({ selection, effects: EditorView.scrollIntoView(selection.anchor, { y: "center" }) });
    if (!keepsFocus) this.view.focus();
  }

  /** Changes a file, also one that is not shown. */
  edit(name: string, edits: readonly Edit[]): void {
    const changes: ChangeSpec[] = edits.map(({ from, to, insert }) => ({ from, to, insert }));
    if (changes.length === 0) return;
    if (name === this.current) {
      this.view.dispatch({ changes, userEvent: "input.edit" });
      return;
    }
    const state = this.states.get(name);
    if (state === undefined) return;
    this.states.set(name, state.update({ changes }).state);
    this.events.changed(name);
  }

  private created(name: string, text: string): EditorState {
    return EditorState.create({ doc: text, extensions: this.extensions(name) });
  }

  private dispatch(transactions: readonly Transaction[]): void {
    this.view.update(transactions);
    const { state } = this.view;
    if (transactions.some(({ docChanged }) => docChanged)) this.events.changed(this.current);
    if (transactions.some(({ docChanged, selection }) => docChanged || selection !== undefined)) this.events.moved(state.doc.lineAt(state.selection.main.head).number);
  }
}
