// Programs in Markdown documents.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Editor } from "./editor.mjs";

let editor;
before(async () => (editor = await Editor.start()));
after(() => editor.stop());

const document = `# How to write

A program says who writes:

\`\`\`prose
agent writer:
  model: sonnet

let draft = session: writer
  prompt: "Write a paragraph."
\`\`\`

It is one file.
`;

test("programs in fences are highlighted", async () => {
  await editor.window("fences", { "guide.md": document }, async (window) => {
    await window.open("guide.md");
    const colour = (text, line) => window.token(text, line).evaluate((token) => getComputedStyle(token).color);
    const prose = await colour("It is one file.", "It is one file.");
    assert.notEqual(await colour("let", "let draft = session: writer"), prose);
    assert.notEqual(await colour("Write a paragraph.", "Write a paragraph."), prose);
    await window.picture("vscode-markdown");
  });
});
