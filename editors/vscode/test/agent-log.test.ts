import assert from "node:assert/strict";
import { test } from "node:test";
import { readLog } from "../src/runs/agentLog";

test("a log has the reply, the tool calls with their last status, and the rest in lines", () => {
  const log = [
    "[2026-01-15T14:30:52.000Z] session abc, model sonnet",
    "[2026-01-15T14:30:53.000Z] reasoning",
    "It may be the moon.",
    "[2026-01-15T14:30:54.000Z] tool t1 read pending: Read tides.md",
    "[2026-01-15T14:30:55.000Z] tool t2 execute running: ls: a list",
    "[2026-01-15T14:30:56.000Z] tool t1 read completed: Read tides.md",
    "[2026-01-15T14:30:57.000Z] text",
    "It is the moon.",
    "",
    "And the sun",
  ].join("\n");
  const { text, reasoning, tools, notes } = readLog(log);
  assert.equal(text, "It is the moon.\n\nAnd the sun");
  assert.equal(reasoning, "It may be the moon.\n");
  assert.deepEqual(tools.map(({ kind, status, title }) => [kind, status, title]), [["read", "completed", "Read tides.md"], ["execute", "running", "ls: a list"]]);
  assert.deepEqual(notes, ["session abc, model sonnet"]);
  assert.deepEqual(readLog(""), { text: "", reasoning: "", tools: [], notes: [] });
});
