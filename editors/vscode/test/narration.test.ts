import assert from "node:assert/strict";
import { test } from "node:test";
import { choices, Narrator, promptsAsText } from "../src/narration";

test("sessions, warnings and the end of a run are told", () => {
  const narrator = new Narrator();
  const lines = narrator.lines({
    run: "r1",
    uri: "file:///a.prose",
    events: [
      { event: "run-started", program: "a.prose", harness: "offline" },
      { event: "statement-started" },
      { event: "session-started", request: 1, nesting: 1, task: { agent: "writer", task: "Write\nabout tides" } },
      { event: "session-started", request: 2, nesting: 1, task: { task: "Think" } },
      { event: "session-ended", request: 1, nesting: 1, status: "complete", error: null },
      { event: "session-ended", request: 2, nesting: 1, status: "failed", error: { message: "gone", line: 3 } },
      { event: "warning", message: "no memory" },
      { event: "run-ended", status: "failed", sessions: 1, error: { message: "gone", line: 3 } },
    ],
  });
  assert.deepEqual(lines, [
    "Run r1 of a.prose with offline",
    "  … writer: Write",
    "  … Think",
    "  ✓ writer: Write",
    "  ✗ Think: gone",
    "warning: no memory",
    "Run r1 failed after 1 session at line 3: gone",
  ]);
});

test("a session of one run is not taken for that of another", () => {
  const narrator = new Narrator();
  const event = { event: "session-started", request: 1, task: { task: "Think" } };
  narrator.lines({ run: "r1", uri: "", events: [event] });
  const ended = { event: "session-ended", request: 1, status: "skipped" };
  assert.deepEqual(narrator.lines({ run: "r2", uri: "", events: [ended] }), ["■ session 1"]);
  assert.deepEqual(narrator.lines({ run: "r1", uri: "", events: [ended] }), ["■ Think"]);
});

test("a question may name its answers", () => {
  assert.deepEqual(choices("Go on? (yes/no)"), ["yes", "no"]);
  assert.deepEqual(choices("How deep [quick | deep | both]?"), ["quick", "deep", "both"]);
  assert.deepEqual(choices("What about (in a word)?"), []);
  assert.deepEqual(choices("What about?"), []);
});

test("a dry run is a text whose fences hold", () => {
  const text = promptsAsText("a.prose", {
    prompts: [{ line: 2, agent: "writer", model: null, prompt: "Say ```x```", system: null }],
    failed: { line: 4, message: "no" },
  });
  assert.match(text, /^## 1: line 2, agent writer\n\n````\nSay ```x```\n````$/m);
  assert.match(text, /With these replies, the program fails at line 4: no/);
});
