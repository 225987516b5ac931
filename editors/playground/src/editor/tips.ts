// What the language says about the text under the pointer, or at the cursor for those who use the keyboard.

import { type Extension, StateEffect, StateField } from "@codemirror/state";
import { type Command, hoverTooltip, keymap, showTooltip, type Tooltip } from "@codemirror/view";
import type { Hover } from "../language";
import { markdown } from "../markdown";

export type AskHover = (offset: number) => Promise<Hover | null>;

const setTip = StateEffect.define<Tooltip | null>();

/** The tip at the cursor, which goes when the cursor or the text does. */
const tip = StateField.define<Tooltip | null>({
  create: () => null,
  update(shown, transaction) {
    const effect = transaction.effects.find((each) => each.is(setTip));
    if (effect !== undefined) return effect.value as Tooltip | null;
    return transaction.docChanged || transaction.selection !== undefined ? null : shown;
  },
  provide: (field) => showTooltip.from(field),
});

function tooltip({ from, to, markdown: text }: Hover): Tooltip {
  return {
    pos: from,
    end: to,
    above: true,
    create: () => ({ dom: element(text) }),
  };
}

function element(text: string): HTMLElement {
  const shown = markdown(text);
  shown.classList.add("hover");
  shown.setAttribute("role", "status");
  return shown;
}

export function tips(ask: AskHover): Extension {
  const atCursor: Command = (view) => {
    const { state } = view;
    ask(state.selection.main.head).then(
      (found) => {
        if (found !== null && view.state.doc.eq(state.doc)) view.dispatch({ effects: setTip.of(tooltip(found)) });
      },
      () => {},
    );
    return true;
  };
  const close: Command = (view) => {
    if (view.state.field(tip) === null) return false;
    view.dispatch({ effects: setTip.of(null) });
    return true;
  };
  return [
    tip,
    hoverTooltip(async (_, position) => {
      const found = await ask(position).catch(() => null);
      return found === null ? null : tooltip(found);
    }, { hideOnChange: true }),
    keymap.of([
      { key: "F1", run: atCursor, preventDefault: true },
      { key: "Escape", run: close },
    ]),
  ];
}
