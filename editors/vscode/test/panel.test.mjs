// The panel of a run as a page in a browser: what is shown, the keyboard, narrow windows, and what screen readers are given.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";
import { html } from "../panel/measure/page.mjs";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const DELTAS = readFileSync("test/recorded/review.deltas.jsonl", "utf8").trim().split("\n").map((line) => JSON.parse(line));
const GRAPH = JSON.parse(readFileSync("test/recorded/review.flow.json", "utf8"));

let browser;
before(async () => (browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] })));
after(() => browser.close());

/** A page with the recorded run, or with another one. */
async function panel({ width = 900, height = 900, theme, run = DELTAS, graph = GRAPH, can = ["rerun", "state", "fork"] } = {}) {
  const page = await browser.newPage({ viewport: { width, height } });
  page.setDefaultTimeout(60_000);
  page.on("pageerror", (error) => page.failures.push(error));
  page.failures = [];
  await page.setContent(html(theme));
  await page.evaluate(async ([first, ...others]) => {
    const [run, graph, can] = [first.delta, first.graph, first.can];
    window.postMessage({ type: "run", run: "r", delta: run, graph, can });
    for (const delta of others) window.postMessage({ type: "delta", run: "r", delta });
    // Keys and clicks overtake messages; the run is there as a whole before the first of them.
    await new Promise((resolve) => {
      window.addEventListener("message", ({ data }) => data.type === "last" && requestAnimationFrame(() => requestAnimationFrame(resolve)));
      window.postMessage({ type: "last" });
    });
  }, [{ delta: run[0], graph, can }, ...run.slice(1)]);
  await page.locator(".row:visible").first().waitFor();
  return page;
}

/** What the page has told the editor. */
const told = (page, type) => page.evaluate((type) => window.told.filter((message) => message.type === type), type);

const row = (page, label) => page.locator(`[role=treeitem].row:visible[aria-label*="${label}"]`).first();

const session = (others) => ({
  request: 1, line: 3, agent: "reader", model: "sonnet", skills: [], permissions: [], attempt: 0, retries: 0, task: "Look for facts", prompt: "Look for facts about tides",
  system: null, context: [{ name: "outline", text: "1. The moon", file: null }], memory: null, name: "facts", file: null, reply: "It is the moon.", usage: null, calls: 1,
  denials: [], agentSession: null, log: null, warnings: [], error: null, status: "complete", started: 0, began: 0, ended: 5, took: 5, waited: 0, ...others,
});

