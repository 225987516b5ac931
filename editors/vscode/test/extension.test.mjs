// Loads the built extension as the editor does, with a stand-in for the editor's own module.
import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import Module, { createRequire } from "node:module";
import { homedir, tmpdir } from "node:os";
import * as path from "node:path";
import { after, test } from "node:test";
import { binary, prose } from "./prose.mjs";

// Stands for everything that is not looked at here: it can be called, constructed, extended and asked for any member.
function anything() {
  return new Proxy(class {}, {
    get: (target, key) => (key in target || typeof key === "symbol" ? target[key] : (target[key] = anything())),
    apply: () => anything(),
    construct: () => anything(),
  });
}

function fakeEditor(settings, documents = []) {
  const editor = {
    commands: new Map(), errors: [], log: [], events: new EventEmitter(), status: new Map(), documents, shown: [], picked: [], executed: [],
  };
  const write = (line) => editor.log.push(line);
  const on = (event) => (listener) => editor.events.on(event, listener);
  const nothing = { dispose() {} };
  const members = {
    window: {
      activeTextEditor: undefined,
      createOutputChannel: () => ({
        info: write, warn: write, error: write, append: write, appendLine: write, show: () => write("(shown)"), dispose() {},
      }),
      showErrorMessage: async (message, ...choices) => void editor.errors.push({ message, choices }),
      showTextDocument: async (document) => void editor.shown.push(document),
      showQuickPick: async (items) => items.find(({ label }) => label === editor.picked.shift()),
    },
    commands: {
      registerCommand: (name, run) => editor.commands.set(name, run) && nothing,
      executeCommand: async (...command) => void editor.executed.push(command),
    },
    languages: {
      createLanguageStatusItem: (id) => editor.status.set(id, {}).get(id),
      getDiagnostics: () => editor.diagnostics ?? [],
    },
    workspace: {
      getConfiguration: (section) => ({
        get: (name, initial) => settings[`${section}.${name}`] ?? initial,
        inspect: (name) => ({ globalValue: settings[section === undefined ? name : `${section}.${name}`] }),
      }),
      onDidOpenTextDocument: on("open"),
      onDidChangeTextDocument: on("change"),
      onDidChangeConfiguration: on("configuration"),
      onDidGrantWorkspaceTrust: on("trust"),
      openTextDocument: async (document) => document,
      registerTextDocumentContentProvider: (scheme, provider) => {
        editor.documentsOf = { scheme, ...provider };
        return nothing;
      },
      isTrusted: true,
      textDocuments: documents,
      workspaceFolders: undefined,
      getWorkspaceFolder: () => undefined,
    },
    env: { appName: "Editor", appHost: "desktop", remoteName: undefined },
    version: "1.100.0",
    LanguageStatusSeverity: { Information: 0, Warning: 1, Error: 2 },
    QuickPickItemKind: { Separator: -1 },
    Uri: { from: (parts) => parts, file: (path) => ({ scheme: "file", path }) },
    Range: class { constructor(...ends) { this.ends = ends; } },
  };
  // What is not looked at here is anything.
  const others = (members) => Object.assign(Object.create(anything()), members);
  for (const name of ["window", "commands", "languages", "workspace", "Uri"]) members[name] = others(members[name]);
  editor.module = others(members);
  return editor;
}

function document(languageId, text, scheme = "file") {
  const lines = text.split("\n");
  return {
    languageId,
    uri: { scheme, path: "/home/ada/a" },
    getText: () => text,
    lineAt: (line) => ({ text: lines[line] }),
  };
}

const extensionFolder = "/nowhere/extension";

function context() {
  const properties = { "prose.run.harness": {}, "prose.check.profile": {} };
  const packageJSON = { version: "0.1.0", contributes: { configuration: { properties } } };
  return { subscriptions: [], extensionPath: extensionFolder, extension: { extensionPath: extensionFolder, packageJSON } };
}

const program = document("prose", 'session "Write"');

function load(editor, file = "../dist/extension.js") {
  const bundle = createRequire(import.meta.url).resolve(file);
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
  const editor = fakeEditor(settings, [program]);
  const { extension } = load(editor);
  await extension.activate(context());
  assert.equal(editor.errors.length, 1);
  assert.match(editor.errors[0].message, /`\/nowhere\/prose`, which does not exist/);
  assert.deepEqual(editor.errors[0].choices, ["Open Settings", "Show Output"]);
  const status = editor.status.get("prose.server");
  assert.deepEqual([status.text, status.severity, status.busy], ["prose cannot be started", 2, false]);
  assert.match(status.detail, /which does not exist/);

  settings["prose.server.path"] = "/still/nowhere";
  await editor.commands.get("prose.restartServer")();
  assert.match(editor.errors[1].message, /`\/still\/nowhere`, which does not exist/);

  await editor.commands.get("prose.showOutput")();
  assert.equal(editor.log.at(-1), "(shown)");
  await extension.deactivate();
});

