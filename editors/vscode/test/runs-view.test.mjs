// The view of runs and its panel, with a stand-in for the editor's own module and for the client of the server.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import Module, { createRequire } from "node:module";
import { afterEach, beforeEach, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";

const EVENTS = readFileSync("test/recorded/review.jsonl", "utf8").trim().split("\n").map((line) => JSON.parse(line));
const DELTAS = readFileSync("test/recorded/review.deltas.jsonl", "utf8").trim().split("\n").map((line) => JSON.parse(line));
const PROGRAM = readFileSync("test/recorded/review.prose", "utf8");
const GRAPH = JSON.parse(readFileSync("test/recorded/review.flow.json", "utf8"));
const URI = "file:///p/review.prose";

/** What changed from one event to another, as one delta. */
function delta(from, to) {
  const nodes = new Map();
  const statements = new Map();
  const deltas = DELTAS.slice(from, to);
  for (const delta of deltas) {
    for (const node of delta.nodes) nodes.set(node.id, node);
    for (const statement of delta.statements) statements.set(statement.site.start, statement);
  }
  const last = deltas.at(-1) ?? { seq: DELTAS[from - 1].seq };
  return {
    ...(from === 0 ? deltas[0] : {}), ...last, whole: from === 0, nodes: [...nodes.values()].sort((a, b) => a.id - b.id),
    statements: [...statements.values()], entries: deltas.flatMap(({ entries }) => entries),
  };
}

/** Waits for something that happens on its own. */
async function until(happened) {
  const end = performance.now() + 60_000;
  while (!(await happened())) {
    assert.ok(performance.now() < end, `did not happen: ${happened}`);
    await turn();
  }
}

class Uri {
  constructor(scheme, path, query = "") {
    Object.assign(this, { scheme, path, query });
  }
  static parse(text) {
    const [, scheme, path] = /^([\w-]+):(?:\/\/)?(.*)$/.exec(text);
    return new Uri(scheme, path);
  }
  static from({ scheme, path, query }) {
    return new Uri(scheme, path, query);
  }
  static joinPath(uri, ...parts) {
    return new Uri(uri.scheme, [uri.path, ...parts].join("/").replace(/\/[^/]+\/\.\.$/, ""));
  }
  toString() {
    return `${this.scheme}://${this.path}`;
  }
}

class EventEmitter {
  listeners = new Set();
  event = (listener) => {
    this.listeners.add(listener);
    return { dispose: () => this.listeners.delete(listener) };
  };
  fire(value) {
    for (const listener of this.listeners) listener(value);
  }
  dispose() {
    this.listeners.clear();
  }
}

class TreeItem {
  constructor(label, collapsibleState) {
    Object.assign(this, { label, collapsibleState });
  }
}

class Range {
  constructor(start, end) {
    Object.assign(this, { start, end });
  }
}

const none = () => ({ dispose() {} });

let editor;
let client;
let view;

function document(uri, text) {
  const lines = text.split("\n");
  return {
    uri,
    getText: () => text,
    lineAt: (line) => ({
      range: { start: { line, translate: (_, by) => ({ line, character: by }) } },
      firstNonWhitespaceCharacterIndex: lines[line].search(/\S|$/),
    }),
  };
}

beforeEach(() => {
  editor = { commands: new Map(), executed: [], shown: [], panels: [], watchers: [], selections: new EventEmitter(), program: PROGRAM };
  const vscode = {
    EventEmitter, TreeItem, Uri, Range,
    Disposable: class { constructor(dispose) { this.dispose = dispose; } },
    MarkdownString: class {
      text = "";
      appendMarkdown(text) { this.text += text; }
      appendText(text) { this.text += text; }
    },
    ThemeIcon: class { constructor(id) { this.id = id; } },
    ThemeColor: class {},
    TreeItemCollapsibleState: { None: 0, Collapsed: 1, Expanded: 2 },
    TextEditorRevealType: { InCenterIfOutsideViewport: 2 },
    ViewColumn: { Active: -1, One: 1, Beside: -2 },
    languages: { registerCodeLensProvider: (_, provider) => ((editor.lenses = provider), none()) },
    CodeLens: class { constructor(range, command) { Object.assign(this, { range, command }); } },
    commands: {
      registerCommand: (name, run) => (editor.commands.set(name, run), none()),
      executeCommand: async (...command) => {
        editor.executed.push(command);
        return editor.result;
      },
    },
    window: {
      activeTextEditor: undefined,
      visibleTextEditors: [],
      createTreeView: (_, { treeDataProvider }) => {
        editor.tree = treeDataProvider;
        return { visible: true, onDidChangeVisibility: none, onDidExpandElement: none, onDidCollapseElement: none, dispose() {} };
      },
      createWebviewPanel: (type, title, column, options) => {
        const received = new EventEmitter();
        const panel = {
          type, title, options, posted: [], visible: true, send: (message) => received.fire(message),
          webview: {
            asWebviewUri: (uri) => `webview:${uri.path}`, onDidReceiveMessage: received.event,
            postMessage: async (message) => void panel.posted.push(message),
          },
          onDidDispose: none, onDidChangeViewState: none, reveal() {}, dispose() {},
        };
        editor.panels.push(panel);
        return panel;
      },
      onDidChangeTextEditorSelection: (listener) => editor.selections.event(listener),
      onDidChangeActiveTextEditor: none,
      showTextDocument: async (shown, options) => {
        editor.shown.push({ uri: String(shown.uri ?? shown), options });
        return { revealRange() {} };
      },
      showErrorMessage: async (message) => void editor.shown.push({ message }),
      showQuickPick: async (items, { placeHolder }) => {
        editor.shown.push({ placeHolder, items: items.map(({ description }) => description) });
        return items[0];
      },
      setStatusBarMessage: (message) => void editor.shown.push({ message }),
      showInformationMessage: async (message) => void editor.shown.push({ message }),
    },
    workspace: {
      textDocuments: [],
      onDidCloseTextDocument: none,
      createFileSystemWatcher: () => {
        const watcher = { created: new EventEmitter(), changed: new EventEmitter(), deleted: new EventEmitter() };
        editor.watchers.push(watcher);
        return { onDidCreate: watcher.created.event, onDidChange: watcher.changed.event, onDidDelete: watcher.deleted.event, dispose() {} };
      },
      findFiles: async () => [],
      fs: { readFile: async () => new TextEncoder().encode(PROGRAM) },
      openTextDocument: async (opened) => {
        if (opened.content === undefined) return document(opened, editor.program);
        const untitled = document(new Uri("untitled", "Untitled-1"), opened.content);
        vscode.workspace.textDocuments.push(untitled);
        return untitled;
      },
      registerTextDocumentContentProvider: (scheme, provider) => {
        if (scheme === "prose-session") editor.sessions = provider;
        else editor.steps = provider;
        return none();
      },
    },
  };
  editor.vscode = vscode;
  client = { runs: [], asked: [] };
  client.sendRequest = async (method, params) => {
    client.asked.push([method, params]);
    switch (method) {
      case "prose/runs":
        return { runs: client.runs, problems: [] };
      case "prose/runView": {
        const after = DELTAS.findLastIndex(({ seq }) => seq <= params.after) + 1;
        return { ...client.runs.find(({ folder }) => folder === params.folder), view: delta(after, client.events), text: PROGRAM, problem: null };
      }
      case "prose/flowGraph":
        return GRAPH;
      case "prose/session":
        return client.session ?? assert.fail("no session is expected");
      case "prose/compareRuns":
        return params.step === undefined ? client.comparison : client.comparison.steps[params.step];
      default:
        throw new Error(`${method} is not known here`);
    }
  };
  client.events = DELTAS.length;
  const require = createRequire(import.meta.url);
  const bundle = require.resolve("../dist-tests/src/runs/view.js");
  const original = Module._load;
  Module._load = (request, ...others) => (request === "vscode" ? vscode : original(request, ...others));
  try {
    delete require.cache[bundle];
    const { RunsView } = require(bundle);
    view = new RunsView(new Uri("file", "/extension"), () => client);
  } finally {
    Module._load = original;
  }
});

afterEach(() => view.dispose());

const OVER = {
  run: EVENTS[0].run, folder: `file:///p/.prose/runs/${EVENTS[0].run}`, program: "review.prose", uri: URI, block: null, harness: "script",
  status: "completed", canResume: false, here: false, started: EVENTS[0].at, milliseconds: 2386, sessions: 15,
  usage: { input_tokens: 1000, output_tokens: 200, cost: 0.5 }, error: null,
};

async function labels(node) {
  return (await editor.tree.getChildren(node)).map((child) => editor.tree.getTreeItem(child).label);
}

test("runs that this window did not start have their parts as well", async () => {
  client.runs = [OVER];
  await editor.commands.get("prose.runs.refresh")();
  const [run] = await editor.tree.getChildren();
  const shown = editor.tree.getTreeItem(run);
  assert.equal(shown.label, "review.prose");
  assert.match(shown.description, /2.4 s · 15 sessions · 1.2k tokens, \$0.50$/);
  assert.equal(shown.contextValue, "run rerun state fork");
  assert.deepEqual((await labels(run)).slice(0, 3), ["Write about tides", "parallel", "loop until **the draft is good**"]);
  const [, parallel] = await editor.tree.getChildren(run);
  assert.deepEqual(await labels(parallel), ["facts", "style", "opinion"]);
  // The editor finds its way from a part to what it is in.
  assert.equal(editor.tree.getParent(parallel), run);
  // What is over is read once.
  await editor.tree.getChildren(run);
  assert.equal(client.asked.filter(([method]) => method === "prose/runView").length, 1);
});

test("rows stay as they are when there is nothing new", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let drawn = 0;
  editor.tree.onDidChangeTreeData(() => drawn++);
  const refresh = async () => {
    await editor.commands.get("prose.runs.refresh")();
    // The tree waits a moment for more.
    t.mock.timers.tick(300);
    return drawn;
  };
  client.runs = [OVER];
  assert.equal(await refresh(), 1);
  assert.equal(await refresh(), 1);
  client.runs = [{ ...OVER, sessions: 16 }];
  assert.equal(await refresh(), 2);
});

