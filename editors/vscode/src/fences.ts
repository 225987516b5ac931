// The fenced programs of Markdown documents, as far as it takes to see whether there are any. Nothing here knows the editor.

// What stands before a fence in a list or a quote, and around the language behind it.
const FENCE = /^[ \t>*+\-\d.)]*(?:`{3,}|~{3,})[ \t,{]*(?:prose|openprose)(?:[ \t,{}]|$)/im;

/** Whether a Markdown text, or a line of one, opens a fence with a program. What only looks so costs a server that has nothing to say. */
export function opensFence(text: string): boolean {
  return FENCE.test(text);
}
