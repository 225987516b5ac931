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

const program = 'output text = session "Write about tides"\n';

test("a program is run on a cluster in a terminal, and listed there", async () => {
  await editor.window("cluster", { "article.prose": program }, async (window) => {
    const terminal = window.page.locator(".terminal-wrapper .xterm-rows").last();
    await window.open("article.prose");
    await window.lens("Run program").waitFor();
    await window.command("OpenProse: Run on Cluster");
    await terminal.filter({ hasText: "[offline]" }).waitFor();
    await window.command("OpenProse: Show Runs of the Cluster");
    await terminal.filter({ hasText: "article.prose" }).filter({ hasText: "completed" }).waitFor();
  });
});