test("a run that goes on is shown from what the server tells", async () => {
  const { run } = OVER;
  const middle = EVENTS.findIndex(({ event }) => event === "session-ended");
  view.told({ run, uri: URI, view: delta(0, middle) });
  const [node] = await editor.tree.getChildren();
  let shown = editor.tree.getTreeItem(node);
  assert.deepEqual([shown.iconPath.id, shown.collapsibleState], ["sync~spin", 2]);
  assert.match(shown.contextValue, /\bcancel\b/);
  assert.match(shown.description, /0\/1 sessions/);
  view.told({ run, uri: URI, view: delta(middle, DELTAS.length) });
  client.runs = [OVER];
  await editor.commands.get("prose.runs.refresh")();
  shown = editor.tree.getTreeItem(node);
  assert.equal(shown.iconPath.id, "pass");
  assert.equal(client.asked.filter(([method]) => method === "prose/runView").length, 0);
});

test("a session at work shows what its agent does, and that it waits for permission", async () => {
  const { run } = OVER;
  const started = delta(0, EVENTS.findIndex(({ event }) => event === "session-ended"));
  view.told({ run, uri: URI, view: started });
  const [node] = await editor.tree.getChildren();
  const [session] = await editor.tree.getChildren(node);
  const { id } = session.item;
  const report = (activity) => {
    view.told({ run, uri: URI, view: { ...started, whole: false, nodes: [], entries: [], activities: [{ node: id, last: 1, calls: 2, ...activity }] } });
    return [editor.tree.getTreeItem(session).description, editor.tree.getTreeItem(node).description];
  };
  const [doing] = report({ tool: { title: "Edit a.rs", kind: "edit", status: "running" } });
  assert.match(doing, / · Edit a.rs · 2 tool calls$/);
  const [asking, ofRun] = report({ questions: [{ id: "q", title: "git push", rule: "execute: prompt" }] });
  assert.match(asking, / · waits for permission: git push · 2 tool calls$/);
  assert.match(ofRun, /^waits for permission · /);
});

