// Runs on the workers of a cluster, which a terminal of the editor follows.

import { after, before } from "node:test";
import { Editor, needed, test } from "./editor.mjs";

let editor;
const settings = {
  "prose.cluster.url": needed("PROSE_CLUSTER_URL"),
  // What a terminal shows is text in the page.
  "terminal.integrated.gpuAcceleration": "off",
};
before(async () => (editor = await Editor.start({ settings })));
after(() => editor.stop());

const program = `input topic: "What to write about"

output text = session "Write about {topic}"
`;

test("a program is run on a cluster, asks in the terminal, and is listed", async () => {
  await editor.window("cluster", { "article.prose": program }, async (window) => {
    const { page } = window;
    const terminal = page.locator(".terminal-wrapper.active .xterm-rows, .terminal-wrapper .xterm-rows").last();
    await window.open("article.prose");
    await window.lens("Run program").waitFor();
    await window.command("OpenProse: Run on Cluster");
    await terminal.filter({ hasText: "What to write about" }).waitFor();
    await page.locator(".terminal-wrapper .xterm-helper-textarea").last().focus();
    // The screen answers a question after its key; a run without a screen takes the line as it is.
    await page.keyboard.type("tides\n", { delay: 50 });
    await terminal.filter({ hasText: "[offline]" }).waitFor();
    await window.command("OpenProse: Show Runs of the Cluster");
    await terminal.filter({ hasText: "article" }).filter({ hasText: /completed?/ }).waitFor();
  });
});
