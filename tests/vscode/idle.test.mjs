// A window without programs has nothing to do for the extension.

import assert from "node:assert/strict";
import { after, before } from "node:test";
import { Editor, test, until, write } from "./editor.mjs";

let editor;
before(async () => (editor = await Editor.start()));
after(() => editor.stop());

test("nothing is started before a program is open, and one server then", async () => {
  await editor.window("idle", { "data.json": '{ "a": }\n' }, async (window) => {
    await window.open("data.json");
    await window.squiggles("error").first().waitFor();
    await until("the editor has started", () => editor.activations("vscode.merge-conflict") > 0);
    assert.equal(editor.activations(EXTENSION), 0);
    assert.deepEqual(editor.languageServers(), []);

    // Documents without a program have none to ask about either.
    write(window.folder, { "notes.md": "# Notes\n\n```json\n{}\n```\n" });
    await window.openFromList("notes.md");
    await until("the editor knows Markdown", () => editor.activations("vscode.markdown-language-features") > 0);
    assert.deepEqual(editor.languageServers(), []);

    write(window.folder, { "hello.prose": 'session "Say hello\n' });
    await window.openFromList("hello.prose");
    await window.squiggles("error").first().waitFor();
    assert.equal(editor.activations(EXTENSION), 1);
    assert.equal(editor.languageServers().length, 1);
  });
});

const EXTENSION = "openprose-tools.openprose";
