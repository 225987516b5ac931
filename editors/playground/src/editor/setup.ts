// What an editor of a file consists of.

import { closeBrackets, closeBracketsKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { bracketMatching, foldKeymap, indentOnInput } from "@codemirror/language";
import { lintGutter } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { type Extension, Prec } from "@codemirror/state";
import { drawSelection, dropCursor, EditorView, highlightActiveLine, highlightActiveLineGutter, highlightSpecialChars, keymap, lineNumbers } from "@codemirror/view";
import { type Ask, completion } from "./completion";
import { folding } from "./folds";
import { indentation } from "./indentation";
import { problemList } from "./problems";
import { references } from "./references";
import { theme } from "./theme";
import { type AskHover, tips } from "./tips";
import { tokens } from "./tokens";

/** What a program can be asked for. */
export interface Actions {
  complete: Ask;
  hover: AskHover;
  define(offset: number): void;
  refer(offset: number): void;
  rename(offset: number): void;
  format(): void;
  run(): void;
  save(): void;
}

/** The extensions of a file. */
export function extensionsOf(name: string, isProgram: boolean, actions: Actions): Extension {
  return [
    Prec.high(keymap.of([
      { key: "Mod-Enter", run: () => (actions.run(), true) },
      { key: "Mod-s", run: () => (actions.save(), true), preventDefault: true },
    ])),
    ...(isProgram ? ofPrograms(actions) : []),
    lineNumbers(),
    highlightActiveLineGutter(),
    highlightSpecialChars(),
    history(),
    drawSelection(),
    dropCursor(),
    indentOnInput(),
    bracketMatching(),
    closeBrackets(),
    highlightActiveLine(),
    highlightSelectionMatches(),
    search({ top: true }),
    references,
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({
      "aria-label": `Text of ${name}`,
      "aria-description": "Tab indents; press Escape, then Tab, to leave the editor.",
    }),
    keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...foldKeymap, indentWithTab]),
    theme,
  ];
}

function ofPrograms(actions: Actions): Extension[] {
  const at = (act: (offset: number) => void) => ({ state }: EditorView): boolean => (act(state.selection.main.head), true);
  return [
    Prec.high(keymap.of([
      { key: "F12", run: at(actions.define), shift: at(actions.refer), preventDefault: true },
      { key: "F2", run: at(actions.rename), preventDefault: true },
      { key: "Shift-Alt-f", run: () => (actions.format(), true), preventDefault: true },
    ])),
    tokens,
    lintGutter(),
    // Between the numbers and the text.
    Prec.low(folding),
    problemList,
    indentation,
    completion(actions.complete),
    tips(actions.hover),
    // What other editors have for a definition would be another cursor here.
    EditorView.clickAddsSelectionRange.of(({ altKey }) => altKey),
    EditorView.domEventHandlers({
      mousedown(event, view) {
        if (event.button !== 0 || !(event.ctrlKey || event.metaKey) || event.altKey) return false;
        const offset = view.posAtCoords({ x: event.clientX, y: event.clientY });
        if (offset !== null) actions.define(offset);
        return offset !== null;
      },
    }),
  ];
}
