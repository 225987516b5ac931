// Where the lines belong that go on with a statement above them: `else` with its `if`, `option` with its `choice`. The indentation rules of the
// language configuration see one line only, so they cannot tell the first `option` of a choice from the next, or an `if` from a loop in it.
// Nothing here knows the editor.

const NAME = String.raw`(?:_|\p{XID_Start})[\p{XID_Continue}-]*`;
// A statement may stand behind `let x =`, `x =`, `output x =` or `output`; its clauses are then in the column of the line.
const BEFORE = String.raw`^(?:(?:(?:let|const|output)\s+)?${NAME}\s*=\s*|output\s+)?`;
const owner = (keywords: string) => new RegExp(`${BEFORE}(?:${keywords})(?![\\p{XID_Continue}.-]|\\s*=(?!=))`, "u");

const CLAUSES: { clause: RegExp; owner: RegExp; inside: boolean }[] = [
  { clause: /^(?:elif\s|else\s*:)/, owner: owner("if|elif"), inside: false },
  { clause: /^(?:catch\s+as\s|catch\s*:|finally\s*:)/, owner: owner("try|catch"), inside: false },
  { clause: /^option\s/, owner: owner("choice"), inside: true },
];

/** What stands where a line begins. */
interface Line {
  indentation: number;
  code: string;
}

function line(text: string): Line {
  const code = text.trimStart();
  return { indentation: text.length - code.length, code };
}

/**
 * The number of spaces that the line should begin with, or none if it is right where it is, or is no clause. `above` are the lines above it, the
 * nearest first; `step` is how far a body is indented.
 */
export function clauseIndentation(text: string, above: Iterable<string>, step: number): number | undefined {
  const { indentation, code } = line(text);
  const kind = CLAUSES.find(({ clause }) => clause.test(code));
  if (kind === undefined) return undefined;
  // Only what encloses the line, or would if it were indented as the one above, can own it.
  let enclosing = Infinity;
  let nearest: number | undefined;
  for (const other of above) {
    const { indentation: column, code: statement } = line(other);
    if (statement === "" || statement.startsWith("#") || column >= enclosing) continue;
    enclosing = column;
    if (kind.owner.test(statement)) {
      const wanted = kind.inside ? column + step : column;
      if (wanted === indentation) return undefined;
      nearest ??= wanted;
    }
    if (column === 0) break;
  }
  return nearest;
}

/** Whether a text that begins with a program ends inside of a triple-quoted string. */
export function endsInText(program: string): boolean {
  return (program.split('"""').length - 1) % 2 === 1;
}
