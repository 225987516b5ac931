// Snippets of the Language Server Protocol in the form that CodeMirror has for them.

const FIELD = /\\([\\$}])|\$(\d+)|\$\{(\d+)(?::((?:\\.|[^\\}])*)|\|((?:\\.|[^\\|])*)\|)?\}/g;

/** The number of the field where the cursor is in the end; fields are visited by their numbers. */
const LAST = 1000;

/** A template for `snippet` of CodeMirror. */
export function templateOf(snippet: string): string {
  let template = "";
  let at = 0;
  for (const match of snippet.matchAll(FIELD)) {
    const [all, escaped, bare, number = bare, text, choices] = match;
    template += literal(snippet.slice(at, match.index));
    at = match.index + all.length;
    if (escaped !== undefined) {
      template += literal(escaped);
      continue;
    }
    const name = (text ?? choices?.split(",")[0] ?? "").replace(/\\(.)/g, "$1");
    // The text of a field cannot have braces in CodeMirror.
    template += `\${${number === "0" ? LAST : number}:${name.replace(/[{}]/g, "")}}`;
  }
  return template + literal(snippet.slice(at));
}

function literal(text: string): string {
  return text.replace(/[{}]/g, "\\$&");
}
