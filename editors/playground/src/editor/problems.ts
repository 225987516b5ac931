// The list of the diagnostics of a file, under the text: that of CodeMirror puts buttons into options, which screen readers do not reach.

import { nextDiagnostic } from "@codemirror/lint";
import { type Extension, StateEffect, StateField } from "@codemirror/state";
import { type Command, type EditorView, keymap, type Panel, showPanel, type ViewUpdate } from "@codemirror/view";
import { element } from "../../../vscode/panel/dom";
import type { Diagnostic } from "../language";
import { applyFix, type DiagnosticsEvents, message } from "./diagnostics";

interface Problems {
  isOpen: boolean;
  found: readonly Diagnostic[];
  events: DiagnosticsEvents | undefined;
}

export const setProblems = StateEffect.define<{ found: readonly Diagnostic[]; events: DiagnosticsEvents }>();
const setOpen = StateEffect.define<boolean>();

const problems = StateField.define<Problems>({
  create: () => ({ isOpen: false, found: [], events: undefined }),
  update(known, { effects }) {
    let next = known;
    for (const effect of effects) {
      if (effect.is(setProblems)) next = { ...next, ...effect.value };
      else if (effect.is(setOpen)) next = { ...next, isOpen: effect.value };
    }
    return next;
  },
  provide: (field) => showPanel.from(field, ({ isOpen }) => (isOpen ? panel : null)),
});

/** Opens the list, and puts the focus into it. */
export const openProblems: Command = (view) => {
  if (view.state.field(problems, false) === undefined) return false;
  view.dispatch({ effects: setOpen.of(true) });
  const list = view.dom.querySelector(".problems");
  (list?.querySelector<HTMLElement>(".place") ?? list?.querySelector("button"))?.focus();
  return true;
};

const close: Command = (view) => {
  if (view.state.field(problems, false)?.isOpen !== true) return false;
  view.dispatch({ effects: setOpen.of(false) });
  view.focus();
  return true;
};

function panel(view: EditorView): Panel {
  const end = button("Close", () => close(view));
  const list = element("ul");
  const dom = element("div", "references problems", element("div", "references-head", element("strong", "", "Problems"), end), list);
  dom.setAttribute("role", "group");
  dom.setAttribute("aria-label", "Problems");
  dom.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    close(view);
  });
  const draw = (): void => {
    const { found, events } = view.state.field(problems);
    const hadFocus = list.contains(document.activeElement);
    list.replaceChildren(...found.map((diagnostic) => entry(view, diagnostic, events)));
    if (found.length === 0) list.append(element("li", "facts", "No problems"));
    if (hadFocus) (list.querySelector<HTMLElement>(".place") ?? end).focus();
  };
  draw();
  return {
    dom,
    update({ startState, state }: ViewUpdate) {
      if (startState.field(problems).found !== state.field(problems).found) draw();
    },
  };
}

function entry(view: EditorView, diagnostic: Diagnostic, events: DiagnosticsEvents | undefined): HTMLElement {
  const { doc } = view.state;
  const { from, to, severity, fixes } = diagnostic;
  const line = doc.lineAt(Math.min(from, doc.length)).number;
  const go = button(`${severity} in line ${line}`, () => {
    const { length } = view.state.doc;
    view.dispatch({ selection: { anchor: Math.min(from, length), head: Math.min(to, length) }, scrollIntoView: true });
    view.focus();
  });
  go.classList.add("place");
  const actions = fixes.map((fix) => {
    const created = button(fix.title, () => applyFix(view, fix, doc));
    created.classList.add("fix");
    return created;
  });
  return element("li", `problem is-${severity}`, go, ...(events === undefined ? [] : [message(diagnostic, events)]), ...actions);
}

function button(text: string, press: () => void): HTMLButtonElement {
  const created = element("button", "link", text);
  created.type = "button";
  created.addEventListener("click", press);
  return created;
}

export const problemList: Extension = [
  problems,
  keymap.of([
    { key: "Mod-Shift-m", run: openProblems, preventDefault: true },
    { key: "F8", run: nextDiagnostic },
    { key: "Escape", run: close },
  ]),
];
