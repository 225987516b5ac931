// How lines are indented, and what is closed by itself.

import { indentService, indentUnit } from "@codemirror/language";
import { EditorState, type Extension } from "@codemirror/state";

const UNIT = 2;
/** A line that a body comes after. */
const OPENS = /^(?:[^#"]|"(?:[^"\\]|\\.)*")*:\s*(?:#.*)?$/;
/** A line that is on the level of the one before its body. */
const CONTINUES = /^\s*(?:elif\s.*|else|catch|catch\s+as\s.*|finally)\s*:\s*(?:#.*)?$/;
/** A line after which nothing of its body can come. */
const LEAVES = /^\s*(?:break|continue|(?:return|throw)(?:\s+[^{[(]*)?)\s*$/;

const width = (line: string): number => line.length - line.trimStart().length;

const service = indentService.of((context, position) => {
  const line = context.lineAt(position);
  let before = position - 1;
  let previous = "";
  // With a line that is about to be broken, what stands before the break is the previous line.
  while (before >= 0) {
    const { text, from } = context.lineAt(before, -1);
    if (text.trim() !== "") {
      previous = text;
      break;
    }
    before = from - 1;
  }
  if (previous.trim() === "") return 0;
  const level = width(previous);
  if (CONTINUES.test(line.text)) return Math.max(0, Math.min(width(line.text), level - (OPENS.test(previous) ? 0 : UNIT)));
  if (OPENS.test(previous)) return level + UNIT;
  return LEAVES.test(previous) ? Math.max(0, level - UNIT) : level;
});

export const indentation: Extension = [
  indentUnit.of(" ".repeat(UNIT)),
  EditorState.tabSize.of(UNIT),
  service,
  EditorState.languageData.of(() => [
    {
      commentTokens: { line: "#" },
      closeBrackets: { brackets: ["(", "[", "{", '"', '"""'], before: ")]}:;,.\"* " },
      indentOnInput: /^\s*(?:elif\s.*|else|catch|catch\s+as\s.*|finally)\s*:$/,
      wordChars: "-",
    },
  ]),
];