test("a change of the server's settings restarts it, another does not", async () => {
  const editor = fakeEditor({ "prose.server.path": "/nowhere/prose" }, [program]);
  const { extension } = load(editor);
  await extension.activate(context());
  editor.events.emit("configuration", { affectsConfiguration: (section) => section === "editor" });
  await extension.deactivate();
  assert.equal(editor.errors.length, 1);
  editor.events.emit("configuration", { affectsConfiguration: (section) => "prose.server.path".startsWith(section) });
  await extension.deactivate();
  assert.equal(editor.errors.length, 2);
});

test("the server waits for a program", async () => {
  const editor = fakeEditor({ "prose.server.path": "/nowhere/prose" }, [document("markdown", "# Read me\n\n```\nprose\n```\n")]);
  const { extension } = load(editor);
  await extension.activate(context());
  const settle = () => extension.deactivate();
  const tries = async (event, argument) => {
    editor.events.emit(event, argument);
    await settle();
    return editor.errors.length;
  };
  assert.equal(await tries("open", document("plaintext", "```prose\n")), 0);
  assert.equal(await tries("open", document("markdown", "```prose\n", "git")), 0);
  assert.equal(await tries("configuration", { affectsConfiguration: () => true }), 0);
  const typed = (text) => ({ document: document("markdown", text), contentChanges: [{ range: { start: { line: 0 } }, text: "e" }] });
  assert.equal(await tries("change", typed("a `prose` word")), 0);
  assert.equal(await tries("change", typed("```prose")), 1);
  // It was tried, and is not tried again with each program.
  assert.equal(await tries("open", program), 1);
});

test("Markdown is left alone if that is set", async () => {
  const settings = { "prose.server.path": "/nowhere/prose", "prose.markdown.enabled": false };
  const editor = fakeEditor(settings, [document("markdown", "~~~ prose title\n")]);
  const { extension } = load(editor);
  await extension.activate(context());
  assert.equal(editor.errors.length, 0);
  settings["prose.markdown.enabled"] = true;
  editor.events.emit("configuration", { affectsConfiguration: () => true });
  await extension.deactivate();
  assert.equal(editor.errors.length, 1);
});

test("the server is told what a person has set, and nothing else", async () => {
  const settings = { "prose.server.path": binary, "prose.check.levels": { W101: "off" }, "prose.run.harness": "", "prose.run.inlayHints": false };
  const editor = fakeEditor(settings);
  const { serverSettings } = load(editor, "../dist-tests/src/settings.js").extension;
  assert.deepEqual(serverSettings(), { trusted: true, check: { levels: { W101: "off" } }, run: { inlayHints: false } });
});

test("the status says who answers and when is fetched", async () => {
  const settings = {};
  const editor = fakeEditor(settings);
  await load(editor).extension.activate(context());
  const said = (id) => [editor.status.get(id).text, editor.status.get(id).detail];
  assert.deepEqual(said("prose.harness"), ["Harness from prose.toml", "offline, unless the project sets one"]);
  assert.deepEqual(said("prose.imports"), ["Imports", "fetched according to prose.toml"]);
  Object.assign(settings, { "prose.run.harness": "claude", "prose.registry.fetch": "manual" });
  editor.events.emit("configuration", { affectsConfiguration: () => true });
  assert.deepEqual(said("prose.harness"), ["Harness claude", "set in the editor"]);
  assert.deepEqual(said("prose.imports"), ["Imports", "fetched on request"]);
  editor.module.workspace.isTrusted = false;
  editor.events.emit("configuration", { affectsConfiguration: () => true });
  assert.deepEqual(said("prose.imports"), ["Imports", "never fetched"]);
});

