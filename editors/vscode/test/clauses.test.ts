import assert from "node:assert/strict";
import { test } from "node:test";
import { clauseIndentation, endsInText } from "../src/clauses";

/** Where the last line of a text is moved to. */
function moved(text: string): number | undefined {
  const lines = text.split("\n").slice(1);
  const typed = lines.pop() ?? "";
  return clauseIndentation(typed, lines.reverse(), 2);
}

test("an option stands below its choice, the first one too", () => {
  assert.equal(moved(`
choice **how severe it is**:
option `), 2);
  assert.equal(moved(`
choice **how severe it is**:
  option `), undefined);
  assert.equal(moved(`
let answer = choice **how severe it is**:
  option "severe":
    session "Wake somebody up"
    option `), 2);
});

test("an else stands below its if, whatever is between them", () => {
  assert.equal(moved(`
if **a test failed**:
  for name in names:
    session "Look at {name}"
    else:`), 0);
  assert.equal(moved(`
  if **a test failed**:
    session "Look"
  elif **it is slow**:
    session "Wait"

    # Otherwise there is nothing to do.
    else:`), 2);
});

test("a clause that has its statement stays", () => {
  const nested = `
if **a**:
  if **b**:
    session "Both"
`;
  assert.equal(moved(`${nested}else:`), undefined);
  assert.equal(moved(`${nested}  else:`), undefined);
  assert.equal(moved(`${nested}    else:`), 2);
});

test("catch and finally stand below their try", () => {
  assert.equal(moved(`
x = try:
  session "Deploy"
  catch as problem:`), 0);
  assert.equal(moved(`
try:
  session "Deploy"
catch:
  session "Say so"
  finally:`), 0);
});

test("a statement that is over has no clauses", () => {
  assert.equal(moved(`
if **a**:
  session "Yes"
session "Go on"
for name in names:
  session "Look"
  else:`), undefined);
});

test("names are left alone", () => {
  assert.equal(moved(`
if-not = 1
  else:`), undefined);
  assert.equal(moved(`
if **a**:
  session "x"
  option = 1`), undefined);
  assert.equal(moved(`
if **a**:
  elsewhere: 1`), undefined);
});

test("what stands in a text is no clause", () => {
  assert.equal(endsInText('session """\n  Say\n  else'), true);
  assert.equal(endsInText('session """\n  Say\n"""\nelse'), false);
  assert.equal(endsInText('session "Say"\nelse'), false);
});