test("a run that waits for an answer shows its question and since when", async () => {
  const waiting = [{ id: 3, prompt: "Ship it? (yes/no)", since: new Date().setHours(9, 5, 0, 0) }];
  for (const status of ["waiting", "running"]) {
    client.runs = [{ ...OVER, status, waiting }];
    await editor.commands.get("prose.runs.refresh")();
    const [node] = await editor.tree.getChildren();
    const shown = editor.tree.getTreeItem(node);
    assert.equal(shown.iconPath.id, "clock");
    assert.match(shown.description, /^waits for an answer: Ship it\? \(yes\/no\) · /);
    assert.match(shown.tooltip.text, /Waits since 0?9:05.*: Ship it\? \(yes\/no\)/);
  }
});

test("a run of a terminal is followed from its journal", async () => {
  client.runs = [{ ...OVER, status: "running" }];
  client.events = 60;
  await editor.commands.get("prose.runs.refresh")();
  const [run] = await editor.tree.getChildren();
  const before = (await labels(run)).length;
  assert.doesNotMatch(editor.tree.getTreeItem(run).contextValue, /cancel|resume/);
  client.events = DELTAS.length;
  client.runs = [OVER];
  await editor.tree.getChildren(run);
  assert.ok((await labels(run)).length > before);
  const asked = client.asked.filter(([method]) => method === "prose/runView").map(([, { after }]) => after);
  assert.deepEqual(asked, [0, EVENTS[59].seq]);
});

