// The page that explains a program, with a stand-in for the editor's own module and for the client of the server.
import assert from "node:assert/strict";
import Module, { createRequire } from "node:module";
import { test } from "node:test";

function registered(answer) {
  const editor = { errors: [], executed: [], commands: new Map(), asked: [] };
  const vscode = {
    EventEmitter: class { event = () => {}; fire() {} dispose() {} },
    Uri: { from: (parts) => parts },
    commands: {
      registerCommand: (name, run) => (editor.commands.set(name, run), { dispose() {} }),
      executeCommand: async (...given) => void editor.executed.push(given),
    },
    window: { showErrorMessage: async (message) => void editor.errors.push(message) },
    workspace: {
      registerTextDocumentContentProvider: (_, provider) => (editor.provider = provider),
      openTextDocument: (uri) => editor.provider.provideTextDocumentContent(uri),
    },
  };
  editor.vscode = vscode;
  const client = { sendRequest: async (...given) => (editor.asked.push(given), answer()) };
  const require = createRequire(import.meta.url);
  const original = Module._load;
  Module._load = (request, ...others) => (request === "vscode" ? vscode : original(request, ...others));
  try {
    const bundle = require.resolve("../dist-tests/src/description.js");
    delete require.cache[bundle];
    require(bundle).descriptions(() => client);
  } finally {
    Module._load = original;
  }
  return editor;
}

const document = { languageId: "prose", uri: { path: "/p/a.prose", toString: () => "file:///p/a.prose" } };

test("a program is explained in a preview next to it", async () => {
  const editor = registered(() => ({ text: "# a.prose\n" }));
  const explain = editor.commands.get("prose.explainProgram");
  await explain();
  assert.deepEqual(editor.errors, ["Open the program to explain first."]);
  editor.vscode.window.activeTextEditor = { document };
  await explain();
  const page = { scheme: "prose-description", path: "/a.prose.md", query: "file:///p/a.prose" };
  assert.deepEqual(editor.executed, [["markdown.showPreviewToSide", page]]);
  assert.deepEqual(editor.asked, [["prose/describe", { textDocument: { uri: "file:///p/a.prose" } }]]);
  assert.equal(await editor.provider.provideTextDocumentContent(page), "# a.prose\n");
});

test("a program with errors says why it is not explained", async () => {
  const editor = registered(() => Promise.reject(new Error("`a.prose` has 1 error and is not run")));
  editor.vscode.window.activeTextEditor = { document };
  await editor.commands.get("prose.explainProgram")();
  assert.deepEqual([editor.errors, editor.executed], [["`a.prose` has 1 error and is not run"], []]);
});
