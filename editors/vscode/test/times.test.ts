// Work, and waiting for people, in the panel and in the view of runs.

import assert from "node:assert/strict";
import { test } from "node:test";
import { bars } from "../panel/rows";
import { duration, idleTexts, idleTextsOf, type Item, Run, type RunDelta } from "../src/runs/run";

const SESSIONS = { total: 1, running: 0, waiting: 1, complete: 0, failed: 0 };

/** A branch that asks for a permission from 1 s on, and another one that works. */
function running(delta: Partial<RunDelta> = {}): Run {
  const run = new Run();
  const waiting = { total: 0, within: 0, since: 1000 };
  const nodes: Partial<Item>[] = [
    { id: 0, kind: "run", status: "running", from: 0, sessions: SESSIONS },
    { id: 1, kind: "branch", parent: 0, status: "running", from: 0, sessions: SESSIONS, waiting },
    {
      id: 2, kind: "session", parent: 1, status: "waiting", from: 0, waiting, waits: [{ from: 1000 }],
      attempts: [{ request: 1, from: 0, status: "waiting" }], pauses: [],
    },
  ];
  run.apply({ whole: true, seq: 1, now: 1000, paused: 0, harness: "script", nodes, statements: [], entries: [], ...delta });
  return run;
}

test("a branch that waits for a person takes no time, whatever else is at work", () => {
  const { items } = running();
  const shown = items.map((item) => [item.kind, duration(item, 61_000), ...idleTextsOf(item, 61_000)]);
  assert.deepEqual(shown, [
    ["run", 61_000],
    ["branch", 1000, "waited 1 m 0 s for answers"],
    ["session", 1000, "waited 1 m 0 s for answers"],
  ]);
});

test("the bar of a session is interrupted where it waits", () => {
  const run = running();
  const session = run.items[2] as Item;
  const shown = (): unknown[] => bars(session, 9000).map(({ kind, from, to }) => [kind, from, to]);
  assert.deepEqual(shown(), [["work", 0, 1000], ["wait", 1000, 9000]]);
  const attempts = [{ request: 1, from: 0, to: 5000, status: "complete" as const, waited: 3000 }];
  const node = { ...session, status: "complete" as const, to: 5000, attempts, waits: [{ from: 1000, to: 4000 }], waiting: { total: 3000, within: 3000 } };
  run.apply({ whole: false, seq: 2, now: 5000, paused: 0, harness: "script", nodes: [node], statements: [], entries: [] });
  assert.deepEqual(shown(), [["work", 0, 1000], ["wait", 1000, 4000], ["work", 4000, 5000]]);
  assert.deepEqual([duration(session, 9000), ...idleTextsOf(session, 9000)], [2000, "waited 3.0 s for answers"]);
});

test("a run says how long it waited and was stopped", () => {
  assert.deepEqual(idleTexts(running().times), []);
  const times = { work: 2000, waiting: 19_000, stopped: 86_400_000 };
  assert.deepEqual(idleTexts(running({ times }).times), ["waited 19.0 s for answers", "stopped for 24 h 0 m"]);
});

test("a session says for how long the run was stopped while it was open", () => {
  const session = running().items[2] as Item;
  const node = { ...session, status: "complete" as const, to: 2000, waiting: undefined, stopped: 3_600_000 };
  const run = running({ nodes: [node] });
  const texts = run.items.filter(({ id }) => id === node.id).map((item) => idleTextsOf(item, 2000));
  assert.deepEqual(texts, [["stopped for 1 h 0 m"]]);
});
