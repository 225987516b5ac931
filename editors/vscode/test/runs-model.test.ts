// What is made of what the server sends of runs. What is in `recorded` comes from real ones.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { LineMap } from "../src/runs/lines";
import { type Activity, activityText, agentTexts, callsText, denialsOf, denialText, durationText, type Item, openRequest, Run, type RunDelta, usageText } from "../src/runs/run";
import { type Session, sessionAsText } from "../src/runs/session";

/** What the server sends of a real run, a delta for each event. */
const DELTAS = readFileSync("test/recorded/review.deltas.jsonl", "utf8").trim().split("\n").map((line) => JSON.parse(line) as RunDelta);

function runOf(deltas: readonly RunDelta[]): Run {
  const run = new Run();
  for (const delta of deltas) run.apply(delta);
  return run;
}

/** The parts of a run as lines, without times. */
function outline(model: Run): string[] {
  const lines: string[] = [];
  const visit = ({ depth, kind, label, status, attempts, note, children }: Item): void => {
    const tries = attempts.length > 1 ? `, ${attempts.length} attempts` : "";
    const said = note !== undefined && kind !== "session" ? ` -> ${note}` : "";
    lines.push(`${"  ".repeat(depth)}${kind} ${label}: ${status}${tries}${said}`);
    for (const child of children) visit(model.items[child] as Item);
  };
  if (model.root !== undefined) visit(model.root);
  return lines;
}

test("what each of several agents has used is shown", () => {
  const run = runOf(DELTAS);
  const usage = { input_tokens: 1000, output_tokens: 200, cost: 0.25 };
  const change = { ...(DELTAS.at(-1) as RunDelta), whole: false, nodes: [], statements: [] };
  run.apply({ ...run.whole(), agents: [] });
  run.apply({ ...change, agents: [{ name: "writer", requests: 1, usage }] });
  assert.deepEqual(agentTexts(run), []);
  run.apply({ ...change, agents: [{ name: "(decisions)", decisions: true, requests: 2 }], limits: "at most $5.00" });
  assert.deepEqual(agentTexts(run), ["writer: 1 session, 1.2k tokens, $0.25", "(decisions): 2 decisions"]);
  const shown = runOf([run.whole()]);
  assert.deepEqual([agentTexts(shown), shown.limits], [agentTexts(run), "at most $5.00"]);
});

test("a run is shown as the tree of branches, iterations, calls and sessions that the server sends", () => {
  assert.deepEqual(outline(runOf(DELTAS)), EXPECTED);
});

test("a run that is sent whole is the same as one that is sent piece by piece, and takes the place of what there was", () => {
  const run = runOf(DELTAS);
  const whole = run.whole();
  assert.deepEqual(outline(runOf([whole])), EXPECTED);
  // A run that goes on is told from its beginning again.
  run.apply(whole);
  assert.deepEqual(outline(run), EXPECTED);
});

test("a part stays the same object, and loses what is no longer so", () => {
  const run = runOf(DELTAS.slice(0, 20));
  const root = run.root as Item;
  run.apply({ ...(DELTAS[20] as RunDelta), nodes: [{ ...root, children: undefined, to: 5, error: "stopped" }] as Partial<Item>[] });
  assert.deepEqual([run.root, root.error, run.isOver], [root, "stopped", true]);
  const { error: _, to: __, children: ___, ...open } = root;
  run.apply({ ...(DELTAS[20] as RunDelta), nodes: [open] });
  assert.deepEqual([run.root, root.error, run.isOver], [root, undefined, false]);
});

/** What a session does after the activities of the server, in a run that has just started it. */
function doing(...activities: Partial<Activity>[]): { run: Run; texts: string[] } {
  const run = new Run();
  const session = { id: 1, kind: "session", parent: 0, label: "Write", status: "running", from: 0, attempts: [{ request: 1, from: 0, status: "running" }] };
  const nodes = [{ id: 0, kind: "run", label: "a.prose", status: "running", from: 0 }, session] as Partial<Item>[];
  const start = { whole: true, seq: 1, now: 0, paused: 0, harness: "claude", statements: [], entries: [] };
  run.apply({ ...start, nodes });
  const texts = activities.map((activity) => {
    run.apply({ ...start, whole: false, nodes: [], activities: [{ node: 1, last: 1, calls: 0, ...activity }] });
    return activityText(run.items[1]?.activity, 1000);
  });
  return { run, texts };
}

