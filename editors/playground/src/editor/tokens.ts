// The colours of a program: the tokens that the language knows, as marks.

import { type Range, StateEffect, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView } from "@codemirror/view";
import type { Token } from "../language";

export const setTokens = StateEffect.define<readonly Token[]>();

const marks = new Map<string, Decoration>();

function markOf({ type, modifiers }: Token): Decoration {
  const name = [type, ...modifiers].map((part) => `tok-${part}`).join(" ");
  const mark = marks.get(name) ?? Decoration.mark({ class: name });
  marks.set(name, mark);
  return mark;
}

/** Between two answers, the marks move with the text. */
export const tokens = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(shown, transaction) {
    let next = shown.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (effect.is(setTokens)) next = Decoration.set(effect.value.flatMap((token): Range<Decoration>[] => (token.from < token.to ? [markOf(token).range(token.from, token.to)] : [])), true);
    }
    return next;
  },
  provide: (field) => EditorView.decorations.from(field),
});