test("a folder of a run that appears is looked at", async () => {
  client.runs = [OVER];
  editor.watchers[0].created.fire(Uri.parse(`${OVER.folder}/journal.jsonl`));
  await until(async () => (await labels()).length > 0);
  assert.deepEqual(await labels(), ["review.prose"]);
});

test("a part leads to its statement, where that is now", async () => {
  client.runs = [OVER];
  await editor.commands.get("prose.runs.refresh")();
  const [run] = await editor.tree.getChildren();
  const [draft] = await editor.tree.getChildren(run);
  editor.program = `# A line more\n${PROGRAM}`;
  await editor.commands.get("prose.runs.reveal")(draft);
  const [{ uri, options }] = editor.shown;
  assert.deepEqual([uri, options.selection.start.line, options.preserveFocus], [URI, 18, false]);
  editor.program = PROGRAM.replace("let draft = session: writer", "let draft = session: critic");
  await editor.commands.get("prose.runs.reveal")(draft);
  assert.match(editor.shown[1].message, /has changed since the run/);
});

test("a run is stopped, resumed and run again with its inputs", async () => {
  client.runs = [{ ...OVER, status: "interrupted", canResume: true }];
  await editor.commands.get("prose.runs.refresh")();
  const [run] = await editor.tree.getChildren();
  assert.match(editor.tree.getTreeItem(run).contextValue, /\bresume\b/);
  await editor.commands.get("prose.runs.cancel")(run);
  await editor.commands.get("prose.runs.resume")(run);
  await editor.commands.get("prose.runs.rerun")(run);
  await editor.commands.get("prose.runs.openState")(run);
  assert.deepEqual(editor.executed, [
    ["prose.cancel", { run: OVER.run, uri: URI }],
    ["prose.resume", { uri: URI, run: OVER.run }],
    ["prose.run", { uri: URI, inputs: { topic: "tides" } }],
  ]);
  assert.equal(editor.shown[0].uri, `${OVER.folder}/state.md`);
});

test("a run is paused and continued, and its sessions are skipped and retried, from the view and from the panel", async () => {
  const { run } = OVER;
  client.runs = [{ ...OVER, status: "running" }];
  await editor.commands.get("prose.runs.refresh")();
  const open = delta(0, EVENTS.findIndex(({ event }) => event === "session-ended"));
  view.told({ run, uri: URI, view: open });
  const [node] = await editor.tree.getChildren();
  const [session] = await editor.tree.getChildren(node);
  const { request } = session.item.attempts.at(-1);
  const shown = () => editor.tree.getTreeItem(node);
  assert.match(shown().contextValue, /\bpause\b/);
  assert.equal(editor.tree.getTreeItem(session).contextValue, "part session skip retry fork");
  await editor.commands.get("prose.runs.pause")(node);

  const { panels: panel } = editor;
  await editor.commands.get("prose.runs.show")(node);
  panel[0].send({ type: "ready" });
  await until(() => panel[0].posted.at(-1)?.type === "can");
  assert.deepEqual(panel[0].posted.at(-1), { type: "can", can: ["cancel", "pause", "state", "fork"] });

  view.told({ run, uri: URI, view: { ...open, whole: false, nodes: [], entries: [], pause: { since: 1, by: "ada", from: "command-line" } } });
  assert.match(shown().description, /^paused by ada · /);
  assert.equal(shown().iconPath.id, "debug-pause");
  assert.match(shown().contextValue, /\bcontinue\b/);
  assert.doesNotMatch(shown().contextValue, /\bpause\b/);
  assert.deepEqual(panel[0].posted.at(-1), { type: "can", can: ["cancel", "continue", "state", "fork"] });
  await editor.commands.get("prose.runs.continue")(node);
  await editor.commands.get("prose.runs.skip")(session);
  await editor.commands.get("prose.runs.retry")(session);
  panel[0].send({ type: "command", command: "continue" });
  panel[0].send({ type: "session-command", command: "retry", request });
  await until(() => editor.executed.length === 6);
  assert.deepEqual(editor.executed, [
    ["prose.pause", { run, uri: URI }],
    ["prose.continue", { run, uri: URI }],
    ["prose.skip", { run, request }],
    ["prose.retry", { run, request }],
    ["prose.continue", { run, uri: URI }],
    ["prose.retry", { run, request }],
  ]);

  // What has ended cannot be skipped, and a run that has ended is not paused.
  view.told({ run, uri: URI, view: delta(0, DELTAS.length) });
  const [ended] = await editor.tree.getChildren(node);
  assert.equal(editor.tree.getTreeItem(ended).contextValue, "part session fork whatIf");
  assert.doesNotMatch(shown().contextValue, /pause|continue/);
});

