// Running programs from the editor.

import assert from "node:assert/strict";
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Editor, write } from "./editor.mjs";

let editor;
before(async () => (editor = await Editor.start()));
after(() => editor.stop());

const program = `input topic: "What should it be about?"

agent writer:
  model: sonnet
  prompt: "You write for people in a hurry."

let outline = session: writer
  prompt: "Make an outline about {topic}."

parallel:
  facts = session "Check the facts."
    context: outline
  title = session "Find a title."
    context: outline

output article = session: writer
  prompt: "Write the article."
  context: [facts, title]
`;

const agent = [process.execPath, fileURLToPath(new URL("agent.mjs", import.meta.url))];
const settings = `[run]\nharness = "command"\ncommand = ${JSON.stringify(agent)}\n`;

const files = { "article.prose": program, "prose.toml": settings, "replies.json": "{}" };

/** Has the agent end the sessions whose prompts hold the keys. */
function reply(window, replies) {
  write(window.folder, { "replies.new": JSON.stringify(replies) });
  renameSync(join(window.folder, "replies.new"), join(window.folder, "replies.json"));
}

test("a program is run, watched, cancelled and resumed", async () => {
  await editor.window("article", files, async (window) => {
    await window.open("article.prose");
    await window.lens("Run program").click();

    const question = window.page.locator(".quick-input-widget", { hasText: "What should it be about?" });
    await question.waitFor();
    await window.picture("vscode-input");
    await question.locator("input").fill("tides");
    await window.page.keyboard.press("Enter");

    await window.hint("let outline", "running").waitFor();
    await window.lens("Stop").waitFor();
    const replies = { "Make an outline": "1. The moon\n2. The harbour", "Check the facts": "Both are true." };
    reply(window, replies);
    await window.hint("let outline", "1. The moon").waitFor();
    await window.hint("facts = session", "Both are true.").waitFor();
    await window.hint("title = session", "running").waitFor();
    await window.picture("vscode-run");

    await window.lens("Stop").click();
    await window.hint("title = session", "stopped").waitFor();
    await window.lens("Resume last run").waitFor();

    reply(window, { ...replies, "Find a title": "Why the sea comes back", "Write the article": "It is the moon." });
    await window.lens("Resume last run").click();
    await window.hint("output article", "It is the moon.").waitFor();
    await window.notification("article.prose").waitFor();
    await window.picture("vscode-ended");
  });
});
