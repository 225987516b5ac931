import assert from "node:assert/strict";
import { test } from "node:test";
import { branchesOf, calls, lineReader } from "../src/testing/events";

test("whole files have a call of their own, since filters apply to all files", () => {
  assert.deepEqual(calls([]), []);
  assert.deepEqual(calls([{ file: "/a.test.toml" }, { file: "/b.test.toml" }]), [["/a.test.toml", "/b.test.toml"]]);
  const [one, two] = [{ file: "/b.test.toml", name: "x" }, { file: "/b.test.toml", name: "y [1]" }];
  const named = ["/b.test.toml", "--exact", "--filter", "/b.test.toml::x", "--filter", "/b.test.toml::y [1]"];
  assert.deepEqual(calls([one, two]), [named]);
  assert.deepEqual(calls([{ file: "/a.test.toml" }, one, two, { file: "/a.test.toml", name: "z" }]), [["/a.test.toml"], named]);
});

test("lines are read from pieces of any size", () => {
  const lines: string[] = [];
  const reader = lineReader((line) => lines.push(line));
  for (const piece of ["a", "b\nc\n", "\n", "d", "e\nf"]) reader.push(piece);
  assert.deepEqual(lines, ["ab", "c", "de"]);
  reader.end();
  reader.end();
  assert.deepEqual(lines, ["ab", "c", "de", "f"]);
});

test("branches are those of their statement", () => {
  const branch = (start: number, name: string) => ({ line: 1, of: [start, 9] as [number, number], name, hits: 0 });
  const statement = (start: number) => ({ line: 1, column: 1, range: [start, 9] as [number, number], hits: 1 });
  const branches = [branch(4, "yes"), branch(4, "else"), branch(5, "lost")];
  const found = branchesOf({ path: "/a.prose", statements: [statement(0), statement(4)], branches });
  assert.deepEqual([...found].map(([index, branches]) => [index, branches.map(({ name }) => name)]), [[1, ["yes", "else"]]]);
});
