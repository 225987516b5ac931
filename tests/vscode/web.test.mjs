// The extension for Visual Studio Code for the Web: its worker has the language as a module, and nothing else runs.

import assert from "node:assert/strict";
import { after, before } from "node:test";
import { Editor, needed, test, until } from "./editor.mjs";

let editor;
before(async () => (editor = await Editor.start({ extension: needed("PROSE_WEB_VSIX"), settings: { "prose.server.path": "/nowhere" } })));
after(() => editor.stop());

const files = {
  "library/fact-check.prose": `input claim: "What to check"

output verdict = session "Is this true? {claim}"
`,
  "article.prose": `use "./library/fact-check.prose" as checker

input topic: "What to write about"

agent writer:
  model: sonnet
  prompt: "You write for people in a hurry."

let draft = session: writer
  prompt: "Write a paragraph about {topic}."

let checked = checker(claim: draft)

output result = session "Apply the corrections."
  context: [draft, checked.verdict]
`,
  "script.toml": `unmatched = "offline"

[[session]]
label = "Apply the corrections."
reply = "The sea rises twice a day."
`,
};

test("programs are written with help that knows other files", async () => {
  const broken = { ...files, "article.prose": files["article.prose"].replace("session: writer", "session: writr") };
  await editor.window("web-writing", broken, async (window) => {
    await window.open("article.prose");
    await window.squiggles("error").first().waitFor();
    // The fix of the mistake.
    await window.token("writr", "let draft = session: writr").click();
    await until("the fix is offered", async () => {
      await window.page.keyboard.press("Control+.");
      const fix = window.page.locator(".action-widget .monaco-list-row", { hasText: "writer" }).first();
      return fix.click({ timeout: 5000 }).then(() => true, () => false);
    });
    await window.line("let draft = session: writer").waitFor();
    await window.squiggles("error").first().waitFor({ state: "detached" });
    // The cursor lies over the word that it is in.
    await window.goTo(16, 1);
    await window.token("writer", "let draft = session: writer").hover();
    await window.page.locator(".monaco-hover", { hasText: "You write for people in a hurry." }).waitFor();
    // A definition in another file, which was never opened.
    await window.goTo(15, 30);
    await window.page.keyboard.press("F12");
    await window.active("fact-check.prose");
    assert.deepEqual(editor.languageServers(), []);
  });
});

test("a program is formatted, and completed at the cursor", async () => {
  await editor.window("web-typing", { "a.prose": 'agent writer:\n    model: sonnet\n\nsession: writer\n' }, async (window) => {
    await window.open("a.prose");
    await window.token("writer", "session: writer").waitFor();
    const none = window.page.locator(".monaco-dialog-box").getByRole("button", { name: "Cancel" });
    await until("the indentation is that of the format", async () => {
      // Before the language has come, there is nothing that formats.
      await window.command("Format Document");
      await none.click({ timeout: 1000 }).catch(() => {});
      return /^\s{2}model/.test((await window.line("model: sonnet").innerText()).replaceAll("\u00a0", " "));
    });
    await window.goTo(4, 16);
    await window.page.keyboard.press("Enter");
    await window.page.keyboard.type("session: wri");
    const row = window.page.locator(".suggest-widget .monaco-list-row", { hasText: "writer" }).first();
    await row.waitFor();
  });
});

test("a program runs offline in the panel and asks for its inputs", async () => {
  await editor.window("web-run", files, async (window) => {
    await window.open("article.prose");
    await window.token("writer", "session: writer").waitFor();
    await window.command("OpenProse: Run Program Offline");
    const field = window.page.locator(".quick-input-widget input");
    await window.page.locator(".quick-input-widget", { hasText: "What to write about" }).waitFor();
    await field.fill("tides");
    await field.press("Enter");
    const completed = window.notification("The program has completed.");
    await completed.waitFor();
    await window.part("Parts of the run", "Apply the corrections., done").waitFor();
    await window.picture("vscode-web");
    await completed.getByRole("button", { name: "Show outputs" }).click();
    await window.line("## result").waitFor();
  });
});

test("a program runs with a script", async () => {
  await editor.window("web-script", { ...files, "article.prose": files["article.prose"].replace('input topic: "What to write about"', 'const topic = "tides"') }, async (window) => {
    await window.open("article.prose");
    await window.token("writer", "session: writer").waitFor();
    await window.command("OpenProse: Run Program with Script");
    const row = window.page.locator(".quick-input-list .monaco-list-row", { hasText: "script.toml" }).first();
    await row.click();
    await window.notification("The program has completed.").getByRole("button", { name: "Show outputs" }).click();
    await window.line("The sea rises twice a day.").waitFor();
  });
});
