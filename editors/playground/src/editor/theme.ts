// The looks of the editor: the colours are those of the page, so that they are light or dark as it is.

import { Compartment, type Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";

const dark = matchMedia("(prefers-color-scheme: dark)");
const scheme = new Compartment();

const looks = EditorView.theme({
  "&": { height: "100%", color: "var(--text)", backgroundColor: "var(--back)", fontSize: "13px" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--vscode-editor-font-family)", lineHeight: "1.5", overflow: "auto" },
  ".cm-content": { caretColor: "var(--text)" },
  ".cm-cursor, .cm-dropCursor": { borderLeftColor: "var(--text)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { background: "var(--selection)" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--hover)" },
  ".cm-gutters": { color: "var(--muted)", backgroundColor: "var(--back)", borderRight: "1px solid var(--line)" },
  ".cm-foldGutter span": { padding: "0 3px" },
  ".cm-foldPlaceholder": { color: "var(--muted)", background: "var(--widget)", borderColor: "var(--line)" },
  ".cm-panels": { color: "var(--text)", backgroundColor: "var(--widget)" },
  ".cm-panels-bottom": { borderTop: "1px solid var(--line)" },
  ".cm-tooltip": { color: "var(--text)", backgroundColor: "var(--widget)", border: "1px solid var(--line)", borderRadius: "5px" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { color: "var(--text)", background: "var(--selection)" },
  ".cm-completionDetail": { color: "var(--muted)" },
  ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "bold" },
  ".cm-button": { color: "var(--text)", background: "none", border: "1px solid var(--line)" },
  ".cm-textfield": { color: "var(--text)", backgroundColor: "var(--back)", border: "1px solid var(--control)" },
  ".cm-diagnosticAction": { color: "var(--back)", backgroundColor: "var(--vscode-textLink-foreground)" },
  ".cm-matchingBracket, &.cm-focused .cm-matchingBracket": { backgroundColor: "var(--selected)" },
  ".cm-searchMatch": { backgroundColor: "var(--found)" },
  ".cm-snippetField": { backgroundColor: "var(--selected)" },
});

export const theme: Extension = [looks, scheme.of(EditorView.darkTheme.of(dark.matches))];

/** Gives a state the scheme of the system, which may have changed since it was made. */
export function applyScheme(view: EditorView): void {
  if (view.state.facet(EditorView.darkTheme) !== dark.matches) view.dispatch({ effects: scheme.reconfigure(EditorView.darkTheme.of(dark.matches)) });
}

/** Calls back when the scheme of the system changes. */
export function onScheme(changed: () => void): void {
  dark.addEventListener("change", changed);
}
