// The language configuration: what its expressions say of lines. The editor compiles them as they are here.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const configuration = JSON.parse(readFileSync(new URL("../language-configuration.json", import.meta.url), "utf8"));
const regex = (found) => (typeof found === "string" ? new RegExp(found) : new RegExp(found.pattern, found.flags));
const { increaseIndentPattern, decreaseIndentPattern } = configuration.indentationRules;

function assertMatches(pattern, { lines, others }) {
  for (const line of lines) assert.match(line, regex(pattern));
  for (const line of others) assert.doesNotMatch(line, regex(pattern));
}

/** What Enter does between two texts, or undefined. */
function onEnter(beforeText, afterText = "") {
  const rules = configuration.onEnterRules;
  const matches = (pattern, text) => pattern === undefined || regex(pattern).test(text);
  return rules.find((rule) => matches(rule.beforeText, beforeText) && matches(rule.afterText, afterText))?.action;
}

test("a colon at the end of a line indents the next", () => {
  assertMatches(increaseIndentPattern, {
    lines: [
      "agent writer:",
      'block summary(text, words): # later',
      "parallel (\"first\", on-fail: \"continue\"):",
      "if **the bug is **bad**:",
      'choice **which "way" to go**:',
      '  option "a: b":',
      "let tips = cities | pmap:",
      'session "a # b" (retry: 3):',
    ],
    others: ["session: writer", 'session "Say:"', "# if **a**:", '  prompt: "x"', 'session "a" # then:', "x = a ? b : c"],
  });
});

test("a clause goes back to its statement", () => {
  assertMatches(decreaseIndentPattern, {
    lines: ["  else:", "else : # otherwise", "  elif **it is: so**:", "catch:", "  catch as problem:", "finally:"],
    others: ["elsewhere:", "else = 1", "catch as problem", "finally", 'option "a":', "elif-not:", "try:"],
  });
});

test("Enter knows where the next line belongs", () => {
  assert.deepEqual(onEnter("repeat 3:"), { indent: "indent" });
  assert.deepEqual(onEnter('session "x"'), undefined);
  assert.deepEqual(onEnter("    break"), { indent: "outdent" });
  assert.deepEqual(onEnter("  return draft"), { indent: "outdent" });
  assert.deepEqual(onEnter("  return ["), undefined);
  assert.deepEqual(onEnter("  breakfast"), undefined);
  assert.deepEqual(onEnter('  prompt: """', '"""'), { indent: "indentOutdent" });
  assert.deepEqual(onEnter("if ***", "***:"), { indent: "indentOutdent" });
});

test("a comment that is split goes on, one that ends does not", () => {
  assert.deepEqual(onEnter("  # First half,", " second half"), { indent: "none", appendText: "# " });
  assert.deepEqual(onEnter("# All of it"), undefined);
  assert.deepEqual(onEnter('session "# no comment', ' goes on"'), undefined);
});

test("a word is a name, or a number with its unit", () => {
  const words = (text) => text.match(new RegExp(configuration.wordPattern.pattern, `g${configuration.wordPattern.flags}`));
  assert.deepEqual(words("market-trends - 2 -> größe_1.変数"), ["market-trends", "2", "größe_1", "変数"]);
  assert.deepEqual(words("timeout: 120s, 1.5h a-"), ["timeout", "120s", "1.5h", "a"]);
});

test("braces close in texts, before the quotes too", () => {
  const pair = (open) => configuration.autoClosingPairs.find((pair) => pair.open === open);
  assert.deepEqual(pair("{").notIn, ["comment"]);
  // The editor types over one character at a time, and would leave the markers of a condition that it has closed.
  assert.deepEqual([pair("**"), pair("***")], [undefined, undefined]);
  for (const before of ['"', "*", ")", " "]) assert.ok(configuration.autoCloseBefore.includes(before));
});

test("regions fold", () => {
  const { start, end } = configuration.folding.markers;
  assertMatches(start, { lines: ["# region Setup", "  #region"], others: ["# regional", "region"] });
  assertMatches(end, { lines: ["# endregion"], others: ["# region"] });
});
