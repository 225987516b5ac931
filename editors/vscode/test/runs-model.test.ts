// What is made of the events of runs. Those in `recorded` were told by real ones.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { type RunEvent, slim } from "../src/runs/events";
import { LineMap } from "../src/runs/lines";
import { durationText, type Item, RunModel, usageText } from "../src/runs/model";
import { type Session, sessionAsText } from "../src/runs/session";

function recorded(name: string): RunEvent[] {
  const text = readFileSync(`test/recorded/${name}.jsonl`, "utf8");
  return text.trim().split("\n").map((line) => JSON.parse(line) as RunEvent);
}

function modelOf(events: RunEvent[]): RunModel {
  const model = new RunModel();
  model.apply(slim(events));
  return model;
}

/** The parts of a run as lines, without times. */
function outline(model: RunModel): string[] {
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

test("a run is a tree of branches, iterations, calls and sessions", () => {
  assert.deepEqual(outline(modelOf(recorded("review"))), EXPECTED);
});

test("a run that is taken in piece by piece is the same as one that is taken in at once", () => {
  const events = recorded("review");
  const model = new RunModel();
  for (const event of events) model.apply(slim([event]));
  assert.deepEqual(outline(model), EXPECTED);
  // A run that goes on is told from its beginning again.
  model.apply(slim(events));
  assert.deepEqual(outline(model), EXPECTED);
});

test("at every moment what has not ended goes on, and the counts are those of the sessions", () => {
  const events = slim(recorded("review"));
  const model = new RunModel();
  for (const event of events) {
    model.apply([event]);
    const sessions = model.items.filter(({ kind }) => kind === "session");
    const count = (status: string): number => sessions.filter((session) => session.status === status).length;
    const { total, running, waiting, complete, failed } = (model.root as Item).sessions;
    assert.deepEqual(
      { total, running, waiting, complete, failed },
      {
        total: sessions.length,
        running: count("running"),
        waiting: count("waiting"),
        complete: count("complete"),
        failed: count("failed"),
      },
    );
    for (const { to, status } of model.items) {
      assert.equal(to === undefined, status === "running" || status === "waiting", `${event.seq}: ${status}`);
    }
  }
  assert.equal(model.isOver, true);
});

test("what waited for an agent says how long", () => {
  const model = modelOf(recorded("review"));
  const readers = model.items.filter(({ label }) => label.startsWith("Write for"));
  const waited = readers.map(({ attempts: [attempt] }) => (attempt?.began === undefined ? 0 : attempt.began - attempt.from));
  assert.equal(waited.filter((time) => time > 0).length, 1, `two at a time: ${waited.join(", ")}`);
});

test("while it happens a session waits and then runs", () => {
  const model = new RunModel();
  const statuses: string[] = [];
  for (const event of slim(recorded("review"))) {
    model.apply([event]);
    const status = model.items.find(({ label }) => label === "Write for experts")?.status;
    if (status !== undefined && statuses.at(-1) !== status) statuses.push(status);
  }
  assert.deepEqual(statuses, ["running", "waiting", "running", "complete"]);
});

test("a session that is tried again has its attempts and the pauses between them", () => {
  const model = modelOf(recorded("review"));
  const facts = model.items.find(({ label }) => label === "Look for facts") as Item;
  assert.deepEqual(facts.attempts.map(({ status }) => status), ["failed", "complete"]);
  const [pause] = facts.pauses;
  assert.ok((pause?.to ?? 0) - (pause?.from ?? 0) >= 900, "`backoff: linear` waits for a second");
  assert.equal(facts.error, undefined);
});

test("statements know how often they were executed", () => {
  const model = modelOf(recorded("review"));
  const times = [...model.statements.values()].filter((state) => state.times > 1);
  assert.deepEqual(times.map(({ site: { line }, times, complete, running }) => [line, times, complete, running]), [
    [40, 3, 3, 0],
    [51, 3, 3, 0],
  ]);
});

test("what others did not wait for has ended, and did not finish", () => {
  const at = (place: string, event: string, others: Partial<RunEvent>, seq: number): RunEvent => ({ seq, at: seq, place, event, ...others });
  const site = { start: 0, end: 9, line: 1, last_line: 1 };
  const model = new RunModel();
  model.apply([
    at("", "run-started", { program: "race.prose" }, 1),
    at("s0", "parallel-started", { branches: ["a", "b"], strategy: "first" }, 2),
    at("s0/b0", "branch-started", { index: 0, name: "a" }, 3),
    at("s0/b0/1", "session-started", { request: 1, task: { task: "Fast" } }, 4),
    at("s0/b1", "branch-started", { index: 1, name: "b" }, 5),
    at("s0/b1", "statement-started", { site }, 6),
    at("s0/b1/1", "session-started", { request: 2, task: { task: "Slow" } }, 7),
    at("s0/b0/1", "session-ended", { request: 1, status: "complete" }, 8),
    at("s0/b0", "branch-ended", { status: "complete" }, 9),
    at("s0/b1", "branch-ended", { status: "skipped" }, 10),
    at("s0", "parallel-ended", { status: "complete" }, 11),
  ]);
  assert.deepEqual(outline(model), [
    "run race.prose: running",
    "  parallel parallel: complete",
    "    branch a: complete",
    "      session Fast: complete",
    "    branch b: skipped",
    "      session Slow: skipped",
  ]);
  assert.equal(model.statements.get("0-9")?.running, 0);
  model.apply([at("", "run-ended", { status: "interrupted", error: { message: "stopped in the editor" } }, 12)]);
  assert.deepEqual([model.root?.status, model.root?.error], ["interrupted", "stopped in the editor"]);
  model.apply([at("", "resumed", {}, 12)]);
  assert.equal(model.isOver, false);
});

test("tokens and cost add up, where they are told", () => {
  const model = new RunModel();
  const events = [1, 2, 3].flatMap((request): RunEvent[] => {
    const usage = request === 3 ? undefined : { input_tokens: 600, output_tokens: 100, cost: 0.02 };
    const place = `s${request}`;
    return [
      { seq: 0, at: 0, place, event: "session-started", request, task: { task: "x" } },
      { seq: 0, at: 5, place, event: "effect", request, outcome: { reply: { text: "y", ...(usage && { usage }) } } },
      { seq: 0, at: 5, place, event: "session-ended", request, status: "complete" },
    ];
  });
  model.apply([{ seq: 1, at: 0, place: "", event: "run-started", program: "a.prose" }, ...slim(events)]);
  assert.equal(usageText(model.root?.usage), "1.4k tokens, $0.04");
  assert.equal(usageText(model.items[3]?.usage), "");
});

test("long texts are not kept", () => {
  const long = "x".repeat(5000);
  const [event] = slim([
    { seq: 1, at: 0, place: "s0", event: "session-started", request: 1, task: { task: long, ...{ prompt: long } } },
  ]);
  assert.ok(JSON.stringify(event).length < 500);
});

test("lines are found again in a program that was edited", () => {
  const map = new LineMap("a\nb\nc\nd\n", "new\na\nB\nc\nmore\nd\n");
  assert.deepEqual([0, 1, 2, 3].map((line) => map.now(line)), [1, undefined, 3, 5]);
  assert.deepEqual([0, 1, 2].map((line) => map.then(line)), [undefined, 0, undefined]);
});

test("durations are as long as they matter", () => {
  assert.deepEqual([12, 1234, 59_960, 190_000, 7_500_000].map(durationText), ["12 ms", "1.2 s", "60.0 s", "3 m 10 s", "2 h 5 m"]);
});

const SESSION: Session = {
  request: 3, line: 9, agent: "critic", model: "opus", skills: [], permissions: [], attempt: 1, retries: 2,
  task: "Look for facts", prompt: "Look for facts\n```\nin code\n```", system: "You judge.",
  context: [{ name: "draft", text: "Tides.", file: "file:///d.md" }, { name: "old", text: null, file: null }],
  memory: { scope: "project", resumes: true, before: "Nothing yet.", after: "Tides.", file: null },
  name: "facts", file: null, reply: "All true.", usage: { input_tokens: 10, output_tokens: 5, cost: 0.25 },
  warnings: ["no file"], error: null, status: "complete", started: 1000, began: 3000, ended: 4500,
};

test("a session is a document with its prompt, its context, its memory and its reply", () => {
  const failed: Session = { ...SESSION, attempt: 0, reply: null, error: "the agent is gone" };
  const text = sessionAsText([failed, SESSION]);
  const headings = text.split("\n").filter((line) => line.startsWith("#"));
  assert.deepEqual(headings, [
    "# critic: Look for facts", "## Reply", "## Prompt", "## System prompt", "## Context", "### draft", "### old",
    "## Memory", "### Before", "### After", "## Files",
  ]);
  assert.match(text, /complete · model opus · line 9 · took 1.5 s · waited 2.0 s · attempt 2 of 3 · 10 tokens read, 5 written, \$0.25/);
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