test("a run of another process that is not followed is shown as paused", async () => {
  client.runs = [{ ...OVER, status: "paused", pause: { since: 1, from: "terminal" } }];
  client.events = 60;
  await editor.commands.get("prose.runs.refresh")();
  const [run] = await editor.tree.getChildren();
  assert.match(editor.tree.getTreeItem(run).description, /^paused · /);
  assert.doesNotMatch(editor.tree.getTreeItem(run).contextValue, /pause|continue|cancel|resume/);
});

test("the panel loads nothing from elsewhere, and is told of the run and of what happens in it", async () => {
  client.runs = [OVER];
  await editor.commands.get("prose.runs.refresh")();
  const [run] = await editor.tree.getChildren();
  await editor.commands.get("prose.runs.show")(run);
  const [panel] = editor.panels;
  const nonce = /script-src 'nonce-([^']+)'/.exec(panel.webview.html)[1];
  assert.match(panel.webview.html, new RegExp(`default-src 'none'; style-src 'nonce-${nonce.replaceAll(/[+/]/g, "\\$&")}'; script-src`));
  assert.doesNotMatch(panel.webview.html, /https?:|unsafe/);
  assert.deepEqual(panel.options.localResourceRoots.map(String), ["file:///extension/dist"]);
  assert.deepEqual(panel.posted, []);

  panel.send({ type: "ready" });
  await until(() => panel.posted.at(-1)?.type === "can");
  const [told] = panel.posted;
  assert.deepEqual([told.type, told.run, told.graph.nodes.length], ["run", OVER.run, GRAPH.nodes.length]);
  assert.deepEqual([told.delta.whole, told.delta.nodes[0].label], [true, "review.prose"]);
  assert.deepEqual(panel.posted.at(-1), { type: "can", can: ["rerun", "state", "fork"] });

  // Another run of the same program is what a person wants to see now.
  client.runs = [{ ...OVER, run: "20260116-000000-aaaaaa", folder: "file:///p/.prose/runs/20260116-000000-aaaaaa", status: "running", here: true }, OVER];
  view.told({ run: "20260116-000000-aaaaaa", uri: URI, view: delta(0, 8) });
  await until(() => panel.posted.findLast(({ type }) => type === "run").run === "20260116-000000-aaaaaa");
  view.told({ run: "20260116-000000-aaaaaa", uri: URI, view: delta(8, 12) });
  assert.deepEqual(panel.posted.findLast(({ type }) => type === "delta").delta, delta(8, 12));
});