test("a code is explained by the program itself", async () => {
  const editor = fakeEditor({ "prose.server.path": binary });
  await load(editor).extension.activate(context());
  const uri = { scheme: "prose-explain", path: "/E007.md" };
  await editor.commands.get("prose.explainCode")("E007");
  assert.deepEqual(editor.executed, [["markdown.showPreview", uri]]);
  const text = await editor.documentsOf.provideTextDocumentContent(uri);
  assert.match(text, /^# E007: agent not defined\n\nSeverity: error\n\n/);
  assert.match(text, /## Wrong\n\n````prose\n[^]+## Right\n\n````prose\n/);

  editor.module.window.activeTextEditor = { document: program, selection: { active: { line: 3 } } };
  editor.diagnostics = [{ code: { value: "W113" }, range: { start: { line: 3 }, end: { line: 3 } } }];
  let offered;
  editor.module.window.showQuickPick = async (items) => void (offered = items);
  await editor.commands.get("prose.explainCode")();
  assert.deepEqual(offered.slice(0, 3).map(({ label }) => label), ["W113", "", "E001"]);

  await editor.commands.get("prose.explainCode")("E999");
  await assert.rejects(async () => editor.documentsOf.provideTextDocumentContent({ path: "/E999.md" }), /E999/);
});

test("debug information has versions, settings and the log, and nobody's name", async () => {
  const settings = { "prose.server.path": "/nowhere/prose", "prose.run.harness": "claude" };
  const editor = fakeEditor(settings, [program]);
  await load(editor).extension.activate(context());
  await editor.commands.get("prose.debugInformation")();
  const [{ language, content }] = editor.shown;
  assert.equal(language, "markdown");
  assert.match(content, /^- extension: 0\.1\.0\n- editor: Editor 1\.100\.0, desktop$/m);
  assert.match(content, /^- program: The setting .* which does not exist\./m);
  assert.match(content, /^- server: not running$/m);
  assert.match(content, /\{\n {2}"prose\.run\.harness": "claude"\n\}/);
  assert.match(content, /\[error\] The setting `prose\.server\.path`/);

  settings["prose.server.path"] = binary;
  await editor.commands.get("prose.debugInformation")();
  assert.match(editor.shown[1].content, /^- version of the program: prose \d+\.\d+\.\d+ \(.+\)$/m);
  assert.ok(!editor.shown[1].content.includes(`${homedir()}/`));
});

test("a program is debugged by the program that is set, with the harness that it runs with", async () => {
  const editor = fakeEditor({ "prose.server.path": binary, "prose.run.harness": "claude" });
  const registered = {};
  editor.module.debug = {
    registerDebugAdapterDescriptorFactory: (type, factory) => void Object.assign(registered, factory),
    registerDebugConfigurationProvider: (type, provider) => void Object.assign(registered, provider),
  };
  editor.module.DebugAdapterExecutable = class { constructor(...parts) { this.parts = parts; } };
  await load(editor).extension.activate(context());
  const launch = { type: "prose", request: "launch", name: "Debug", program: "/p/a.prose" };
  const resolved = (configuration) => registered.resolveDebugConfiguration(undefined, configuration);
  assert.deepEqual(resolved(launch), { ...launch, harness: "claude" });
  assert.deepEqual(resolved({ ...launch, harness: "offline" }).harness, "offline");
  assert.deepEqual(resolved({ ...launch, script: "answers.toml" }).harness, undefined);
  assert.deepEqual(resolved({ ...launch, request: "attach", run: "k3x9" }).harness, undefined);
  const { parts } = registered.createDebugAdapterDescriptor({ configuration: launch });
  assert.deepEqual(parts, [binary, ["dap", "--trust"], { cwd: "/p" }]);

  editor.module.workspace.isTrusted = false;
  assert.equal(resolved(launch), undefined);
  assert.match(editor.errors.at(-1).message, /untrusted workspace/);
});

test("the name that a refactoring made up can be chosen", async () => {
  const editor = fakeEditor({});
  editor.module.Uri.parse = (text) => ({ parsed: text });
  editor.module.Position = class { constructor(...place) { this.place = place; } };
  await load(editor).extension.activate(context());
  await editor.commands.get("prose.rename")({ uri: "file:///a.prose", position: { line: 3, character: 6 } });
  const [[command, [uri, position]]] = editor.executed;
  assert.deepEqual([command, uri, position.place], ["editor.action.rename", { parsed: "file:///a.prose" }, [3, 6]]);
});

test("a new program opens in an editor", async () => {
  const editor = fakeEditor({});
  await load(editor).extension.activate(context());
  await editor.commands.get("prose.newProgram")();
  assert.equal(editor.shown[0].language, "prose");
});

test("a program runs without one that is active: the open one, one of the workspace, or a new one", async () => {
  const settings = { "prose.server.path": "/nowhere/prose" };
  const editor = fakeEditor(settings);
  await load(editor).extension.activate(context());
  const run = editor.commands.get("prose.runProgram");
  const { window, workspace } = editor.module;
  Object.assign(window, { visibleTextEditors: [] });
  const searched = [];
  workspace.asRelativePath = ({ path }) => path;
  workspace.openTextDocument = async (document) => ({ uri: { scheme: "untitled", path: "Untitled-1" }, ...document });
  workspace.findFiles = async (pattern) => (searched.push(pattern), editor.files ?? []);
  await run();
  assert.deepEqual([searched, editor.shown.map(({ language }) => language)], [["**/*.prose"], ["prose"]]);
  // The server that runs it cannot be started, which is said.
  assert.match(editor.errors[0].message, /\/nowhere\/prose/);
  assert.deepEqual(editor.executed, []);

  editor.files = ["b.prose", "a.prose"].map((path) => ({ scheme: "file", path }));
  editor.picked.push("a.prose");
  await run();
  assert.deepEqual(editor.shown.at(-1), { scheme: "file", path: "a.prose" });
  editor.picked.push("no such program");
  await run();
  assert.equal(editor.shown.length, 2);
  // One that is open is not searched for.
  editor.documents.push(program, document("prose", "", "git"));
  await run();
  assert.deepEqual([searched.length, editor.shown.length], [3, 2]);
});

test("the language status warns of an agent that is not installed", async () => {
  const editor = fakeEditor({});
  const { Status } = load(editor, "../dist-tests/src/status.js").extension;
  const status = new Status();
  const shown = () => ["text", "detail", "severity"].map((key) => editor.status.get("prose.harness")[key]);
  editor.module.window.activeTextEditor = { document: program };
  let answer;
  status.harnessOf = async () => answer;
  // Without a server, the settings are all that is known.
  await status.programChanged();
  assert.deepEqual(shown(), ["Harness from prose.toml", "offline, unless the project sets one", 0]);
  answer = { harness: "codex", isSet: false, missing: "`codex` starts the program `codex`, which is not on PATH" };
  await status.programChanged();
  assert.deepEqual(shown(), ["Harness codex", "`codex` starts the program `codex`, which is not on PATH", 1]);
  answer = { harness: "offline", isSet: true, missing: null };
  await status.programChanged();
  assert.deepEqual(shown(), ["Harness offline", "set in the editor", 0]);
});

test("the folder of a run is shown, of several the one that is chosen", async () => {
  const root = mkdtempSync(path.join(tmpdir(), "prose-runs-"));
  after(() => rmSync(root, { recursive: true }));
  writeFileSync(path.join(root, "a.prose"), 'session "Write"\n');
  mkdirSync(path.join(root, "flows"));
  const editor = fakeEditor({ "prose.server.path": binary });
  await load(editor).extension.activate(context());
  const open = () => editor.commands.get("prose.openRunFolder")();
  await open();
  assert.match(editor.errors.at(-1).message, /^Open a folder or a program first/);
  const uri = { scheme: "file", fsPath: path.join(root, "flows/b.prose") };
  editor.module.window.activeTextEditor = { document: { ...program, uri } };
  await open();
  assert.match(editor.errors.at(-1).message, /^No program has run here yet/);

  const run = () => prose(["run", "a.prose", "--json"], { cwd: root, stdio: "pipe" });
  run();
  await open();
  const [[command, { path: folder }]] = editor.executed;
  assert.equal(command, "revealFileInOS");
  assert.equal(path.dirname(folder), path.join(realpathSync(root), ".prose/runs"));
  run();
  editor.picked.push("a.prose");
  await open();
  assert.notEqual(editor.executed[1][1].path, undefined);
});

test("imports are pinned, unless the workspace is not trusted", async () => {
  const root = mkdtempSync(path.join(tmpdir(), "prose-lock-"));
  after(() => rmSync(root, { recursive: true }));
  writeFileSync(path.join(root, "a.prose"), 'session "Write"\n');
  const editor = fakeEditor({ "prose.server.path": binary });
  const told = [];
  Object.assign(editor.module.window, {
    activeTextEditor: { document: { ...program, uri: { scheme: "file", fsPath: path.join(root, "a.prose") } } },
    withProgress: (_, task) => task(),
    showInformationMessage: async (message) => void told.push(message),
  });
  await load(editor).extension.activate(context());
  await editor.commands.get("prose.lock")();
  assert.deepEqual([told.length, editor.errors], [1, []]);
  assert.match(told[0], /no imports to pin/);
  editor.module.workspace.isTrusted = false;
  await editor.commands.get("prose.lock")();
  assert.match(editor.errors[0].message, /untrusted workspace/);
});

test("the code that every window loads is small", () => {
  const { size } = statSync(new URL("../dist/extension.js", import.meta.url));
  assert.ok(size < 700_000, `${size} bytes`);
});
