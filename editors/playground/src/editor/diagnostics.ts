// The diagnostics of a file: marks in the text and in the gutter, with messages, explanations and fixes.

import { type Action, type Diagnostic as Shown, setDiagnostics } from "@codemirror/lint";
import type { EditorState, Text, TransactionSpec } from "@codemirror/state";
import type { EditorView } from "@codemirror/view";
import { element } from "../../../vscode/panel/dom";
import type { Diagnostic, Fix, Place } from "../language";

export interface DiagnosticsEvents {
  /** Explain a code. */
  explain(code: string): void;
  /** Show a place. */
  show(place: Place): void;
  /** The line of a place, from 1. */
  lineOf(place: Place): number;
}

const SEVERITIES = { error: "error", warning: "warning", information: "info", hint: "hint" } as const;

/** Shows diagnostics of the text as it is now. */
export function showDiagnostics(state: EditorState, found: readonly Diagnostic[], events: DiagnosticsEvents): TransactionSpec {
  const { length } = state.doc;
  const shown = found.map((diagnostic): Shown => ({
    from: Math.min(diagnostic.from, length),
    to: Math.min(diagnostic.to, length),
    severity: SEVERITIES[diagnostic.severity],
    message: diagnostic.message,
    ...(diagnostic.tag === null ? {} : { markClass: `is-${diagnostic.tag}` }),
    renderMessage: () => message(diagnostic, events),
    actions: actions(diagnostic, state),
  }));
  return setDiagnostics(state, shown);
}

function actions({ fixes }: Diagnostic, { doc }: EditorState): Action[] {
  return fixes.map((fix) => ({ name: fix.title, apply: (view) => applyFix(view, fix, doc) }));
}

/** Repairs a text that was checked. A text that was changed since then gets its own fixes in a moment. */
export function applyFix(view: EditorView, { edits }: Fix, checked: Text): void {
  if (view.state.doc.eq(checked)) view.dispatch({ changes: edits.map(({ from, to, insert }) => ({ from, to, insert })), userEvent: "input.fix" });
}

/** What a diagnostic says, with what leads further. */
export function message({ code, message, related }: Diagnostic, events: DiagnosticsEvents): HTMLElement {
  const explain = element("button", "link code", code);
  explain.type = "button";
  explain.title = `Explain ${code}`;
  explain.setAttribute("aria-label", `Explain ${code}`);
  explain.addEventListener("click", () => events.explain(code));
  const shown = element("div", "message", element("span", "", `${message} `), explain);
  for (const place of related) {
    const link = element("button", "link", `${place.name}:${events.lineOf(place)}`);
    link.type = "button";
    link.addEventListener("click", () => events.show(place));
    shown.append(element("div", "related", link, ` ${place.message}`));
  }
  return shown;
}
