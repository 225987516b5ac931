// The Testing view with the real `prose` and a stand-in for the editor's own module.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import Module, { createRequire } from "node:module";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { binary } from "./prose.mjs";

const PROGRAM = `input topic: "What about"
output text = session "Write about {topic}"
if **it is long**:
  session "Shorten it"
`;

const TESTS = `[[case]]
name = "writes"
inputs.topic = "tides"
[[case.session]]
reply = "Tides"
[[case.condition]]
met = false

[[case]]
name = "writes otherwise"
[[case.session]]
reply = "Winds"
[[case.condition]]
met = false
[case.matrix]
inputs.topic = ["winds", "storms"]
[case.expect]
outputs.text = "Storms"

[[case]]
name = "later"
skip = "not yet"
`;

class Uri {
  constructor(scheme, path) {
    Object.assign(this, { scheme, path, fsPath: path });
  }
  static file(path) {
    return new Uri("file", path);
  }
  static parse(text) {
    return new Uri("file", text.replace("file://", ""));
  }
  with({ path }) {
    return new Uri(this.scheme, path);
  }
  toString() {
    return `${this.scheme}://${this.path}`;
  }
}

class Items {
  all = new Map();
  add(item) {
    this.all.set(item.id, item);
  }
  get(id) {
    return this.all.get(id);
  }
  delete(id) {
    this.all.delete(id);
  }
  replace(items) {
    this.all = new Map(items.map((item) => [item.id, item]));
  }
  forEach(work) {
    for (const item of this.all.values()) work(item);
  }
}

class TestMessage {
  constructor(message) {
    this.message = message;
  }
  static diff(message, expectedOutput, actualOutput) {
    return Object.assign(new TestMessage(message), { expectedOutput, actualOutput });
  }
}

const record = (...names) => class {
  constructor(...values) {
    names.forEach((name, index) => (this[name] = values[index]));
  }
};

let folder;
let editor;
let testing;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(path.join(tmpdir(), "prose-testing-")));
  writeFileSync(path.join(folder, "main.prose"), PROGRAM);
  writeFileSync(path.join(folder, "main.test.toml"), TESTS);
  editor = { profiles: {}, runs: [], errors: [], sessions: [], watchers: {}, trusted: true };
  const controller = {
    items: new Items(),
    createTestItem: (id, label, uri) => ({ id, label, uri, children: new Items() }),
    createRunProfile: (name, _kind, run) => (editor.profiles[name] = { name, run }),
    createTestRun() {
      const run = { said: [], messages: [], output: "", coverage: [], isOver: false };
      for (const what of ["enqueued", "started", "skipped"]) run[what] = ({ label }) => run.said.push(`${what} ${label}`);
      run.passed = ({ label }, took) => (assert.ok(took >= 0), run.said.push(`passed ${label}`));
      for (const what of ["failed", "errored"]) {
        run[what] = ({ label }, messages) => (run.said.push(`${what} ${label}`), run.messages.push(...[messages].flat()));
      }
      run.appendOutput = (text) => (run.output += text);
      run.addCoverage = (coverage) => run.coverage.push(coverage);
      run.end = () => (run.isOver = true);
      editor.runs.push(run);
      return run;
    },
    dispose() {},
  };
  editor.controller = controller;
  const workspaceFolder = { uri: Uri.file(folder) };
  const watch = (what) => (listener) => (editor.watchers[what] = listener);
  editor.module = {
    Uri,
    TestMessage,
    TestRunProfileKind: { Run: 1, Debug: 2, Coverage: 3 },
    TestRunRequest: record("include", "exclude", "profile"),
    CancellationTokenSource: class {
      token = { onCancellationRequested: () => ({ dispose() {} }), isCancellationRequested: false };
    },
    Range: record("line", "column", "endLine", "endColumn"),
    Location: record("uri", "range"),
    StatementCoverage: record("executed", "location", "branches"),
    BranchCoverage: record("executed", "location", "label"),
    FileCoverage: { fromDetails: (uri, details) => ({ uri, details }) },
    tests: { createTestController: () => controller },
    workspace: {
      get isTrusted() {
        return editor.trusted;
      },
      workspaceFolders: [workspaceFolder],
      getWorkspaceFolder: () => workspaceFolder,
      asRelativePath: (uri) => path.relative(folder, uri.path),
      saveAll: async () => true,
      getConfiguration: () => ({ get: (_name, initial) => (initial === "" ? binary : initial) }),
      createFileSystemWatcher: () => ({
        onDidCreate: watch("create"), onDidChange: watch("change"), onDidDelete: watch("delete"), dispose() {},
      }),
    },
    window: { showErrorMessage: async (message) => void editor.errors.push(message) },
    debug: {
      breakpoints: [],
      onDidTerminateDebugSession: (listener) => ((editor.ends = listener), { dispose() {} }),
      startDebugging: async (_folder, configuration) => {
        const { script, ...settings } = configuration;
        editor.sessions.push({ ...settings, script: script && readFileSync(script, "utf8") });
        editor.script = script;
        setImmediate(() => editor.ends({ name: configuration.name }));
        return true;
      },
    },
  };
  const bundle = createRequire(import.meta.url).resolve("../dist-tests/src/testing.js");
  delete createRequire(import.meta.url).cache[bundle];
  const original = Module._load;
  Module._load = (request, ...others) => (request === "vscode" ? editor.module : original(request, ...others));
  try {
    const { Testing } = createRequire(import.meta.url)(bundle);
    testing = new Testing("/nowhere/extension", { warn: (line) => editor.errors.push(line) });
  } finally {
    Module._load = original;
  }
});

