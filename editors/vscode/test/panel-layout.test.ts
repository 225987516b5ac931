// Where things are drawn in the panel of a run.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { type FlowGraph, neighbour, nodeAtBytes, nodeAtLine, place } from "../panel/layout";
import { activity, bars, clock, load, moved, rowOf, rows, ticks, zoomed } from "../panel/rows";
import { type Item, Run, type RunDelta } from "../src/runs/run";

const deltas = readFileSync("test/recorded/review.deltas.jsonl", "utf8").trim().split("\n").map((line) => JSON.parse(line) as RunDelta);
const graph = JSON.parse(readFileSync("test/recorded/review.flow.json", "utf8")) as FlowGraph;
const model = new Run();
for (const delta of deltas) model.apply(delta);

const placed = place(graph, (text) => text.length * 7);

test("no two nodes lie on one another, unless one is in the other", () => {
  const isIn = (inner: number, outer: number): boolean => {
    for (let at: number | null | undefined = inner; at != null; at = graph.nodes[at]?.parent) if (at === outer) return true;
    return false;
  };
  placed.boxes.forEach((a, i) =>
    placed.boxes.forEach((b, j) => {
      if (i >= j) return;
      const apart = a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;
      if (isIn(j, i)) {
        const inside = b.x >= a.x && b.y >= a.y && b.x + b.width <= a.x + a.width && b.y + b.height <= a.y + a.height;
        assert.ok(inside, `${graph.nodes[j]?.label} is outside of ${graph.nodes[i]?.label}`);
      } else assert.ok(apart, `${graph.nodes[i]?.label} lies on ${graph.nodes[j]?.label}`);
    }),
  );
});

test("everything lies on the page", () => {
  for (const { x, y, width, height } of placed.boxes) {
    assert.ok(x >= 0 && y >= 0 && x + width <= placed.width && y + height <= placed.height);
  }
  assert.equal(placed.lines.length, graph.edges.length);
  for (const { path } of placed.lines) assert.match(path, /^M[-\d. ]+[VCv]/);
});

test("what follows stands below, what happens at the same time beside", () => {
  const index = (name: string): number => graph.nodes.findIndex((node) => node.name === name);
  const box = (name: string) => placed.boxes[index(name)] as (typeof placed.boxes)[number];
  assert.ok(box("readers").y > box("draft").y);
  assert.equal(box("facts").y, box("style").y);
  assert.ok(box("facts").x < box("style").x && box("style").x < box("opinion").x);
});

test("arrow keys lead to what stands in their direction and back", () => {
  const facts = graph.nodes.findIndex(({ name }) => name === "facts");
  const style = graph.nodes.findIndex(({ name }) => name === "style");
  assert.equal(neighbour(placed, facts, "right"), style);
  assert.equal(neighbour(placed, style, "left"), facts);
  const last = graph.nodes.findIndex(({ name }) => name === "result");
  assert.equal(neighbour(placed, last, "down"), last);
  // Every node is reached from the first one.
  const seen = new Set([0]);
  for (const from of seen) for (const way of ["up", "down", "left", "right"] as const) seen.add(neighbour(placed, from, way));
  assert.equal(seen.size, graph.nodes.length);
});

test("a place of the program is in its innermost statement", () => {
  const facts = graph.nodes.findIndex(({ name }) => name === "facts");
  const [start, end] = (graph.nodes[facts] as FlowGraph["nodes"][number]).bytes;
  assert.equal(nodeAtBytes(graph, start, end), facts);
  assert.equal(nodeAtBytes(graph, start + 8, end), facts);
  assert.equal(nodeAtLine(graph, graph.nodes[facts]?.range.start.line ?? 0), facts);
  assert.equal(nodeAtLine(graph, 10_000), -1);
});

test("every statement that was executed has a node", () => {
  for (const { site } of model.statements.values()) {
    const node = graph.nodes[nodeAtBytes(graph, site.start, site.end)];
    assert.deepEqual(node?.bytes, [site.start, site.end], `line ${site.line}`);
  }
});

test("a large program is placed in a moment", () => {
  const nodes = Array.from({ length: 5_000 }, (_, index) => ({
    ...(graph.nodes[0] as FlowGraph["nodes"][number]),
    kind: index % 10 === 0 ? "loop" : "session",
    parent: index % 10 === 0 ? null : index - (index % 10),
  }));
  const start = performance.now();
  place({ nodes, edges: [] }, (text) => text.length * 7);
  assert.ok(performance.now() - start < 1000, `${performance.now() - start} ms`);
});

test("a branch with nothing but a session is one row", () => {
  const list = rows(model, new Set());
  const facts = list.find(({ item }) => item.label === "Look for facts");
  assert.deepEqual([facts?.prefix, facts?.outer.kind, facts?.item.kind], ["facts", "branch", "session"]);
  // A screen reader is told which of how many.
  assert.deepEqual([facts?.position, facts?.siblings], [1, 3]);
});

test("what is collapsed has no rows, and its parts are found in the row of it", () => {
  const parallel = model.items.find(({ kind }) => kind === "parallel") as Item;
  const facts = model.items.find(({ label }) => label === "Look for facts") as Item;
  const list = rows(model, new Set([parallel.id]));
  const row = list[rowOf(list, model, facts.id)];
  assert.deepEqual([row?.item, row?.isExpanded, row?.hasChildren], [parallel, false, true]);
  assert.ok(activity(model, parallel, 0).length > 0);
});

test("only what is wanted has rows, with all that it is in", () => {
  const list = rows(model, new Set(), ({ attempts }) => attempts.some(({ status }) => status === "failed"));
  assert.deepEqual(list.map(({ item }) => item.label), ["parallel", "Look for facts", "try", "Publish it"]);
});

test("a session is drawn with what it waited for", () => {
  const facts = model.items.find(({ label }) => label === "Look for facts") as Item;
  assert.deepEqual(bars(facts, 0).map(({ kind, status }) => `${kind} ${status}`).sort(), ["pause waiting", "work complete", "work failed"]);
  const experts = model.items.find(({ label }) => label === "Write for experts") as Item;
  assert.deepEqual(bars(experts, 0).map(({ kind }) => kind), ["queued", "work"]);
});

test("as many sessions work at the same time as may", () => {
  const root = model.root as Item;
  const { working, failures } = load(model, { from: root.from, to: root.to ?? 0 }, 1000, 0);
  assert.equal(Math.max(...working), 2);
  assert.equal(failures.reduce((sum, count) => sum + count, 0), 2);
});

test("the axis has round times", () => {
  assert.deepEqual(ticks({ from: 1000, to: 11_000 }, 1000, 500).map(({ label }) => label), ["0", "2 s", "4 s", "6 s", "8 s", "10 s"]);
  assert.deepEqual([250, 1500, 125_000, 3_725_000].map(clock), ["250 ms", "1.5 s", "2:05", "1:02:05"]);
});

test("zooming keeps what is under the mouse where it is, and nothing leads out of the run", () => {
  const all = { from: 0, to: 1000 };
  assert.deepEqual(zoomed(all, 0.5, 250, all), { from: 125, to: 625 });
  assert.deepEqual(zoomed({ from: 125, to: 625 }, 4, 250, all), all);
  assert.deepEqual(moved({ from: 100, to: 200 }, -500, all), { from: 0, to: 100 });
});
