// A folder of unknown origin: its programs are shown and checked, and nothing of it reaches out or runs.

import assert from "node:assert/strict";
import { chmodSync, existsSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, before } from "node:test";
import { Editor, needed, test, until } from "./editor.mjs";

let editor, registry, asked;
before(async () => {
  editor = await Editor.start({ asksForTrust: true });
  asked = [];
  registry = createServer((request, response) => {
    asked.push(request.url);
    response.end('output greeting = session "Say hello"\n');
  });
  await new Promise((resolve) => registry.listen(0, "127.0.0.1", resolve));
});
after(async () => {
  await editor.stop();
  registry.close();
});

test("a folder that is not trusted runs and fetches nothing, until it is trusted", async () => {
  const files = {
    "prose.toml": `[registry]\nurl = "http://127.0.0.1:${registry.address().port}/"\n`,
    "hello.prose": 'use "alice/greeter" as greeter\n\nlet reply = greeter()\n\noutput thanks = session "Thank them" {\n',
    "alone.prose": 'output greeting = session "Say hello"\n',
    ".vscode/settings.json": JSON.stringify({ "prose.server.path": "${workspaceFolder}/server" }),
    "server": `#!/bin/sh\ntouch "$(dirname "$0")/was-started"\nexec '${needed("PROSE_BINARY")}' "$@"\n`,
  };
  await editor.window("stranger", files, async (window) => {
    const { page } = window;
    chmodSync(join(window.folder, "server"), 0o755);
    await page.locator(".part.banner", { hasText: "Restricted Mode" }).waitFor();
    await window.open("hello.prose");
    await window.squiggles("error").first().waitFor();

    await window.open("alone.prose");
    await window.lens("Run program").click();
    await window.notification("this workspace is not trusted").waitFor();
    await window.picture("vscode-restricted");
    assert.deepEqual(asked, []);
    assert.ok(!existsSync(join(window.folder, ".prose")), "a run was recorded");
    assert.ok(!existsSync(join(window.folder, "was-started")), "the settings of the folder chose the server");

    // All the same can be done once the folder is trusted, so it was that which kept it from being done.
    await page.locator(".part.banner").getByRole("button", { name: "Manage" }).click();
    await page.locator(".workspace-trust-editor").getByRole("button", { name: "Trust", exact: true }).click();
    await page.locator(".part.banner").waitFor({ state: "hidden" });
    await until("the server of the folder runs", () => existsSync(join(window.folder, "was-started")));
    await until("the import is fetched", () => asked.length > 0);
    assert.match(asked[0], /^\/alice\/greeter/);
    await window.open("alone.prose");
    await until("the program runs", async () => {
      // The server may just be starting.
      await window.lens("Run program").click();
      return window.hint("output greeting", "✓").waitFor({ timeout: 3000 }).then(() => true, () => false);
    });
  });
});
