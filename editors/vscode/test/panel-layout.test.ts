// Where things are drawn in the panel of a run.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { type FlowGraph, neighbour, nodeAtBytes, nodeAtLine } from "../panel/layout";
import { activity, bars, clock, collapsedBelow, contains, groupOf, load, moved, peak, ranked, RowList, type Shown, ticks, zoomed } from "../panel/rows";
import { type Item, Run, type RunDelta } from "../src/runs/run";

const deltas = readFileSync("test/recorded/review.deltas.jsonl", "utf8").trim().split("\n").map((line) => JSON.parse(line) as RunDelta);
const graph = JSON.parse(readFileSync("test/recorded/review.flow.json", "utf8")) as FlowGraph;
const model = new Run();
for (const delta of deltas) model.apply(delta);

const shown = (others: Partial<Shown> = {}): RowList => new RowList(model, { collapsed: new Set(), expanded: new Set(), ...others });

test("arrow keys lead to what stands in their direction and back", () => {
  const facts = graph.nodes.findIndex(({ name }) => name === "facts");
  const style = graph.nodes.findIndex(({ name }) => name === "style");
  assert.equal(neighbour(graph, facts, "right"), style);
  assert.equal(neighbour(graph, style, "left"), facts);
  const last = graph.nodes.findIndex(({ name }) => name === "result");
  assert.equal(neighbour(graph, last, "down"), last);
  // Every node is reached from the first one.
  const seen = new Set([0]);
  for (const from of seen) for (const way of ["up", "down", "left", "right"] as const) seen.add(neighbour(graph, from, way));
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

test("a branch with nothing but a session is one row", () => {
  const { rows: list } = shown();
  const facts = list.find(({ item }) => item.label === "Look for facts");
  assert.deepEqual([facts?.prefix, facts?.outer.kind, facts?.item.kind], ["facts", "branch", "session"]);
  // A screen reader is told which of how many.
  assert.deepEqual([facts?.position, facts?.siblings], [1, 3]);
});

test("what is collapsed has no rows, and its parts are found in the row of it", () => {
  const parallel = model.items.find(({ kind }) => kind === "parallel") as Item;
  const facts = model.items.find(({ label }) => label === "Look for facts") as Item;
  const list = shown({ collapsed: new Set([parallel.id]) });
  const row = list.rows[list.indexOf(facts.id)];
  assert.deepEqual([row?.item, row?.isExpanded, row?.hasChildren], [parallel, false, true]);
  assert.ok(activity(model, parallel, 0).length > 0);
});

test("only what is wanted has rows, with all that it is in", () => {
  // Also in what is collapsed.
  const collapsed = new Set(model.items.map(({ id }) => id));
  const { rows: list } = shown({ collapsed, isWanted: ({ attempts }) => attempts.some(({ status }) => status === "failed") });
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

test("how many sessions worked at once does not depend on what it is drawn on", () => {
  const root = model.root as Item;
  const all = { from: root.from, to: root.to ?? 0 };
  assert.equal(peak(model, all, 0), 2);
  const session = model.items.find(({ label }) => label === "Look for facts") as Item;
  const [{ from, to = 0 } = { from: 0 }] = session.attempts;
  assert.ok(peak(model, { from, to }, 0) <= 2);
});

/** A run with so many iterations, each with two sessions. */
function loop(iterations: number): Run {
  const run = new Run();
  const nodes: Partial<Item>[] = [
    { id: 0, kind: "run", label: "many.prose", status: "running", from: 0 },
    { id: 1, kind: "loop", parent: 0, label: "for", status: "running", from: 0 },
  ];
  for (let index = 0; index < iterations; index++) {
    const [id, from] = [2 + 3 * index, 10 * index];
    const status = index === 70 ? "failed" : "complete";
    nodes.push({ id, kind: "iteration", parent: 1, label: `iteration ${index + 1}`, status, from, to: from + 10, sessions: { total: 2, running: 0, waiting: 0, complete: 2, failed: 0 } });
    for (const part of [1, 2]) {
      const to = from + (index === 33 ? 9 : part);
      const attempts = [{ request: id + part, from, to, status }];
      const usage = index % 10 === 3 ? { input_tokens: 1, output_tokens: 1, cost: index / 100 } : undefined;
      nodes.push({ id: id + part, kind: "session", parent: id, label: `Part ${part} of ${index + 1}`, status: part === 2 ? status : "complete", from, to, attempts, ...(usage && { usage }) } as Partial<Item>);
    }
  }
  run.apply({ whole: true, seq: 1, now: 0, paused: 0, harness: "offline", nodes, statements: [], entries: [] });
  return run;
}

test("many iterations are in groups, which open", () => {
  const run = loop(125);
  const none = new Set<number>();
  const closed = new RowList(run, { collapsed: none, expanded: none });
  assert.equal(closed.rows.length, 14);
  const [, first, , , , , , , eighth] = closed.rows;
  assert.deepEqual([first?.item.kind, first?.item.label, first?.item.status, first?.item.to], ["group", "1–10", "complete", 100]);
  assert.deepEqual([eighth?.item.label, eighth?.item.status, eighth?.item.sessions.total], ["71–80", "failed", 20]);
  assert.deepEqual([closed.rows[13]?.item.label, closed.rows[13]?.position, closed.rows[13]?.siblings], ["121–125", 13, 13]);

  const session = run.items.find(({ label }) => label === "Part 2 of 71") as Item;
  assert.equal(closed.rows[closed.indexOf(session.id)]?.item.label, "71–80");
  const iteration = run.items[session.parent ?? -1] as Item;
  const open = new RowList(run, { collapsed: none, expanded: new Set([groupOf(run, iteration) as number]) });
  assert.equal(open.rows[open.indexOf(session.id)]?.item, session);
  assert.equal(open.rows.length, 14 + 30);
  // Few iterations need no groups.
  assert.equal(groupOf(loop(50), iteration), undefined);
  assert.ok(new RowList(loop(10_000), { collapsed: none, expanded: none }).rows.length < 50);
});

test("parts are searched, and levels are collapsed", () => {
  const run = loop(10);
  const { rows: list } = new RowList(run, { collapsed: new Set([1]), expanded: new Set(), isWanted: (item) => contains(item, "2 of 7") });
  assert.deepEqual(list.map(({ item, outer }) => [outer.label, item.label]), [["for", "for"], ["iteration 7", "iteration 7"], ["Part 2 of 7", "Part 2 of 7"]]);
  assert.equal(run.depth, 3);
  const levels = [1, 2, 3].map((levels) => new RowList(run, { collapsed: collapsedBelow(run, levels), expanded: new Set() }).rows.length);
  assert.deepEqual(levels, [1, 11, 31]);
});

test("the slowest, the failed and the dearest sessions are found", () => {
  const run = loop(125);
  const labels = (ranking: "slowest" | "failed" | "dearest"): string[] => ranked(run, ranking, 0).slice(0, 2).map(({ label }) => label);
  assert.deepEqual(labels("slowest"), ["Part 1 of 34", "Part 2 of 34"]);
  assert.deepEqual(labels("failed"), ["Part 2 of 71"]);
  assert.deepEqual(labels("dearest"), ["Part 1 of 124", "Part 2 of 124"]);
  assert.deepEqual(ranked(loop(3), "dearest", 0), []);
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
