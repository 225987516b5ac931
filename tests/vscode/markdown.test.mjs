// Programs in Markdown documents.

import { after, before } from "node:test";
import { Editor, test, until } from "./editor.mjs";

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

test("programs in fences are highlighted and checked, and run", async () => {
  await editor.window("fences", { "guide.md": document }, async (window) => {
    await window.open("guide.md");
    await until("the program has colours", async () => {
      const plain = await window.colour("It is one file.", "It is one file.");
      const keyword = await window.colour("let", "let draft = session: writer");
      const text = await window.colour("Write a paragraph", "Write a paragraph");
      return new Set([plain, keyword, text]).size === 3;
    });
    await window.lens("Run program").waitFor();
    await window.picture("vscode-markdown");

    await window.goTo(10, 30);
    await window.page.keyboard.type('"');
    await window.squiggles("error").first().waitFor();
    await window.page.keyboard.press("Backspace");
    await window.squiggles("error").first().waitFor({ state: "detached" });

    await window.lens("Run program").click();
    await window.hint("let draft", "✓").waitFor();
  });
});
