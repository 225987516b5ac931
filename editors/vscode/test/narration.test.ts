import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { narrated, promptsAsText } from "../src/narration";
import type { Entry, RunDelta } from "../src/runs/run";

/** A delta with some nodes and some lines of the log. */
function delta(nodes: RunDelta["nodes"], entries: Partial<Entry>[], end?: RunDelta["end"]): RunDelta {
  const all = entries.map((entry) => ({ kind: "node" as const, nesting: 0, ...entry }));
  const head = { whole: true, seq: 1, now: 0, paused: 0, program: "a.prose", harness: "offline", statements: [] };
  return { ...head, nodes, entries: all, ...(end && { end }) };
}

test("sessions, warnings and the end of a run are told", () => {
  const lines = narrated({
    run: "r1",
    uri: "file:///a.prose",
    view: delta(
      [
        { id: 1, kind: "session", agent: "writer", label: "Write", attempts: [{ request: 1, from: 0, status: "complete" }] },
        { id: 2, kind: "session", label: "Think", attempts: [{ request: 2, from: 0, status: "failed", error: "gone\nfor ever" }] },
        { id: 3, kind: "branch", label: "slow", status: "skipped" },
        { id: 4, kind: "input", label: "topic", detail: "What about?" },
        { id: 5, kind: "loop", label: "repeat 3" },
      ],
      [
        { kind: "started", harness: "offline" },
        { kind: "attempt", node: 1, attempt: 0, nesting: 1 },
        { kind: "attempt", node: 2, attempt: 0, nesting: 1 },
        { kind: "attempt-ended", node: 1, attempt: 0, nesting: 1 },
        { kind: "attempt-ended", node: 2, attempt: 0, nesting: 1 },
        { kind: "cancelled", node: 3 },
        { kind: "node", node: 4 },
        { kind: "node", node: 5 },
        { kind: "warning", message: "no memory" },
        { kind: "ended" },
      ],
      { status: "failed", sessions: 1, error: { message: "gone", line: 3 } },
    ),
  });
  assert.deepEqual(lines, [
    "Run r1 of a.prose with offline",
    "  … writer: Write",
    "  … Think",
    "  ✓ writer: Write",
    "  ✗ Think: gone",
    "■ slow",
    "waits for topic: What about?",
    "warning: no memory",
    "Run r1 failed after 1 session at line 3: gone",
  ]);
});

test("retries of the provider, stalls and permission questions are told", () => {
  const lines = narrated({
    run: "r1",
    uri: "file:///a.prose",
    view: delta(
      [{ id: 1, kind: "session", agent: "writer", label: "Write", attempts: [{ request: 1, from: 0, status: "running" }] }],
      [
        { kind: "provider-retry", node: 1, status: 429, delay: 2000, message: "slow down" },
        { kind: "stalled", node: 1, silent: 600_000 },
        { kind: "asked", node: 1, title: "git push", rule: "execute: prompt" },
      ],
    ),
  });
  assert.deepEqual(lines, [
    "writer: Write: provider failed with status 429, retrying in 2.0 s: slow down",
    "warning: writer: Write: no activity for 10 m 0 s",
    "writer: Write asks for permission: git push",
  ]);
});

test("a real run is told line by line as it goes", () => {
  const text = readFileSync("test/recorded/review.deltas.jsonl", "utf8");
  const deltas = text.trim().split("\n").map((line) => JSON.parse(line) as RunDelta);
  const lines = deltas.flatMap((view) => narrated({ run: "r1", uri: "", view }));
  assert.deepEqual(lines.slice(0, 3), ["Run r1 of review.prose with script", "… writer: Write about tides", "✓ writer: Write about tides"]);
  assert.match(lines.at(-4) ?? "", /^Run r1 completed with 2 failures after \d+ sessions$/);
  assert.deepEqual(lines.slice(-3), [
    "  15 sessions done, 1 failed, 1 retried; 3 conditions judged",
    "  line 22, facts: the agent did not answer in time (retried)",
    '  line 43, session "Publish it": there is no room (caught)',
  ]);
  assert.ok(lines.some((line) => line.startsWith("caught: ")));
});

test("a dry run is a text whose fences hold", () => {
  const text = promptsAsText("a.prose", {
    prompts: [
      { kind: "session", line: 2, program: null, agent: "writer", model: null, prompt: "Say ```x```", system: null },
      { kind: "condition", line: 3, program: "lib.prose", agent: null, model: null, prompt: "Is it good?", system: null },
    ],
    failed: { line: 4, message: "no" },
  });
  assert.match(text, /^## 1: line 2, agent writer\n\n````\nSay ```x```\n````$/m);
  assert.match(text, /^## 2: lib.prose:3, condition\n/m);
  assert.match(text, /With these replies, the program fails at line 4: no/);
});