afterEach(() => {
  testing.dispose();
  rmSync(folder, { recursive: true, force: true });
});

const token = () => new editor.module.CancellationTokenSource().token;

/** The tree of the view: labels, indented. */
function tree(items = editor.controller.items, indent = "") {
  return [...items.all.values()].flatMap((item) => [indent + item.label, ...tree(item.children, `${indent}  `)]);
}

async function discovered() {
  await editor.controller.resolveHandler(undefined);
  return editor.controller.items.get(`file://${folder}/main.test.toml`);
}

/** Runs a profile. */
async function runs(profile, include, exclude) {
  await editor.profiles[profile].run({ include, exclude }, token());
  return editor.runs.at(-1);
}

test("test files, cases and the combinations of a matrix are in the view", async () => {
  const file = await discovered();
  assert.deepEqual(tree(), [
    "main.test.toml",
    "  writes",
    "  writes otherwise",
    "    writes otherwise [topic=winds]",
    "    writes otherwise [topic=storms]",
    "  later",
  ]);
  assert.equal(file.error, undefined);
  const [writes, , later] = [...file.children.all.values()];
  assert.deepEqual([writes.range.line, writes.range.endLine], [0, 6]);
  assert.equal(later.description, "skipped: not yet");
});

test("the view follows the files", async () => {
  const file = await discovered();
  writeFileSync(path.join(folder, "main.test.toml"), TESTS.replace("inputs.topic = \"tides\"", "inptus.topic = 3"));
  editor.watchers.change(file.uri);
  while (file.error === undefined) await new Promise(setImmediate);
  assert.match(file.error, /^line 3: a `\[\[case\]\]` has no `inptus`/);
  assert.equal(tree()[1], "  writes");
  editor.watchers.delete(file.uri);
  assert.deepEqual(tree(), []);
});

test("all tests are run, and failures have a diff at their expectation", async () => {
  const run = await runs("Run");
  assert.ok(run.isOver);
  const ended = run.said.filter((line) => !/^(enqueued|started)/.test(line));
  assert.deepEqual(ended, [
    "passed writes", "failed writes otherwise [topic=winds]", "failed writes otherwise [topic=storms]", "skipped later",
  ]);
  assert.ok(run.said.includes("started writes"));
  const [{ message, expectedOutput, actualOutput, location }] = run.messages;
  assert.deepEqual([message, expectedOutput, actualOutput], ["output `text` differs from the expected value", "Storms", "Winds"]);
  assert.deepEqual([location.range.line, location.range.column, location.range.endColumn], [17, 15, 23]);
  assert.match(run.output, /pass writes\r\nFAIL writes otherwise \[topic=winds\]\r\n {2}output `text` differs/);
  assert.deepEqual(editor.errors, []);
});

