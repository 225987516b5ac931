import assert from "node:assert/strict";
import { test } from "node:test";
import { surplus } from "../src/markers";

/** What is left of a line with a cursor, `|`. */
function after(line: string): string {
  const [before = "", behind = ""] = line.split("|");
  return before + behind.slice(surplus(before, behind));
}

test("markers that are typed take the place of those that the editor has put there", () => {
  assert.equal(after("if **it rains**|**"), "if **it rains**");
  assert.equal(after("loop until **it is done**|** (max: 3):"), "loop until **it is done** (max: 3):");
  assert.equal(after("if **a** or **b**|**:"), "if **a** or **b**:");
  assert.equal(after("if ***a 2*3 long one***|***"), "if ***a 2*3 long one***");
});

test("who types faster than the editor follows loses none", () => {
  assert.equal(after("if **it rains**:|**"), "if **it rains**:");
  assert.equal(after("loop until **done** (|**"), "loop until **done** (");
});

test("markers that close something stay", () => {
  for (const line of ["if **|**", "if **it rains*|**", "if **it rains|**", "if **a** or **|**", "if ***a**|***", "x = 2 *|"]) {
    assert.equal(after(line), line.replace("|", ""), line);
  }
});