test("the panel and the editor go along with one another", async () => {
  client.runs = [OVER];
  await editor.commands.get("prose.runs.refresh")();
  const [run] = await editor.tree.getChildren();
  await editor.commands.get("prose.runs.show")(run);
  const [panel] = editor.panels;
  panel.send({ type: "ready" });
  await until(() => panel.posted.at(-1)?.type === "can");
  const text = `# A line more\n${PROGRAM}`;
  editor.selections.fire({ textEditor: { document: document(Uri.parse(URI), text), selection: { active: { line: 18 } } } });
  await until(() => panel.posted.at(-1)?.type === "cursor");
  assert.deepEqual(panel.posted.at(-1), { type: "cursor", line: 18 });
  panel.send({ type: "reveal", site: { start: 0, end: 1, line: 21, last_line: 21 }, keepsFocus: true });
  await until(() => editor.shown.length === 1);
  assert.deepEqual([editor.shown[0].options.selection.start.line, editor.shown[0].options.preserveFocus], [20, true]);
  panel.send({ type: "command", command: "rerun" });
  await until(() => editor.executed.length === 1);
  assert.equal(editor.executed[0][0], "prose.run");
  panel.send({ type: "session", requests: [3], label: "Look for facts" });
  await until(() => editor.shown.length === 2);
  const { query } = Uri.from({ scheme: "prose-session", path: "/x", query: JSON.stringify({ run: OVER.run, folder: OVER.folder, requests: [3] }) });
  assert.equal(editor.shown[1].uri, "prose-session:///Look for facts.md");
  assert.match(await editor.sessions.provideTextDocumentContent({ query }), /no session is expected/);
});

test("a run is run again from a session, with the edited program, and from the panel", async () => {
  client.runs = [OVER];
  await editor.commands.get("prose.runs.refresh")();
  const [run] = await editor.tree.getChildren();
  const [session] = await editor.tree.getChildren(run);
  await editor.commands.get("prose.runs.fork")(session);
  await editor.commands.get("prose.runs.forkEdited")(run);
  await editor.commands.get("prose.runs.show")(run);
  editor.panels[0].send({ type: "session-command", command: "fork", request: session.item.attempts[0].request });
  await until(() => editor.executed.length === 3);
  const from = { uri: URI, run: OVER.run, from: session.item.place };
  assert.deepEqual(editor.executed, [["prose.fork", from], ["prose.fork", { uri: URI, run: OVER.run }], ["prose.fork", from]]);
});

test("a reply is changed in a document, and a run continues with it", async () => {
  client.runs = [OVER];
  await editor.commands.get("prose.runs.refresh")();
  const [run] = await editor.tree.getChildren();
  const [session] = await editor.tree.getChildren(run);
  client.session = { reply: null };
  await editor.commands.get("prose.runs.whatIf")(session);
  assert.match(editor.shown.at(-1).message, /has no reply/);
  client.session = { reply: "Tides come.\nAnd go." };
  await editor.commands.get("prose.runs.whatIf")(session);
  const [untitled] = editor.vscode.workspace.textDocuments;
  assert.equal(untitled.getText(), "Tides come.\nAnd go.");
  const [{ command }] = editor.lenses.provideCodeLenses(untitled);
  assert.equal(command.title, "▶ Run again with this reply");
  assert.deepEqual(editor.lenses.provideCodeLenses(document(Uri.parse(URI), "")), []);
  const expected = ["prose.fork", { uri: URI, run: OVER.run, replies: [{ at: session.item.place, text: "Tides come.\nAnd go." }] }];
  // A user who does not start it still has the document.
  await editor.commands.get(command.command)(...command.arguments);
  assert.deepEqual(editor.executed, [expected]);
  editor.result = { run: "r2" };
  await editor.commands.get(command.command)(...command.arguments);
  assert.deepEqual(editor.executed.slice(1), [expected, ["workbench.action.revertAndCloseActiveEditor"]]);
});