test("a session shows what its agent does", () => {
  const tool = { title: "Edit a.rs", kind: "edit", status: "running" as const };
  const { texts } = doing(
    { reasoning: true },
    { text: "I look first." },
    { tool, text: "I look first." },
    { tool: { ...tool, status: "completed" }, text: "I look first." },
    { tool, stalledSince: 400 },
    { retry: { attempt: 1, status: 429, until: 3000, message: "slow down" } },
    { questions: [{ id: "q", title: "git push", rule: "execute: prompt" }] },
    {},
  );
  assert.deepEqual(texts, [
    "thinking",
    "I look first.",
    "Edit a.rs",
    "I look first.",
    "no activity for 0.6 s in Edit a.rs",
    "provider failed 429, retrying in 2.0 s",
    "waits for permission: git push",
    "",
  ]);
});

test("what an agent does is gone with its session; its calls and denials stay", () => {
  const { run } = doing({ calls: 2, text: "Done." });
  const session = run.items[1] as Item;
  assert.equal(callsText(session), "2 tool calls");
  const denials = [{ title: "git push", reason: "execute: deny" }];
  const ended = { id: 1, kind: "session", parent: 0, label: "Write", status: "complete", from: 0, to: 9 };
  const attempts = [{ request: 1, from: 0, to: 9, status: "complete", calls: 2, denials }];
  run.apply({ whole: false, seq: 2, now: 9, paused: 0, harness: "claude", statements: [], entries: [], nodes: [{ ...ended, attempts }] as Partial<Item>[] });
  assert.deepEqual([session.activity, callsText(session), denialsOf(session).map(denialText)], [undefined, "2 tool calls", ["git push (execute: deny)"]]);
});

test("a run is paused until a change says nothing of it", () => {
  const run = runOf(DELTAS.slice(0, 1));
  const pause = { since: 1, by: "ada", from: "terminal" };
  run.apply({ ...(DELTAS[1] as RunDelta), pause });
  assert.deepEqual([run.pause, run.whole().pause], [pause, pause]);
  run.apply(DELTAS[2] as RunDelta);
  assert.equal(run.pause, undefined);
});

test("a session can be skipped while it is open, and retried while an agent works on it", () => {
  const session = doing().run.items[1] as Item;
  assert.deepEqual(openRequest(session), { request: 1, isAtWork: true });
  const queued = { ...session, attempts: [{ request: 1, from: 0, status: "waiting" as const, queued: true }] };
  assert.deepEqual(openRequest(queued), { request: 1, isAtWork: false });
  assert.equal(openRequest({ ...session, to: 9 }), undefined);
  const betweenAttempts = { ...session, attempts: [{ request: 1, from: 0, to: 5, status: "failed" as const }] };
  assert.equal(openRequest(betweenAttempts), undefined);
});

test("the clock of a run stands still while it is stopped", () => {
  const run = runOf(DELTAS.slice(0, 1));
  const day = 24 * 60 * 60 * 1000;
  run.apply({ ...(DELTAS[1] as RunDelta), paused: day });
  assert.ok(Math.abs(Date.now() - day - run.now) < 1000);
});

test("statements have how often they were executed", () => {
  const times = [...runOf(DELTAS).statements.values()].filter((state) => state.times > 1);
  assert.deepEqual(times.map(({ site: { line }, times, complete, running }) => [line, times, complete, running]), [
    [40, 3, 3, 0],
    [51, 3, 3, 0],
  ]);
});

test("lines of imported programs are named with their program", () => {
  const run = runOf(DELTAS.slice(0, 1));
  run.apply({ ...(DELTAS[1] as RunDelta), programs: [{ program: 1, name: "lib.prose", from: "/p/lib.prose" }] });
  const site = { start: 0, end: 4, line: 6, last_line: 6 };
  assert.equal(run.lineOf({ ...site, program: 1 }), "lib.prose:6");
  assert.equal(run.lineOf(site), "line 6");
  assert.deepEqual(run.whole().programs, [{ program: 1, name: "lib.prose", from: "/p/lib.prose" }]);
});

test("tokens and cost are shown, where they are told", () => {
  assert.equal(usageText({ input_tokens: 1200, output_tokens: 200, cost: 0.04 }), "1.4k tokens, $0.04");
  assert.equal(usageText(undefined), "");
});