test("rules for accessible pages hold, wide and narrow, with everything open", async () => {
  for (const [width, theme] of [[1200, "dark"], [400, "light"], [900, "high-contrast"]]) {
    const page = await panel({ width, theme });
    await row(page, "Look for facts").click();
    await page.getByRole("button", { name: "Details" }).click();
    const [{ requests }] = (await told(page, "details")).slice(-1);
    const details = { requests, attempts: [session()], log: { text: "", reasoning: "", tools: [{ kind: "read", status: "completed", title: "Read tides.md" }], notes: [] }, code: { line: 3, text: "session" } };
    await page.evaluate((details) => window.postMessage({ type: "details", details }), details);
    await page.getByText("Read tides.md").waitFor();
    await page.evaluate(AXE);
    // The rule joins the columns of a row without spaces, and compares that with the label.
    const { violations } = await page.evaluate(() => axe.run(document, { rules: { "label-content-name-mismatch": { enabled: false } } }));
    const found = violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 120)} ${failureSummary}`));
    assert.deepEqual(found, [], `${width} ${theme}`);
    // Nothing leads out of the page.
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), `${width}`);
    assert.deepEqual(page.failures, []);
    await page.close();
  }
});

test("parts are searched, and sessions to look at are found, also in what is collapsed", async () => {
  const page = await panel();
  const search = page.getByRole("searchbox", { name: "Search parts" });
  await page.getByRole("combobox", { name: "Levels" }).selectOption({ label: "1 level" });
  await row(page, "Look for facts").waitFor({ state: "hidden" });
  await page.keyboard.press("Control+F");
  await page.keyboard.type("look for FACTS");
  await page.getByText("1 match").waitFor();
  await row(page, "Look for facts").waitFor();
  await page.keyboard.press("Enter");
  await page.locator('.row.active[aria-label*="Look for facts"]').waitFor();
  await page.keyboard.press("Escape");
  assert.equal(await search.inputValue(), "");
  // It was opened to be seen.
  await row(page, "Look for facts").waitFor();
  await page.getByRole("combobox", { name: "Levels" }).selectOption({ label: "1 level" });
  await page.getByRole("button", { name: "Next slowest session" }).click();
  await page.getByText(/^slowest: 1 of/).waitFor();
  const first = await page.locator(".row.active").getAttribute("aria-label");
  await page.getByRole("button", { name: "Next slowest session" }).click();
  await page.getByText(/^slowest: 2 of/).waitFor();
  // The rows are painted after the words.
  await page.locator(`.row.active:not([aria-label="${first}"])`).waitFor();
  await page.getByRole("button", { name: "Next failed session" }).click();
  await page.locator('.row.active[aria-label*=", failed"]').waitFor();
  assert.deepEqual(page.failures, []);
  await page.close();
});

test("the keyboard alone reaches everything", async () => {
  const page = await panel({ can: ["rerun", "state", "fork", "resume"] });
  const focused = () => page.evaluate(() => {
    const { activeElement: at } = document;
    return at?.getAttribute("aria-label") ?? at?.textContent ?? "";
  });
  // Each toolbar is one stop, and the arrow keys lead through it.
  await page.keyboard.press("Tab");
  assert.equal(await focused(), "Resume the run");
  await page.keyboard.press("ArrowRight");
  assert.equal(await focused(), "Run the program again, with the same inputs");
  await page.keyboard.press("End");
  assert.equal(await focused(), "Open state.md");
  await page.keyboard.press("Shift+Tab");
  const stops = [];
  for (let stop = 0; stop < 12; stop += 1) {
    await page.keyboard.press("Tab");
    stops.push(await focused());
  }
  assert.equal(stops[0], "Open state.md");
  for (const stop of ["Both", "Search parts", "Levels", "Next slowest session", "Parts of the run", "Width of the labels", "Size of the timeline"]) assert.ok(stops.includes(stop), `${stop} is not in ${stops.join(", ")}`);

  // A part is chosen and its statement shown.
  await page.locator(".rows").focus();
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  const [revealed] = await told(page, "reveal");
  assert.equal(revealed.keepsFocus, false);
  // The column of labels gets wider.
  const edge = page.getByRole("separator", { name: "Width of the labels" });
  const before = Number(await edge.getAttribute("aria-valuenow"));
  await edge.focus();
  await page.keyboard.press("ArrowRight");
  assert.equal(Number(await edge.getAttribute("aria-valuenow")), before + 16);
  assert.deepEqual(page.failures, []);
  await page.close();
});

test("the column of labels is dragged, and the description goes with what it describes", async () => {
  const page = await panel();
  const edge = page.getByRole("separator", { name: "Width of the labels" });
  const { x, y } = await edge.boundingBox();
  await page.mouse.move(x + 3, y + 100);
  await page.mouse.down();
  await page.mouse.move(x + 63, y + 100);
  await page.mouse.up();
  const moved = await edge.boundingBox();
  assert.equal(Math.round(moved.x - x), 60);
  assert.equal(await page.evaluate(() => document.querySelector(".labels").getBoundingClientRect().width), Number(await edge.getAttribute("aria-valuenow")));

  await row(page, "Look for facts").hover();
  await page.locator(".tip:visible").waitFor();
  await page.keyboard.press("Tab");
  await page.locator(".rows").press("ArrowDown");
  await page.locator(".tip").waitFor({ state: "hidden" });
  await row(page, "Look for facts").hover({ position: { x: 20, y: 5 } });
  await page.locator(".tip:visible").waitFor();
  await page.evaluate(() => document.documentElement.dispatchEvent(new MouseEvent("mouseleave")));
  await page.locator(".tip").waitFor({ state: "hidden" });
  await page.close();
});

test("a session shows what it was asked and replied, and its reply while it is written", async () => {
  const page = await panel();
  await row(page, "Look for facts").click();
  await page.getByRole("button", { name: "Details" }).click();
  const asked = await told(page, "details");
  const { requests, node } = asked.at(-1);
  assert.ok(node > 0 && requests.length > 0);
  const show = (details) => page.evaluate((details) => window.postMessage({ type: "details", details }), { requests, log: null, code: null, ...details });
  const text = (name) => page.getByRole("region", { name, exact: true });
  const log = { text: "It is", reasoning: "", tools: [], notes: [] };
  await show({ attempts: [session({ reply: null, ended: null, status: null, calls: 0 })], log });
  await text("Reply").getByText("It is").waitFor();
  await page.getByRole("heading", { name: "Reply, being written" }).waitFor();
  await text("Prompt").getByText("Look for facts about tides").waitFor();
  await text("Context").getByText("1. The moon").waitFor();
  await text("Tool calls").getByText("No tool calls.").waitFor();
  const tools = [{ kind: "read", status: "running", title: "Read tides.md" }];
  await show({ attempts: [session({ attempt: 1, retries: 2, reply: null, ended: null, status: null })], log: { ...log, text: "It is the", tools }, code: { line: 3, text: 'session "Look for facts"' } });
  await text("Reply").getByText("It is the").waitFor();
  await text("Tool calls").getByText("Read tides.md").waitFor();
  await text("Statement and attempts").getByText("attempt 2 of 3").waitFor();
  await text("Statement and attempts").getByText('session "Look for facts"').waitFor();
  // Details of another session come too late.
  await page.evaluate((details) => window.postMessage({ type: "details", details }), { requests: [999], attempts: [session({ prompt: "Something else" })], log: null, code: null });
  await show({ attempts: [session()] });
  await text("Reply").getByText("It is the moon.").waitFor();
  assert.equal(await page.getByText("Something else").count(), 0);
  await page.getByRole("button", { name: "Details" }).click();
  await text("Reply").waitFor({ state: "hidden" });
  assert.equal((await told(page, "details")).at(-1).node, null);
  assert.deepEqual(page.failures, []);
  await page.close();
});

test("iterations of a large run are in groups, which open, and its rows are few", async () => {
  const page = await panel({ run: [many(10_000)], graph: null });
  await row(page, "1–1000").waitFor();
  assert.ok((await page.locator(".row").count()) < 60);
  await row(page, "1–1000").locator(".twistie").click();
  await row(page, "Session 1,").waitFor();
  await page.keyboard.press("Control+F");
  await page.keyboard.type("session 9876");
  await page.getByText("1 match").waitFor();
  await page.keyboard.press("Enter");
  await page.locator('.row.active[aria-label*="Session 9876"]').waitFor();
  await page.keyboard.press("Escape");
  // It is still there, in its group.
  await page.locator('.row.active[aria-label*="Session 9876"]').waitFor();
  assert.deepEqual(page.failures, []);
  await page.close();
});

test("the flow of a program follows the cursor and edits, and leads to the code", async () => {
  const page = await browser.newPage({ viewport: { width: 700, height: 600 } });
  page.setDefaultTimeout(60_000);
  await page.setContent(html("dark", "flow.js"));
  const tell = (message) => page.evaluate((message) => window.postMessage(message), message);
  const statement = (label) => page.locator(`[role=tree][aria-label="Statements"] [role=treeitem][aria-label*="${label}"]`).first();
  await tell({ type: "flow", name: "review.prose", graph: GRAPH });
  await page.getByRole("heading", { name: "review.prose" }).waitFor();
  const node = GRAPH.nodes.findLast(({ kind }) => kind === "session");
  await tell({ type: "cursor", line: node.range.start.line + 1 });
  await page.locator("[role=treeitem].at-cursor").waitFor();
  await statement(`${node.label}`).click();
  const [shown] = await page.evaluate(() => window.told.filter(({ type }) => type === "show"));
  assert.equal(shown.keepsFocus, true);
  // The program is edited: the flow is another one, at the same zoom.
  await page.getByRole("button", { name: "Zoom in" }).click();
  const width = () => page.locator("svg[role=tree]").getAttribute("width");
  const before = await width();
  const edited = { ...GRAPH, nodes: GRAPH.nodes.map((other) => (other === node ? { ...other, label: "Something else" } : other)) };
  await tell({ type: "flow", name: "review.prose", graph: edited });
  await statement("Something else").waitFor();
  assert.ok(Math.abs(Number(await width()) - Number(before)) < Number(before) / 3, `${before} became ${await width()}`);
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() => axe.run(document, { rules: { "label-content-name-mismatch": { enabled: false } } }));
  assert.deepEqual(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html.slice(0, 100))]), []);
  await tell({ type: "flow", name: "empty.prose", graph: { nodes: [], edges: [], width: 32, height: 32 } });
  await page.getByText("This program has no statements yet.").waitFor();
  await page.close();
});

/** A run with so many sessions in a parallel loop. */
function many(sessions) {
  const nodes = [{ id: 0, kind: "run", label: "many.prose", status: "complete", from: 0, to: sessions }, { id: 1, kind: "parallel", parent: 0, label: "parallel for", status: "complete", from: 0, to: sessions }];
  for (let index = 0; index < sessions; index += 1) {
    const [id, times] = [2 + 2 * index, { status: "complete", from: index, to: index + 40 }];
    nodes.push({ id, kind: "branch", parent: 1, label: `iteration ${index + 1}`, ...times, sessions: { total: 1, running: 0, waiting: 0, complete: 1, failed: 0 } });
    nodes.push({ id: id + 1, kind: "session", parent: id, label: `Session ${index + 1},`, ...times, attempts: [{ request: index + 1, ...times }], sessions: { total: 1, running: 0, waiting: 0, complete: 1, failed: 0 } });
  }
  return { whole: true, seq: 1, now: sessions, paused: 0, harness: "offline", nodes, statements: [], entries: [] };
}
