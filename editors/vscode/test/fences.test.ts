import assert from "node:assert/strict";
import { test } from "node:test";
import { opensFence } from "../src/fences";

test("fences with programs are found wherever they stand", () => {
  for (const text of ["```prose", "text\r\n\r\n~~~~ Prose title\r\n", "- a\n  ```openprose\n", "> ```{prose}", "1. ```prose,ignore"]) {
    assert.equal(opensFence(text), true, text);
  }
});

test("other fences, and words, are not", () => {
  for (const text of ["```", "```prosecco", "```text prose", "`prose`", "prose", "    prose\n```\n", "``prose"]) {
    assert.equal(opensFence(text), false, text);
  }
});
