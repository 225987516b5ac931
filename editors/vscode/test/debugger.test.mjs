// The debugger as the test client of the protocol's authors uses it: `prose dap` in a process of its own.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { after, afterEach, test } from "node:test";
import testSupport from "@vscode/debugadapter-testsupport";
import { binary, prose } from "./prose.mjs";

const PROGRAM = `agent writer:
  prompt: "You write."

block review(text):
  let notes = session "Review {text}"
  output notes

let topic = "tides"
let draft = session: writer
  prompt: "Draft {topic}"
for word, i in ["low", "high", "ebb"]:
  let found = session "Find {word}"
parallel:
  facts = session "Check the facts"
  style = do review(draft)
try:
  session "Break"
catch as error:
  session "Handle {error.message}"
output report = session "Report {facts} {style}"
`;

const ANSWERS = `[[session]]
pattern = "^Draft"
reply = """
{"title": "Tides", "parts": ["low", "high"]}"""

[[session]]
pattern = "^Review"
reply = "it is good"

[[session]]
pattern = "^Break"
fail = "it is wrong"

[[session]]
pattern = "^Wait"
delay = "10m"
reply = "This is never said."

[[session]]
reply = "done"
`;

// A machine with two cores may be busy with other tests.
const PATIENCE = 60_000;

const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "prose-debugger-")));
const file = (name) => path.join(folder, name);
writeFileSync(file("main.prose"), PROGRAM);
writeFileSync(file("slow.prose"), 'let topic = "tides"\nlet answer = session "Wait for {topic}"\noutput end = session "End"\n');
writeFileSync(file("answers.toml"), ANSWERS);
after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

const launched = { program: "main.prose", script: "answers.toml" };
const main = { path: file("main.prose") };

let open = [];
afterEach(async () => {
  for (const client of open) await client.stop();
  open = [];
});

/** A client with a debugger of its own, which notes what is written to the console. */
async function started(port) {
  const client = new testSupport.DebugClient(binary, "dap", "prose", { cwd: folder });
  client.defaultTimeout = PATIENCE;
  client.console = "";
  client.on("output", ({ body }) => (client.console += body.output));
  await client.start(port);
  open.push(client);
  return client;
}

/** Starts to debug as editors do: with `launch` or `attach`, breakpoints once the debugger is ready for them, and the end of them. */
async function begin(client, command, settings, breakpoints = {}) {
  const ready = event(client, "initialized");
  const { body: capabilities } = await client.initializeRequest();
  await Promise.all([ready, client.send(command, settings)]);
  const { lines = [], functions = [], data = [], filters = [] } = breakpoints;
  const set = await client.setBreakpointsRequest({ source: main, breakpoints: lines });
  for (const { verified, message } of set.body.breakpoints) assert.ok(verified, message);
  await client.setFunctionBreakpointsRequest({ breakpoints: functions.map((name) => ({ name })) });
  await client.send("setDataBreakpoints", { breakpoints: data.map((dataId) => ({ dataId })) });
  await client.setExceptionBreakpointsRequest({ filters });
  await client.configurationDoneRequest();
  return capabilities;
}

/** A client that has started the program and stands where it stops first. */
async function debugged(settings, breakpoints) {
  const client = await started();
  const first = stop(client, () => begin(client, "launch", { ...launched, ...settings }, breakpoints));
  return { client, first: await first };
}