test("the panel gets the details of a session, and again what changes in it", async () => {
  client.runs = [OVER];
  await editor.commands.get("prose.runs.show")();
  const [panel] = editor.panels;
  panel.send({ type: "ready" });
  await until(() => panel.posted.some(({ type }) => type === "run"));
  const { delta: { nodes } } = panel.posted.find(({ type }) => type === "run");
  const node = nodes.find(({ kind }) => kind === "session");
  const requests = node.attempts.map(({ request }) => request);
  client.session = { reply: null, ended: null, log: "file:///p/agents/1-a.log", attempt: 0 };
  editor.vscode.workspace.fs.readFile = async ({ path }) => new TextEncoder().encode(path.endsWith(".log") ? "[2026-01-15T14:30:57.000Z] text\nIt is" : PROGRAM);
  panel.send({ type: "details", node: node.id, requests });
  const details = () => panel.posted.filter(({ type }) => type === "details").map(({ details }) => details);
  await until(() => details().length === 1);
  const [first] = details();
  assert.deepEqual([first.requests, first.log.text, first.attempts.length], [requests, "It is", requests.length]);
  assert.equal(first.code.line, node.site.line);
  assert.equal(first.code.text.split("\n")[0], PROGRAM.split("\n")[node.site.line - 1]);

  // Only what is about the session leads to other details.
  const change = (delta) => view.told({ run: OVER.run, uri: URI, view: { ...DELTAS[1], whole: false, nodes: [], statements: [], entries: [], ...delta } });
  change({ nodes: [nodes.find(({ id, kind }) => id !== node.id && kind === "session")] });
  change({ activities: [{ node: node.id, last: 1, calls: 0 }] });
  await until(() => details().length === 2);
  panel.send({ type: "details", node: null, requests: [] });
  change({ activities: [{ node: node.id, last: 2, calls: 0 }] });
  await turn();
  assert.equal(details().length, 2);
});

test("a run of an unsaved program is saved with it", async () => {
  const uri = new Uri("untitled", "Untitled-1");
  const open = { ...document(uri, PROGRAM), isUntitled: true };
  editor.vscode.workspace.textDocuments.push(open);
  const saved = new Uri("file", "/p/saved.prose");
  editor.vscode.workspace.save = async (asked) => (assert.equal(asked, uri), saved);
  client.runs = [{ ...OVER, uri: null, isTemporary: true }];
  const [node] = await editor.tree.getChildren().then(async (none) => (none.length > 0 ? none : (await editor.commands.get("prose.runs.refresh")(), editor.tree.getChildren())));
  node.entry.uri = uri.toString();
  assert.match(editor.tree.getTreeItem(node).contextValue, /^run .*\bsave\b/);
  await editor.commands.get("prose.runs.save")(node);
  assert.deepEqual(editor.executed.at(-1), ["prose.saveRun", { uri: "file:///p/saved.prose", run: OVER.run }]);
});

test("two runs are compared in a panel, and their texts in the editor", async () => {
  const second = { ...OVER, run: "20260116-000000-aaaaaa", folder: "file:///p/.prose/runs/20260116-000000-aaaaaa", started: OVER.started + 1000 };
  client.runs = [second, OVER];
  const step = { kind: "session", place: "s1/1", line: 4, seq: 9, asked: "Write", result: "one" };
  const pair = { a: step, b: { ...step, result: "two" }, differs: ["result"], different: true };
  client.comparison = { a: { run: OVER.run }, b: { run: second.run }, steps: [pair] };
  await editor.commands.get("prose.runs.refresh")();
  const [now, before] = await editor.tree.getChildren();
  await editor.commands.get("prose.runs.comparePrevious")(before);
  assert.match(editor.shown.at(-1).message, /first run of its program/);
  await editor.commands.get("prose.runs.compare")(now, [now, before]);
  const [panel] = editor.panels;
  assert.match(panel.webview.html, /webview:\/extension\/dist\/compare.js/);
  panel.send({ type: "ready" });
  await until(() => panel.posted.length > 0);
  const [told] = panel.posted;
  assert.deepEqual([told.type, told.a.whole, told.comparison], ["comparison", true, client.comparison]);
  const folders = [OVER.folder, second.folder];
  assert.deepEqual(client.asked.findLast(([method]) => method === "prose/compareRuns"), ["prose/compareRuns", { folders }]);

  panel.send({ type: "diff", step: 0, part: "result" });
  await until(() => editor.executed.at(-1)?.[0] === "vscode.diff");
  const [command, a, b, title] = editor.executed.at(-1);
  assert.deepEqual([command, String(a), String(b), title], ["vscode.diff", "prose-step:///Reply before.md", "prose-step:///Reply now.md", "Reply of session at line 4 (s1/1)"]);
  assert.deepEqual([await editor.steps.provideTextDocumentContent(a), await editor.steps.provideTextDocumentContent(b)], ["one", "two"]);

  // Without a selection, the user picks both.
  await editor.commands.get("prose.runs.compare")(undefined, []);
  assert.deepEqual(editor.shown.slice(-2).map(({ placeHolder }) => placeHolder), ["Select the first run", "Select the run to compare with"]);
});
