// The part of the editor in the flow of a program, with a stand-in for the editor's own module and for the client of the server.
import assert from "node:assert/strict";
import Module, { createRequire } from "node:module";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";

async function until(happened) {
  const end = performance.now() + 60_000;
  while (!(await happened())) {
    assert.ok(performance.now() < end, `did not happen: ${happened}`);
    await turn();
  }
}

function flowPanel() {
  const listeners = {};
  const on = (name) => (listener) => ((listeners[name] = listener), { dispose() {} });
  const editor = { errors: [], posted: [], shown: [], commands: new Map(), listeners, panels: 0 };
  const webview = {
    asWebviewUri: (uri) => uri, onDidReceiveMessage: on("message"), postMessage: async (message) => void editor.posted.push(message),
  };
  const vscode = {
    Position: class { constructor(line, character) { Object.assign(this, { line, character }); } },
    Range: class { constructor(start) { this.start = start; } },
    Uri: { joinPath: (...parts) => parts.join("/") },
    ViewColumn: { One: 1, Beside: -2 },
    TextEditorRevealType: { InCenterIfOutsideViewport: 2 },
    commands: { registerCommand: (name, run) => (editor.commands.set(name, run), { dispose() {} }) },
    window: {
      visibleTextEditors: [],
      createWebviewPanel: () => (editor.panels++, { webview, visible: true, reveal() {}, dispose() {}, onDidDispose: on("close"), onDidChangeViewState: on("view") }),
      onDidChangeTextEditorSelection: on("selection"),
      onDidChangeActiveTextEditor: on("active"),
      showErrorMessage: async (message) => void editor.errors.push(message),
      showTextDocument: async (document, options) => (editor.shown.push([document, options]), { revealRange() {} }),
    },
    workspace: { onDidChangeTextDocument: on("edit") },
  };
  editor.vscode = vscode;
  const client = { asked: [], sendRequest: async (method, params) => (client.asked.push([method, params.textDocument.uri]), client.answer?.() ?? { nodes: [], edges: [] }) };
  const require = createRequire(import.meta.url);
  const bundle = require.resolve("../dist-tests/src/flow.js");
  const original = Module._load;
  Module._load = (request, ...others) => (request === "vscode" ? vscode : original(request, ...others));
  try {
    delete require.cache[bundle];
    const { FlowPanel } = require(bundle);
    return { editor, client, flow: new FlowPanel("dist", () => client) };
  } finally {
    Module._load = original;
  }
}

const program = (name) => ({ languageId: "prose", version: 1, uri: { scheme: "file", path: `/p/${name}`, toString: () => `file:///p/${name}` } });

test("the flow follows the active program, its edits and the cursor", async () => {
  const { editor, client, flow } = flowPanel();
  const show = editor.commands.get("prose.showFlow");
  show();
  assert.match(editor.errors[0], /^Open a program first/);
  const document = program("a.prose");
  const active = { document, selection: { active: { line: 2 } }, viewColumn: 1 };
  Object.assign(editor.vscode.window, { activeTextEditor: active, visibleTextEditors: [active] });
  show();
  editor.listeners.message({ type: "ready" });
  await until(() => editor.posted.length === 2);
  assert.deepEqual(editor.posted.map(({ type }) => type), ["flow", "cursor"]);
  assert.deepEqual([editor.posted[0].name, editor.posted[1].line], ["a.prose", 3]);

  // Only an edit changes the flow.
  active.selection.active.line = 5;
  editor.listeners.selection({ textEditor: active });
  await until(() => editor.posted.length === 3);
  assert.deepEqual([editor.posted[2], client.asked.length], [{ type: "cursor", line: 6 }, 1]);
  document.version = 2;
  editor.listeners.edit({ document });
  await until(() => editor.posted.length === 5);
  assert.deepEqual([editor.posted[3].type, client.asked.length], ["flow", 2]);

  // A request that an edit has outdated is sent again.
  document.version = 3;
  client.answer = () => {
    client.answer = undefined;
    document.version = 4;
    throw new Error("content modified");
  };
  editor.listeners.edit({ document });
  await until(() => client.asked.length === 4 && editor.posted.length === 7);

  const other = { document: program("b.prose"), selection: { active: { line: 0 } }, viewColumn: 1 };
  editor.vscode.window.visibleTextEditors = [other];
  editor.listeners.active(other);
  await until(() => editor.posted.at(-2)?.name === "b.prose");
  // Another document leaves it as it is.
  editor.listeners.active({ document: { languageId: "markdown", uri: { scheme: "file" } } });

  editor.listeners.message({ type: "show", range: { start: { line: 4, character: 2 } }, keepsFocus: true });
  await until(() => editor.shown.length === 1);
  const [[shown, { selection, preserveFocus }]] = editor.shown;
  assert.deepEqual([shown, selection.start.line, preserveFocus], [other.document, 4, true]);
  show();
  assert.equal(editor.panels, 1);
  flow.dispose();
});
