// The part of the editor in runs, with a stand-in for the editor's own module and for the client of the server.
import assert from "node:assert/strict";
import Module, { createRequire } from "node:module";
import { test } from "node:test";

function fakeEditor() {
  const editor = { output: [], errors: [], messages: [], executed: [], documents: [], asked: [], answers: [], bar: [] };
  const ask = (kind) => async (...asked) => {
    editor.asked.push([kind, ...asked.slice(0, -1)]);
    return editor.answers.shift();
  };
  const message = (kind) => async (text, ...choices) => {
    editor.messages.push([kind, text, ...choices]);
    return editor.answers.shift();
  };
  editor.module = {
    StatusBarAlignment: { Left: 1 },
    EventEmitter: class {
      event = () => ({ dispose() {} });
      fire(uri) {
        editor.changed = String(uri);
      }
      dispose() {}
    },
    MarkdownString: class {
      text = "";
      appendText(text) { this.text += text; }
      appendMarkdown(text) { this.text += text; }
    },
    Uri: {
      parse: (uri) => ({ path: uri.replace(/^file:\/\//, "") }),
      from: (parts) => ({ ...parts, toString: () => `${parts.scheme}:${parts.path}?${parts.query}` }),
    },
    commands: { executeCommand: async (...command) => void editor.executed.push(command) },
    window: {
      activeTextEditor: undefined,
      createOutputChannel: () => ({ appendLine: (line) => editor.output.push(line), dispose() {} }),
      showErrorMessage: async (message, ...choices) => {
        editor.errors.push(message);
        return choices[0];
      },
      showWarningMessage: message("warning"),
      showInformationMessage: message("information"),
      showInputBox: ask("input"),
      showQuickPick: ask("pick"),
      showTextDocument: async () => {},
      createStatusBarItem: (id) => {
        const item = { id, isShown: false, show: () => (item.isShown = true), dispose: () => (item.isDisposed = true) };
        editor.bar.push(item);
        return item;
      },
    },
    workspace: {
      getConfiguration: () => ({ get: (_, initial) => initial }),
      registerTextDocumentContentProvider: (scheme, provider) => {
        Object.assign(editor, { scheme, provider });
        return { dispose() {} };
      },
      openTextDocument: async (document) => void editor.documents.push(document),
    },
  };
  return editor;
}

function load(editor) {
  const require = createRequire(import.meta.url);
  const bundle = require.resolve("../dist-tests/src/runs.js");
  const original = Module._load;
  Module._load = (request, ...others) => (request === "vscode" ? editor.module : original(request, ...others));
  try {
    delete require.cache[bundle];
    return require(bundle);
  } finally {
    Module._load = original;
  }
}

function attached(editor) {
  const { Runs } = load(editor);
  const client = { sent: [], requests: new Map(), notifications: new Map() };
  client.onRequest = (method, handle) => client.requests.set(method, handle);
  client.onNotification = (method, handle) => client.notifications.set(method, handle);
  client.done = [];
  client.sendRequest = async (method, { command, arguments: args }) => {
    assert.equal(method, "workspace/executeCommand");
    client.done.push([command, ...args]);
    return client.answer?.(...args);
  };
  client.sendNotification = async (method, params) => void client.sent.push({ method, params });
  const runs = new Runs();
  runs.attach(client);
  return { client, runs, middleware: runs.middleware(() => client) };
}

const question = { run: "r1", name: "topic", prompt: "What about?", mayRephrase: false, optional: false };

test("a person is asked for inputs, and may give none", async () => {
  const editor = fakeEditor();
  const ask = attached(editor).client.requests.get("prose/input");
  editor.answers.push("tides", undefined, "");
  assert.deepEqual(await ask(question), { value: "tides" });
  assert.equal(await ask(question), null);
  assert.equal(await ask({ ...question, optional: true }), null);
  const [[, needed], , [, optional]] = editor.asked;
  assert.deepEqual([needed.title, needed.prompt], ["topic", "What about?"]);
  assert.match(needed.validateInput(" "), /is required/);
  assert.equal(optional.prompt, "What about? (leave empty for none)");
  assert.equal(optional.validateInput(""), undefined);
});

test("a question that offers answers is a choice among them", async () => {
  const editor = fakeEditor();
  const ask = attached(editor).client.requests.get("prose/input");
  const choices = [{ letter: "y", value: "yes", title: "yes" }, { letter: "n", value: "no", title: "no" }];
  editor.answers.push({ label: "yes", value: "yes" }, undefined);
  const choice = { ...question, prompt: "Go on? (yes/no)", choices };
  assert.deepEqual(await ask(choice), { value: "yes" });
  assert.equal(await ask(choice), null);
  assert.deepEqual(editor.asked.map(([kind]) => kind), ["pick", "pick"]);
  assert.deepEqual(editor.asked[0][1].map(({ label }) => label), ["yes", "no"]);
});

test("a run is in the status bar, from which it is shown and stopped", async () => {
  const editor = fakeEditor();
  const { middleware } = attached(editor);
  const others = [];
  const tell = (token, params) => middleware.handleWorkDoneProgress(token, params, (token) => others.push(token));
  tell("run-r1", { kind: "begin", title: "Running a.prose", message: "at most $2.00" });
  tell("fetching-1", { kind: "begin", title: "Fetching" });
  const [shown] = editor.bar;
  assert.deepEqual([shown.text, shown.isShown], ["$(sync~spin) a.prose", true]);
  tell("run-r1", { kind: "report", message: "1 session done, 2 running, 3k tokens: let a = session" });
  assert.equal(shown.text, "$(sync~spin) a.prose: 1 session done");
  assert.deepEqual([shown.command.command, shown.command.arguments], ["prose.runs.show", [{ run: "r1" }]]);
  assert.match(shown.tooltip.text, /^Running a\.prose: 1 session done, 2 running, 3k tokens/);
  assert.ok(shown.tooltip.text.includes(`[Stop](command:prose.cancel?${encodeURIComponent('[{"run":"r1"}]')})`));
  tell("run-r1", { kind: "end" });
  // What comes after the end is of no run.
  tell("run-r1", { kind: "report", message: "2 sessions done" });
  assert.deepEqual([editor.bar.length, shown.isDisposed], [1, true]);
  assert.deepEqual(others, ["fetching-1"]);
});

test("nothing is shown any more of the runs of a server that is gone", () => {
  const editor = fakeEditor();
  const { runs, middleware } = attached(editor);
  middleware.handleWorkDoneProgress("run-r1", { kind: "begin", title: "Running a.prose" }, () => {});
  runs.endAll();
  assert.equal(editor.bar[0].isDisposed, true);
});

test("the end of a run is reported with what can be done", async () => {
  const editor = fakeEditor();
  editor.module.window.showErrorMessage = editor.module.window.showWarningMessage;
  const { client } = attached(editor);
  const end = async (others, ...chosen) => {
    editor.answers.push(...chosen);
    client.notifications.get("prose/runEnded")({ run: "r1", uri: "file:///a.prose", ...others });
    await new Promise(setImmediate);
  };
  await end({ type: 1, message: "a.prose failed at line 2: no room", canResume: true }, "Show Run");
  await end({ type: 1, message: "a.prose failed at line 2: no room", canResume: true }, "Resume");
  await end({ type: 3, message: "Untitled-1 is done: 1 session", canResume: false, uri: "untitled:Untitled-1" }, "Save Run");
  assert.deepEqual(editor.messages, [
    ["warning", "a.prose failed at line 2: no room", "Show Run", "Resume"],
    ["warning", "a.prose failed at line 2: no room", "Show Run", "Resume"],
    ["information", "Untitled-1 is done: 1 session", "Show Run", "Save Run"],
  ]);
  assert.deepEqual(editor.executed, [
    ["prose.runs.show", { run: "r1" }],
    ["prose.resume", { uri: "file:///a.prose", run: "r1" }],
    ["prose.runs.save", { run: "r1" }],
  ]);
});

test("events are told in the output", () => {
  const editor = fakeEditor();
  const tell = attached(editor).client.notifications.get("prose/runView");
  tell({ run: "r1", uri: "file:///a.prose", view: { nodes: [], entries: [{ kind: "warning", nesting: 0, message: "no memory" }] } });
  assert.deepEqual(editor.output, ["warning: no memory"]);
});

test("from the palette a command is about the active program", async () => {
  const editor = fakeEditor();
  const { client, middleware } = attached(editor);
  const others = [];
  const execute = (command, ...args) => middleware.executeCommand(command, args, (...other) => others.push(other));
  await execute("prose.run");
  assert.match(editor.errors[0], /Open the program first/);
  editor.module.window.activeTextEditor = { document: { languageId: "prose", uri: "file:///a.prose" } };
  await execute("prose.run");
  await execute("prose.resume", { uri: "file:///b.prose", run: "r1" });
  // A run of a program without a file is known by its id alone.
  await execute("prose.pause", { run: "r1" });
  await execute("prose.skip", { run: "r1", request: 3 });
  await execute("prose.fetch", 1);
  assert.deepEqual(client.done, [
    ["prose.run", { uri: "file:///a.prose" }],
    ["prose.resume", { uri: "file:///b.prose", run: "r1" }],
    ["prose.pause", { run: "r1" }],
    ["prose.skip", { run: "r1", request: 3 }],
  ]);
  assert.deepEqual(others, [["prose.fetch", [1]]]);
});

test("a refusal is shown, and changes of a program can be accepted", async () => {
  const editor = fakeEditor();
  const { client, middleware } = attached(editor);
  client.answer = ({ acceptChanges }) => {
    if (!acceptChanges) throw new Error("it has changed; use `acceptChanges`");
  };
  const argument = { uri: "file:///a.prose" };
  await middleware.executeCommand("prose.run", [argument]);
  await middleware.executeCommand("prose.resume", [argument]);
  assert.equal(editor.errors.length, 2);
  assert.deepEqual(client.done, [
    ["prose.run", argument],
    ["prose.resume", argument],
    ["prose.resume", { ...argument, acceptChanges: true }],
  ]);
});

test("a dry run opens as a text that cannot be edited, which the next one replaces", async () => {
  const editor = fakeEditor();
  const { client, middleware } = attached(editor);
  const prompts = [{ line: 1, agent: null, model: null, prompt: "Think", system: null }];
  client.answer = () => ({ prompts, failed: null });
  await middleware.executeCommand("prose.dryRun", [{ uri: "file:///flows/a.prose" }]);
  const [uri] = editor.documents;
  assert.deepEqual([uri.scheme, uri.path, uri.query], [editor.scheme, "/Prompts of a.prose.md", "file:///flows/a.prose"]);
  assert.match(editor.provider.provideTextDocumentContent(uri), /^# Prompts of a\.prose[^]*Think/);
  prompts[0].prompt = "Think again";
  await middleware.executeCommand("prose.dryRun", [{ uri: "file:///flows/a.prose" }]);
  assert.equal(editor.changed, uri.toString());
  assert.match(editor.provider.provideTextDocumentContent(uri), /Think again/);
});

test("a fork says what it reuses and asks, and starts when the user confirms it", async () => {
  const editor = fakeEditor();
  const { client, middleware } = attached(editor);
  const asked = [];
  let choice;
  editor.module.window.showInformationMessage = async (...message) => {
    asked.push(message);
    return choice;
  };
  const plan = { title: "Fork of run r1 before line 4 (s1, event 9)", details: ["reuses 2 sessions and 0 decisions", "asks claude"], notes: ["the program has changed"] };
  client.answer = ({ confirmed }) => (confirmed ? { run: "r2" } : plan);
  const fork = (...args) => middleware.executeCommand("prose.fork", args, () => assert.fail("the client does not execute it"));
  const argument = { uri: "file:///p/a.prose", run: "r1", from: "failure" };
  assert.equal(await fork(argument), undefined);
  assert.deepEqual(client.done, [["prose.planFork", argument]]);
  const detail = "reuses 2 sessions and 0 decisions\nasks claude\nNote: the program has changed";
  assert.deepEqual(asked, [[plan.title, { modal: true, detail }, "Start"]]);
  choice = "Start";
  assert.deepEqual(await fork(argument), { run: "r2" });
  assert.deepEqual(client.done.slice(1), [["prose.planFork", argument], ["prose.fork", { ...argument, confirmed: true }]]);

  // From the palette, it is about the statement at the cursor.
  const document = { languageId: "prose", uri: { toString: () => "file:///p/a.prose" } };
  editor.module.window.activeTextEditor = { document, selection: { active: { line: 6 } } };
  await fork();
  assert.deepEqual(client.done.at(-1), ["prose.fork", { uri: "file:///p/a.prose", line: 7, confirmed: true }]);
});
