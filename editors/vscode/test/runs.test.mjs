// The part of the editor in runs, with a stand-in for the editor's own module and for the client of the server.
import assert from "node:assert/strict";
import Module, { createRequire } from "node:module";
import { test } from "node:test";

function fakeEditor() {
  const editor = { output: [], errors: [], documents: [], asked: [], answers: [], progress: [] };
  const ask = (kind) => async (...asked) => {
    editor.asked.push([kind, ...asked.slice(0, -1)]);
    return editor.answers.shift();
  };
  editor.module = {
    ProgressLocation: { Notification: 15 },
    Uri: { parse: (uri) => ({ path: uri.replace(/^file:\/\//, "") }) },
    window: {
      activeTextEditor: undefined,
      createOutputChannel: () => ({ appendLine: (line) => editor.output.push(line), dispose() {} }),
      showErrorMessage: async (message, ...choices) => {
        editor.errors.push(message);
        return choices[0];
      },
      showInputBox: ask("input"),
      showQuickPick: ask("pick"),
      showTextDocument: async () => {},
      withProgress: async ({ title, cancellable }, task) => {
        const shown = { title, cancellable, messages: [], ended: false };
        editor.progress.push(shown);
        const report = ({ message }) => shown.messages.push(message);
        await task({ report }, { onCancellationRequested: (stop) => (shown.stop = stop) });
        shown.ended = true;
      },
    },
    workspace: {
      getConfiguration: () => ({ get: (_, initial) => initial }),
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

test("the progress of a run has a button that stops it", async () => {
  const editor = fakeEditor();
  const { client, middleware } = attached(editor);
  const others = [];
  const tell = (token, params) => middleware.handleWorkDoneProgress(token, params, (token) => others.push(token));
  tell("run-r1", { kind: "begin", title: "Running a.prose" });
  tell("run-r1", { kind: "report", message: "1 session done" });
  tell("fetching-1", { kind: "begin", title: "Fetching" });
  const [shown] = editor.progress;
  assert.deepEqual([shown.title, shown.cancellable, shown.messages], ["Running a.prose", true, ["1 session done"]]);
  shown.stop();
  assert.deepEqual(client.sent, [{ method: "window/workDoneProgress/cancel", params: { token: "run-r1" } }]);
  tell("run-r1", { kind: "end" });
  await new Promise(setImmediate);
  assert.equal(shown.ended, true);
  assert.deepEqual(others, ["fetching-1"]);
});

test("nothing is shown any more of the runs of a server that is gone", async () => {
  const editor = fakeEditor();
  const { runs, middleware } = attached(editor);
  middleware.handleWorkDoneProgress("run-r1", { kind: "begin", title: "Running a.prose" }, () => {});
  runs.endAll();
  await new Promise(setImmediate);
  assert.equal(editor.progress[0].ended, true);
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

test("a dry run opens as a text", async () => {
  const editor = fakeEditor();
  const { client, middleware } = attached(editor);
  const prompts = [{ line: 1, agent: null, model: null, prompt: "Think", system: null }];
  client.answer = () => ({ prompts, failed: null });
  await middleware.executeCommand("prose.dryRun", [{ uri: "file:///flows/a.prose" }]);
  assert.equal(editor.documents[0].language, "markdown");
  assert.match(editor.documents[0].content, /^# Prompts of a\.prose/);
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
