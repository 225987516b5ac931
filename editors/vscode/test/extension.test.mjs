// Loads the built extension as the editor does, with a stand-in for the editor's own module.
import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import Module, { createRequire } from "node:module";
import { test } from "node:test";

// Stands for everything that is not looked at here: it can be called, constructed, extended and asked for any member.
function anything() {
  return new Proxy(class {}, {
    get: (target, key) => (key in target || typeof key === "symbol" ? target[key] : (target[key] = anything())),
    apply: () => anything(),
  });
}

function fakeEditor(settings) {
  const editor = { commands: new Map(), errors: [], log: [], events: new EventEmitter() };
  const write = (line) => editor.log.push(line);
  const members = {
    EventEmitter: class { event = () => ({ dispose() {} }); fire() {} dispose() {} },
    window: {
      createOutputChannel: () => ({ info: write, warn: write, error: write, show: () => write("(shown)"), dispose() {} }),
      showErrorMessage: async (message, ...choices) => void editor.errors.push({ message, choices }),
    },
    commands: { registerCommand: (name, run) => editor.commands.set(name, run) },
    workspace: {
      getConfiguration: (section) => ({ get: (name, initial) => settings[`${section}.${name}`] ?? initial }),
      onDidChangeConfiguration: (listener) => editor.events.on("configuration", listener),
      onDidGrantWorkspaceTrust: (listener) => editor.events.on("trust", listener),
      createFileSystemWatcher: () => anything(),
      registerTextDocumentContentProvider: () => ({ dispose() {} }),
      textDocuments: [],
      workspaceFolders: undefined,
    },
  };
  editor.module = Object.assign(Object.create(anything()), members);
  return editor;
}

function load(editor) {
  const bundle = createRequire(import.meta.url).resolve("../dist/extension.js");
  const original = Module._load;
  const asked = [];
  Module._load = (request, ...others) => {
    asked.push(request);
    return request === "vscode" ? editor.module : original(request, ...others);
  };
  try {
    delete createRequire(import.meta.url).cache[bundle];
    return { extension: createRequire(import.meta.url)(bundle), asked };
  } finally {
    Module._load = original;
  }
}

test("the bundle needs nothing but the editor and Node", () => {
  const { extension, asked } = load(fakeEditor({}));
  assert.equal(typeof extension.activate, "function");
  assert.equal(typeof extension.deactivate, "function");
  const foreign = asked.slice(1).filter((name) => name !== "vscode" && !Module.isBuiltin(name));
  assert.deepEqual(foreign, []);
});

test("without a server the user is told, and can set one and restart", async () => {
  const settings = { "prose.server.path": "/nowhere/prose" };
  const editor = fakeEditor(settings);
  const { extension } = load(editor);
  await extension.activate({ subscriptions: [] });
  assert.equal(editor.errors.length, 1);
  assert.match(editor.errors[0].message, /`\/nowhere\/prose`, which does not exist/);
  assert.deepEqual(editor.errors[0].choices, ["Open Settings", "Show Output"]);

  settings["prose.server.path"] = "/still/nowhere";
  await editor.commands.get("prose.restartServer")();
  assert.match(editor.errors[1].message, /`\/still\/nowhere`, which does not exist/);

  await editor.commands.get("prose.showOutput")();
  assert.equal(editor.log.at(-1), "(shown)");
  await extension.deactivate();
});

test("a change of the server's settings restarts it, another does not", async () => {
  const editor = fakeEditor({ "prose.server.path": "/nowhere/prose" });
  const { extension } = load(editor);
  await extension.activate({ subscriptions: [] });
  editor.events.emit("configuration", { affectsConfiguration: (section) => section === "editor" });
  await extension.deactivate();
  assert.equal(editor.errors.length, 1);
  editor.events.emit("configuration", { affectsConfiguration: (section) => section === "prose.server" });
  await extension.deactivate();
  assert.equal(editor.errors.length, 2);
});