test("one test is run, and the others are not", async () => {
  const file = await discovered();
  const [writes, otherwise] = [...file.children.all.values()];
  const [winds, storms] = [...otherwise.children.all.values()];
  assert.deepEqual((await runs("Run", [writes])).said, ["enqueued writes", "started writes", "passed writes"]);
  const label = "writes otherwise [topic=storms]";
  assert.deepEqual((await runs("Run", [otherwise], [winds])).said, [`enqueued ${label}`, `started ${label}`, `failed ${label}`]);
  assert.equal(storms.label, label);
});

test("a lens runs the saved text of a case", async () => {
  await testing.runNamed({ uri: `file://${folder}/main.test.toml`, name: "writes" });
  assert.deepEqual(editor.runs.at(-1).said.at(-1), "passed writes");
  await testing.runNamed({ uri: `file://${folder}/main.prose` });
  assert.equal(editor.runs.at(-1).said.filter((line) => line.startsWith("failed")).length, 2);
  await testing.runNamed({ uri: `file://${folder}/main.test.toml`, name: "reads" });
  assert.deepEqual(editor.errors, ["main.test.toml has no such test."]);
});

test("a file with mistakes is no test that passes", async () => {
  const file = await discovered();
  writeFileSync(path.join(folder, "main.prose"), "sesion\n");
  const run = await runs("Run", [file]);
  assert.ok(run.said.includes("errored writes"));
  assert.match(run.messages[0].message, /^`main\.prose` has 1 error and is not run$/);
});

test("coverage has statements and branches", async () => {
  const file = await discovered();
  const run = await runs("Coverage", [[...file.children.all.values()][0]]);
  const [{ uri, details }] = run.coverage;
  assert.equal(uri.path, path.join(folder, "main.prose"));
  assert.deepEqual(details.map(({ executed, location }) => [location.line, executed]), [[0, 1], [1, 1], [2, 1], [3, 0]]);
  assert.deepEqual(details[2].branches.map(({ label, executed }) => [label, executed]), [["**it is long**", 0], ["no branch", 1]]);
  assert.deepEqual(await editor.profiles.Coverage.loadDetailedCoverage(run, run.coverage[0]), details);
});

test("a case is debugged with its inputs and answers", async () => {
  const file = await discovered();
  const run = await runs("Debug", [[...file.children.all.values()][0]]);
  assert.ok(run.isOver);
  const [{ script, ...settings }] = editor.sessions;
  assert.deepEqual(settings, {
    type: "prose", name: "Debug writes", cwd: folder, stopOnEntry: true, request: "launch",
    program: path.join(folder, "main.prose"), inputs: { topic: "tides" },
  });
  assert.match(script, /\[\[session\]\]\nreply = "Tides"\n/);
  assert.ok(!existsSync(editor.script));
});

test("a run is cancelled, and its test has no result", async () => {
  writeFileSync(path.join(folder, "main.test.toml"), TESTS.replace('reply = "Tides"', 'reply = "Tides"\ndelay = "10m"'));
  const file = await discovered();
  let cancel;
  const cancelled = { isCancellationRequested: false, onCancellationRequested: (listener) => ((cancel = listener), { dispose() {} }) };
  const over = editor.profiles.Run.run({ include: [[...file.children.all.values()][0]] }, cancelled);
  while (!editor.runs.at(-1)?.said.includes("started writes")) await new Promise(setImmediate);
  cancel();
  await over;
  const run = editor.runs.at(-1);
  assert.deepEqual(run.said, ["enqueued writes", "started writes"]);
  assert.match(run.output, /stop writes/);
  assert.ok(run.isOver);
});

test("nothing runs in an untrusted workspace", async () => {
  const file = await discovered();
  editor.trusted = false;
  await editor.profiles.Run.run({ include: [file] }, token());
  assert.deepEqual(editor.runs, []);
  assert.deepEqual(editor.errors, ["Tests of an untrusted workspace do not run. Trust the workspace first."]);
});
