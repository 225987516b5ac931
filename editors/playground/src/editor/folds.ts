// The parts of a program that can be folded.

import { codeFolding, foldGutter, foldService } from "@codemirror/language";
import { type EditorState, type Extension, StateEffect, StateField } from "@codemirror/state";
import type { Span } from "../language";

export const setFolds = StateEffect.define<readonly Span[]>();

const folds = StateField.define<readonly Span[]>({
  create: () => [],
  update(known, transaction) {
    let next = known;
    if (transaction.docChanged) next = next.map(({ from, to }) => ({ from: transaction.changes.mapPos(from, 1), to: transaction.changes.mapPos(to, -1) }));
    for (const effect of transaction.effects) if (effect.is(setFolds)) next = effect.value;
    return next;
  },
});

/** What stays visible of a fold is its first line. */
function foldAt(state: EditorState, start: number, end: number): Span | null {
  for (const fold of state.field(folds)) {
    if (fold.from < start || fold.from > end || fold.to <= end) continue;
    const last = state.doc.lineAt(fold.to);
    const to = fold.to === last.from ? last.from - 1 : last.to;
    if (to > end) return { from: end, to };
  }
  return null;
}

export const folding: Extension = [
  folds,
  foldService.of(foldAt),
  codeFolding(),
  // The gutter does not know otherwise that parts came to be known.
  foldGutter({ foldingChanged: ({ startState, state }) => startState.field(folds) !== state.field(folds) }),
];
