// The list of places of a name, under the text.

import { type Extension, StateEffect, StateField } from "@codemirror/state";
import { type Command, EditorView, keymap, type Panel, showPanel } from "@codemirror/view";
import { element } from "../../../vscode/panel/dom";
import type { Place } from "../language";

/** A place with its line. */
export interface ListedPlace extends Place {
  line: number;
  text: string;
}

export const setReferences = StateEffect.define<{ places: readonly ListedPlace[]; show: (place: Place) => void } | null>();

const list = StateField.define<((view: EditorView) => Panel) | null>({
  create: () => null,
  update(shown, { effects }) {
    for (const effect of effects) if (effect.is(setReferences)) return effect.value === null ? null : panelOf(effect.value.places, effect.value.show);
    return shown;
  },
  provide: (field) => showPanel.from(field),
});

const close: Command = (view) => {
  if (view.state.field(list, false) == null) return false;
  view.dispatch({ effects: setReferences.of(null) });
  view.focus();
  return true;
};

function panelOf(places: readonly ListedPlace[], show: (place: Place) => void): (view: EditorView) => Panel {
  return (view) => {
    const rows = places.map((place) => {
      const link = element("button", "link place", element("span", "facts", `${place.name}:${place.line}`), element("code", "", place.text.trim()));
      link.type = "button";
      link.addEventListener("click", () => show(place));
      return element("li", "", link);
    });
    const end = element("button", "link", "Close");
    end.type = "button";
    end.addEventListener("click", () => close(view));
    const title = `${places.length} ${places.length === 1 ? "reference" : "references"}`;
    const dom = element("div", "references", element("div", "references-head", element("strong", "", title), end), element("ul", "", ...rows));
    dom.setAttribute("role", "group");
    dom.setAttribute("aria-label", title);
    dom.addEventListener("keydown", (event) => {
      const buttons = [...dom.querySelectorAll<HTMLButtonElement>(".place")];
      const at = buttons.indexOf(event.target as HTMLButtonElement);
      if (event.key === "Escape") close(view);
      else if (event.key === "ArrowDown") buttons[Math.min(at + 1, buttons.length - 1)]?.focus();
      else if (event.key === "ArrowUp" && at > 0) buttons[at - 1]?.focus();
      else return;
      event.preventDefault();
    });
    return { dom, mount: () => dom.querySelector<HTMLButtonElement>(".place")?.focus() };
  };
}

export const references: Extension = [list, keymap.of([{ key: "Escape", run: close }])];