test("lines are found again in a program that was edited", () => {
  const map = new LineMap("a\nb\nc\nd\n", "new\na\nB\nc\nmore\nd\n");
  assert.deepEqual([0, 1, 2, 3].map((line) => map.now(line)), [1, undefined, 3, 5]);
  assert.deepEqual([0, 1, 2].map((line) => map.then(line)), [undefined, 0, undefined]);
});

test("durations are as long as they matter", () => {
  assert.deepEqual([12, 250, 1234, 59_960, 190_000, 7_500_000].map(durationText), ["12 ms", "0.3 s", "1.2 s", "1 m 0 s", "3 m 10 s", "2 h 5 m"]);
});

const SESSION: Session = {
  request: 3, line: 9, agent: "critic", model: "opus", skills: [], permissions: [], attempt: 1, retries: 2,
  task: "Look for facts", prompt: "Look for facts\n```\nin code\n```", system: "You judge.",
  context: [{ name: "draft", text: "Tides.", file: "file:///d.md" }, { name: "old", text: null, file: null }],
  memory: { scope: "project", resumes: true, before: "Nothing yet.", after: "Tides.", file: null },
  name: "facts", file: null, reply: "All true.", usage: { input_tokens: 10, output_tokens: 5, cost: 0.25 },
  calls: 2, denials: [{ title: "git push", reason: "execute: deny" }], agentSession: { id: "abc", model: "small-1" }, log: null,
  warnings: ["no file"], error: null, status: "complete", started: 1000, began: 3000, ended: 4500, took: 1500, waited: 0,
};

test("a session is a document with its prompt, its context, its memory and its reply", () => {
  const failed: Session = { ...SESSION, attempt: 0, reply: null, error: "the agent is gone" };
  const text = sessionAsText([failed, SESSION]);
  const headings = text.split("\n").filter((line) => line.startsWith("#"));
  assert.deepEqual(headings, [
    "# critic: Look for facts", "## Reply", "## Prompt", "## System prompt", "## Context", "### draft", "### old",
    "## Memory", "### Before", "### After", "## Files",
  ]);
  assert.match(text, /complete · model opus · line 9 · took 1.5 s · waited 2.0 s · attempt 2 of 3 · 10 tokens read, 5 written, \$0.25 · 2 tool calls · session `abc` with small-1/);
  assert.match(text, /Attempt 1 failed: the agent is gone/);
  assert.match(text, /````\nLook for facts\n```\nin code\n```\n````/);
  assert.match(text, /The file no longer exists/);
  assert.match(text, /- \[draft\]\(file:\/\/\/d.md\)/);
});

test("a session that goes on has no reply yet", () => {
  const text = sessionAsText([{ ...SESSION, reply: null, status: null, ended: null, memory: null, context: [] }]);
  assert.match(text, /## Reply\n\n\*No reply yet/);
  assert.match(text, /No context/);
  assert.doesNotMatch(text, /Memory/);
});

const EXPECTED = [
  "run review.prose: complete",
  "  session Write about tides: complete",
  "  parallel parallel: complete",
  "    branch facts: complete",
  "      session Look for facts: complete, 2 attempts",
  "    branch style: complete",
  "      session Look for style: complete",
  "    branch opinion: complete",
  "      block review: complete",
  "        session Review it: complete",
  "  loop loop until **the draft is good**: complete -> condition met",
  "    condition the draft is good: complete -> no: too short",
  "    iteration iteration 1 of 3: complete",
  "      session Improve the draft: complete",
  "    condition the draft is good: complete -> yes",
  "  condition the draft is long: complete -> yes",
  "  session Shorten it: complete",
  "  parallel parallel for: complete",
  "    branch iteration 1: complete",
  "      session Write for children: complete",
  "    branch iteration 2: complete",
  "      session Write for students: complete",
  "    branch iteration 3: complete",
  "      session Write for experts: complete",
  "  try try: complete",
  "    session Publish it: failed",
  "    part catch problem: complete",
  "      session Say why it was not published: there is no room: complete",
  "    part finally: complete",
  "      session Clean up: complete",
  "  pipeline pipeline: complete",
  "    stage map: complete",
  "      session A title for children: complete",
  "      session A title for students: complete",
  "      session A title for experts: complete",
  "  session Sum up: complete",
];