/** Waits for an event, which must come while or after something is done. */
function event(client, name) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no event ${name}; the console: ${client.console}`)), PATIENCE);
    client.once(name, ({ body }) => {
      clearTimeout(timer);
      resolve(body);
    });
  });
}

/** Does something that ends in a stop, and gives its reason and the stack there. */
async function stop(client, act) {
  const [stopped] = await Promise.all([event(client, "stopped"), act()]);
  client.thread = stopped.threadId;
  return `${stopped.reason}: ${await stack(client, stopped.threadId)}`;
}

async function stack(client, threadId) {
  const { body } = await client.stackTraceRequest({ threadId });
  return body.stackFrames.map(({ name, line }) => (name === "main.prose" ? `${line}` : `${name} ${line}`)).join(" < ");
}

const move = (client, command, threadId = client.thread) => stop(client, () => client.send(command, { threadId }));

async function frame(client, threadId = client.thread) {
  return (await client.stackTraceRequest({ threadId })).body.stackFrames[0].id;
}

/** What stands in a scope of the innermost frame, and the number of the scope. */
async function scope(client, name, threadId) {
  const { body } = await client.scopesRequest({ frameId: await frame(client, threadId) });
  const found = body.scopes.find((scope) => scope.name === name);
  assert.ok(found, `there is no scope ${name} of ${body.scopes.map((scope) => scope.name)}`);
  return { reference: found.variablesReference, rows: await rows(client, found.variablesReference) };
}

async function rows(client, variablesReference, page = {}) {
  const { body } = await client.variablesRequest({ variablesReference, ...page });
  return body.variables.map(({ name, value }) => `${name} = ${value}`);
}

async function evaluate(client, expression, context = "repl") {
  return (await client.evaluateRequest({ expression, context, frameId: await frame(client) })).body;
}

test("the client's own scenarios hold: a breakpoint is hit, and the output is written", async () => {
  const client = await started();
  await client.hitBreakpoint(launched, { path: main.path, line: 9 });
  const ended = event(client, "terminated");
  const output = client.assertOutput("stdout", "report: done\n", PATIENCE);
  await client.continueRequest({ threadId: 1 });
  await Promise.all([ended, output]);
});

test("every capability that is announced is there", async () => {
  const client = await started();
  const { body } = await client.initializeRequest();
  const announced = Object.entries(body).filter(([, value]) => value === true).map(([name]) => name);
  for (const wanted of [
    "supportsConditionalBreakpoints", "supportsConfigurationDoneRequest", "supportsDataBreakpoints", "supportsEvaluateForHovers",
    "supportsExceptionFilterOptions", "supportsFunctionBreakpoints", "supportsGotoTargetsRequest", "supportsHitConditionalBreakpoints",
    "supportsLogPoints", "supportsRestartFrame", "supportsSetVariable", "supportsStepBack", "supportsTerminateRequest",
  ]) {
    assert.ok(announced.includes(wanted), `${wanted} is not in ${announced}`);
  }
  assert.deepEqual(body.exceptionBreakpointFilters.map(({ filter }) => filter), ["uncaught", "failure", "retry", "permission", "cost"]);
  // Requests for what is announced are answered or refused for a reason of theirs, and not as unknown.
  for (const request of [
    "dataBreakpointInfo", "breakpointLocations", "completions", "exceptionInfo", "gotoTargets", "goto", "loadedSources", "restartFrame", "reverseContinue",
    "setVariable", "stepBack", "stepInTargets",
  ]) {
    await assert.rejects(client.send(request, {}), { message: /came before `launch` or `attach`/ });
  }
  await assert.rejects(client.send("launch", { program: "missing.prose" }), { message: "`missing.prose` does not exist" });
});

test("a program stops at its first statement, and steps lead over, into and out of its parts", async () => {
  const { client, first } = await debugged({ stopOnEntry: true });
  const seen = [first];
  for (const command of ["next", "next", "next", "stepOut", "stepIn", "stepOut"]) seen.push(`${command}: ${await move(client, command)}`);
  assert.deepEqual(seen, [
    "entry: 8",
    "next: step: 9",
    "next: step: 11",
    "next: step: iteration 1 of 3 12 < 11",
    "stepOut: step: 13",
    "stepIn: step: branch facts 14 < 13",
    "stepOut: step: 16",
  ]);
});

test("breakpoints have conditions, hit counts and messages", async () => {
  const { client, first } = await debugged({}, {
    lines: [
      { line: 10 },
      { line: 12, condition: 'word == "high"' },
      { line: 12, hitCondition: "3" },
      { line: 12, logMessage: "looks for {word}, {i}" },
    ],
  });
  const seen = [first, await move(client, "continue"), await move(client, "continue")];
  assert.deepEqual(seen, ["breakpoint: 9", "breakpoint: iteration 2 of 3 12 < 11", "breakpoint: iteration 3 of 3 12 < 11"]);
  assert.match(client.console, /looks for low, 0\nlooks for high, 1\nlooks for ebb, 2\n/);
});

test("blocks, agents, variables and failures have breakpoints", async () => {
  const { client, first } = await debugged({}, { functions: ["review", "writer"], data: ["topic"], filters: ["failure"] });
  const seen = [first];
  while (seen.length < 4) seen.push(await move(client, "continue"));
  assert.deepEqual(seen, ["data breakpoint: 8", "function breakpoint: 9", "function breakpoint: block review 15 < branch style 15 < 13", "exception: 17"]);
  const { body } = await client.send("exceptionInfo", { threadId: 1 });
  assert.equal(body.description, "it is wrong");
});

test("branches are threads with scopes, and one of them is paused while the others continue", async () => {
  const { client, first } = await debugged({}, { lines: [{ line: 5 }] });
  assert.equal(first, "breakpoint: block review 5 < branch style 15 < 13");
  const { body } = await client.threadsRequest();
  const threads = Object.fromEntries(body.threads.map(({ id, name }) => [name, id]));
  assert.deepEqual(Object.keys(threads), ["main", "branch facts", "branch style"]);
  assert.equal(await stack(client, threads["branch facts"]), "branch facts 14 < 13");
  const { body: { scopes } } = await client.scopesRequest({ frameId: await frame(client, threads["branch style"]) });
  assert.deepEqual(scopes.map(({ name }) => name), ["Session", "Locals", "Program", "Run"]);
  const session = await scope(client, "Session", threads["branch style"]);
  assert.match(session.rows[0], /^prompt = Review \{"title": "Tides"/);
  // What lies in the other branch continues alone.
  const { body: { allThreadsContinued } } = await client.continueRequest({ threadId: threads["branch facts"], singleThread: true });
  assert.equal(allThreadsContinued, false);
});

test("values unfold, in pages, and expressions are evaluated", async () => {
  const { client } = await debugged({}, { lines: [{ line: 11 }] });
  const locals = await scope(client, "Locals");
  assert.deepEqual(locals.rows, ["topic = tides", 'draft = {"title": "Tides", "parts": ["low", "high"]}']);
  const draft = await evaluate(client, "draft");
  assert.deepEqual(await rows(client, draft.variablesReference), ["parts = 2 items", "title = Tides"]);
  const parts = await evaluate(client, "draft.parts", "hover");
  assert.deepEqual(await rows(client, parts.variablesReference, { filter: "indexed", start: 1, count: 1 }), ["[1] = high"]);
  assert.equal((await evaluate(client, 'topic == "tides"', "watch")).result, "true");
  await assert.rejects(evaluate(client, "missing"), { message: "`missing` has no value at this point of the run" });
  const { body } = await client.completionsRequest({ text: "dra", column: 4 });
  assert.ok(body.targets.some(({ label }) => label === "draft"));
});

test("one steps back, continues backwards, restarts a frame and goes to a line, and asks nothing twice", async () => {
  const { client } = await debugged({}, { lines: [{ line: 9 }, { line: 20 }] });
  const seen = [await move(client, "continue")];
  seen.push(`back: ${await move(client, "stepBack")}`);
  seen.push(`reverse: ${await move(client, "reverseContinue")}`);
  assert.deepEqual((await scope(client, "Locals")).rows, ["topic = tides"]);
  const { body } = await client.send("gotoTargets", { source: main, line: 12 });
  assert.deepEqual(body.targets.map(({ label }) => label.replace(/ \(event \d+\)/, "")), [1, 2, 3].map((nth) => `iteration ${nth} of 3`));
  seen.push(`goto: ${await stop(client, () => client.send("goto", { threadId: 1, targetId: body.targets[1].id }))}`);
  assert.equal((await evaluate(client, "word")).result, "high");
  const frameId = await frame(client);
  seen.push(`restart: ${await stop(client, () => client.send("restartFrame", { frameId }))}`);
  seen.push(`continue: ${await move(client, "continue")}`);
  assert.deepEqual(seen, [
    "breakpoint: 20",
    "back: step: 19",
    "reverse: breakpoint: 9",
    "goto: goto: iteration 2 of 3 12 < 11",
    "restart: goto: iteration 2 of 3 12 < 11",
    "continue: breakpoint: 20",
  ]);
  const ended = event(client, "terminated");
  await client.continueRequest({ threadId: 1 });
  await ended;
  assert.equal(last().sessions, 9);
});

test("a prompt and a reply are changed at a stop", async () => {
  const { client } = await debugged({}, { lines: [{ line: 9 }, { line: 20 }] });
  const session = await scope(client, "Session");
  const changed = await client.send("setVariable", { variablesReference: session.reference, name: "reply", value: '"my own draft"' });
  assert.equal(changed.body.value, "my own draft");
  await move(client, "continue");
  assert.equal((await evaluate(client, "draft")).result, "my own draft");
  await evaluate(client, ":prompt Report by hand");
  const ended = event(client, "terminated");
  await client.continueRequest({ threadId: 1 });
  await ended;
  assert.match(client.console, /session 1 got its reply .*\n/);
  const journal = readFileSync(path.join(last().folder, "journal.jsonl"), "utf8");
  assert.match(journal, /"command":"reply","request":1,"text":"my own draft"/);
  assert.match(journal, /"command":"prompt","request":9,"text":"Report by hand"/);
});

test("a run that waits for a session is paused, and the session is skipped", async () => {
  const client = await started();
  const running = consoleHas(client, "starts.");
  await begin(client, "launch", { ...launched, program: "slow.prose" });
  await running;
  await until("the session works", async () => (await client.threadsRequest()).body.threads.length === 1 && last().status === "running");
  assert.match(await stop(client, () => client.pauseRequest({ threadId: 1 })), /^pause: /);
  await evaluate(client, ":skip");
  const ended = event(client, "terminated");
  await client.continueRequest({ threadId: 1 });
  await ended;
  assert.equal(last().status, "completed");
});

test("a run whose client disconnects is interrupted, or continues if that is wanted", async () => {
  const left = (await debugged({ stopOnEntry: true })).client;
  await leave(left, {});
  await until("the run is interrupted", () => last().status === "interrupted");
  const going = (await debugged({ stopOnEntry: true })).client;
  await leave(going, { terminateDebuggee: false });
  await until("the run has completed", () => last().status.startsWith("completed"));
});

test("a run is stopped where the debugger stands", async () => {
  const { client } = await debugged({ stopOnEntry: true });
  const ended = event(client, "terminated");
  await client.send("terminate", {});
  await ended;
  assert.equal(last().status, "interrupted");
});

test("a run that has ended is looked at without asking anything, from its start or from its failure", async () => {
  prose(["run", "main.prose", "--script", "answers.toml", "--quiet"], { cwd: folder, stdio: "pipe" });
  const { id } = last();
  const count = runs().length;
  const client = await started();
  const settings = { run: id };
  const seen = [await stop(client, () => begin(client, "attach", settings, { filters: ["failure"] }))];
  for (const command of ["continue", "stepBack", "continue", "continue"]) seen.push(`${command}: ${await move(client, command)}`);
  assert.deepEqual(seen, ["entry: 8", "continue: exception: 17", "stepBack: step: 17", "continue: exception: 17", "continue: step: 0"]);
  await assert.rejects(evaluate(client, ":reply something"), { message: "no session is at this statement" });
  assert.equal(runs().length, count);
});

test("a change in a run that has ended starts a fork, which asks what comes after it", async () => {
  prose(["run", "main.prose", "--script", "answers.toml", "--quiet"], { cwd: folder, stdio: "pipe" });
  const { id, sessions } = last();
  const client = await started();
  await stop(client, () => begin(client, "attach", { run: id }, { lines: [{ line: 9 }, { line: 20 }] }));
  assert.equal(await move(client, "continue"), "breakpoint: 9");
  await evaluate(client, ":reply another draft");
  assert.equal(await move(client, "continue"), "breakpoint: 20");
  assert.equal((await evaluate(client, "draft")).result, "another draft");
  const ended = event(client, "terminated");
  await client.continueRequest({ threadId: 1 });
  await ended;
  assert.notEqual(last().id, id);
  assert.equal(last().sessions, sessions);
  assert.match(readFileSync(path.join(last().folder, "journal.jsonl"), "utf8"), /another draft/);
});

test("a run of another process is followed, paused, looked back at and continued", async () => {
  const run = spawn(binary, ["run", "slow.prose", "--script", "answers.toml", "--quiet"], { cwd: folder, stdio: "ignore" });
  const exit = new Promise((resolve) => run.on("exit", resolve));
  try {
    const { id } = await until("the run works", () => runs().find(({ status }) => status === "running"));
    const client = await started();
    await begin(client, "attach", { run: id });
    const seen = [await stop(client, () => client.pauseRequest({ threadId: 1 }))];
    assert.deepEqual((await scope(client, "Locals")).rows, ["topic = tides"]);
    seen.push(await move(client, "stepBack"));
    assert.deepEqual(seen, ["pause: slow.prose 2", "step: slow.prose 2"]);
    await assert.rejects(client.send("terminate", {}), { message: /belongs to another process/ });
    await evaluate(client, ":skip");
    const ended = event(client, "terminated");
    await client.continueRequest({ threadId: 1 });
    await ended;
    assert.equal(await exit, 0);
  } finally {
    run.kill();
  }
});

test("a client connects to a port", async () => {
  const server = spawn(binary, ["dap", "--port", "0"], { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
  try {
    let written = "";
    server.stderr.on("data", (text) => (written += text));
    const port = await until("the debugger names its port", () => Number(/:(\d+)\n$/.exec(written)?.[1]));
    const client = await started(port);
    await client.hitBreakpoint(launched, { path: main.path, line: 11 });
    await leave(client, {});
  } finally {
    server.kill();
  }
});

/** Disconnects a client, whose debugger ends then. */
async function leave(client, how) {
  open = open.filter((other) => other !== client);
  await client.disconnectRequest(how);
}

/** The runs of the folder, the latest first. */
function runs() {
  return JSON.parse(prose(["runs", "list", "--json"], { cwd: folder }));
}

const last = () => runs()[0];

function consoleHas(client, text) {
  return until(`the console has ${text}`, () => client.console.includes(text));
}

/** Waits until something holds that no event tells of. */
async function until(what, holds) {
  const end = performance.now() + PATIENCE;
  for (;;) {
    const value = await holds();
    if (value) return value;
    if (performance.now() > end) throw new Error(`waited in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
