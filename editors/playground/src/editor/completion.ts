// Completion: what the language offers at the cursor.

import { autocompletion, type Completion as Option, type CompletionContext, type CompletionResult, snippet, startCompletion } from "@codemirror/autocomplete";
import type { Extension } from "@codemirror/state";
import type { EditorView } from "@codemirror/view";
import type { Completion } from "../language";
import { markdown } from "../markdown";
import { templateOf } from "../snippet";

/** The completions at an offset of the shown file. */
export type Ask = (offset: number) => Promise<Completion[]>;

/** What a name may be continued with while the list is open. */
const WORD = /^[\p{ID_Continue}-]*$/u;

/** The pictures of CodeMirror for the kinds. */
const TYPES: Record<Completion["kind"], string> = {
  keyword: "keyword",
  agent: "class",
  block: "function",
  program: "namespace",
  variable: "variable",
  parameter: "variable",
  constant: "constant",
  property: "property",
  value: "enum",
  field: "property",
  file: "text",
  snippet: "text",
};

export function completion(ask: Ask): Extension {
  let asked: { context: CompletionContext; items: Promise<Completion[]> } | undefined;
  const items = (context: CompletionContext): Promise<Completion[]> => {
    // Both sources want the same answer.
    if (asked?.context.state !== context.state || asked.context.pos !== context.pos) asked = { context, items: ask(context.pos).catch(() => []) };
    return asked.items;
  };
  // A result has one start for all of its options, but some replace more than the word before the cursor.
  const source = (which: "word" | "more") => async (context: CompletionContext): Promise<CompletionResult | null> => {
    const all = await items(context);
    const word = all.reduce((latest, { from }) => Math.max(latest, from), 0);
    const wanted = which === "word" ? all.filter(({ from }) => from === word) : all.filter(({ from }) => from !== word);
    const [first] = wanted;
    if (context.aborted || first === undefined) return null;
    const { from } = first;
    const options = wanted.filter((item) => item.from === from).map((item) => optionOf(item, all.indexOf(item), context.pos));
    return which === "word" ? { from, options, validFor: WORD } : { from, options };
  };
  return autocompletion({ override: [source("word"), source("more")], icons: true, tooltipClass: () => "completion" });
}

function optionOf(item: Completion, order: number, asked: number): Option {
  const { label, filter, detail, documentation, kind } = item;
  return {
    label: filter ?? label,
    displayLabel: label,
    ...(detail === null ? {} : { detail }),
    ...(documentation === null ? {} : { info: () => markdown(documentation) }),
    type: TYPES[kind],
    sortText: String(order).padStart(5, "0"),
    // Among options that match as well, the order is that of the language.
    boost: Math.max(-50, -order / 10),
    apply: (view, option, from, to) => apply(view, item, option, from, to + (item.to - asked)),
  };
}

function apply(view: EditorView, item: Completion, option: Option, from: number, to: number): void {
  const end = Math.min(to, view.state.doc.length);
  const template = item.snippet === null ? item.insert.replace(/[{}]/g, "\\$&") : templateOf(item.snippet);
  snippet(template)(view, option, from, Math.max(from, end));
  if (item.continues) startCompletion(view);
}
