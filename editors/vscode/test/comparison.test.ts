// The words of the panel that compares two runs.
import assert from "node:assert/strict";
import { test } from "node:test";
import { differencesOf, type Step, titleOf, totalsText } from "../src/runs/comparison";

const STEP: Step = { kind: "session", agent: "writer", place: "s2/1", line: 4, seq: 9, asked: "Write about tides", result: "They come.\nThey go." };

test("a step is named by what it is and where", () => {
  assert.equal(titleOf({ a: STEP, b: STEP, different: false }), "session writer at line 4 (s2/1)");
  assert.equal(titleOf({ a: STEP, b: { ...STEP, place: "s3/1", line: 5 }, different: false }), "session writer at line 4 (s2/1), now at line 5 (s3/1)");
  assert.equal(titleOf({ b: { ...STEP, kind: "judge", agent: undefined }, different: true }), "condition at line 4 (s2/1)");
  assert.equal(titleOf({ a: { ...STEP, kind: "output", agent: undefined, asked: "report" }, different: true }), "output report at line 4 (s2/1)");
});

test("what differs is shown by first lines", () => {
  const usage = { input_tokens: 1000, output_tokens: 200, cost: 0.5 };
  assert.deepEqual(differencesOf({ a: STEP, b: { ...STEP, asked: "Write about winds", usage }, differs: ["asked", "usage"], different: true }), [
    "asked: Write about tides → Write about winds",
    "used: nothing reported → 1.2k tokens, $0.50",
  ]);
  assert.deepEqual(differencesOf({ a: STEP, b: { ...STEP, result: "They come.\nThey stay." }, differs: ["result"], different: true }), ["result: They come. …"]);
  assert.deepEqual(differencesOf({ b: { ...STEP, result: "" }, different: true }), ["only in the second run", "Write about tides"]);
});

test("a run is summed up", () => {
  assert.equal(totalsText({ run: "r", program: "a.prose", status: "completed", sessions: 1, decisions: 2, took: 1200 }), "completed · 1 session · 2 decisions · 1.2 s");
  assert.equal(totalsText({ run: "r", program: "a.prose", sessions: 3, decisions: 0, took: 5 }), "not ended · 3 sessions · 5 ms");
});
