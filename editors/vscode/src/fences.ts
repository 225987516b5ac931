// Detects fenced programs in Markdown documents. Independent of the editor.

// The marks before a fence in a list or a quote, and the characters around its language.
const FENCE = /^[ \t>*+\-\d.)]*(?:`{3,}|~{3,})[ \t,{]*(?:prose|openprose)(?:[ \t,{}]|$)/im;

/** Whether a Markdown text, or one line of it, opens a fence with a program. A false positive only starts the server early. */
export function opensFence(text: string): boolean {
  return FENCE.test(text);
}
