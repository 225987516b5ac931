// Reports of `prose runs report` in a browser: the file that the command writes, opened as a user opens it.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { ASSETS, built } from "../build-report.mjs";
import { prose } from "./prose.mjs";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const HOSTILE = "</script><script>window.hacked=1</script><img src=x onerror=window.hacked=1><!--<script> {{7*7}} ${7*7}";

const PROGRAM = `input topic: "What about?"

agent writer:
  model: sonnet
  prompt: "You write."

use "./tool.prose" as tool

let draft = session: writer
  prompt: "Write about {topic}"
let notes = session "Check <b>it</b> </script>"
  context: draft
  retry: 1
parallel for reader in ["children", "experts"]:
  session "Write for {reader}"
try:
  session "Publish it"
catch as problem:
  session "Say why: {problem}"
let used = tool(text: draft)
output result = draft
`;
const TOOL = `input text: "Text"\nlet short = session "Shorten it"\noutput short = short\n`;
const script = (reply) => `[[session]]
label = "Check <b>it</b> </script>"
fail = "no answer in time"
kind = "timeout"
times = 1

[[session]]
label = "Publish it"
fail = "there is no room"

[[session]]
reply = ${JSON.stringify(reply)}
`;

let browser;
let folder;
before(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "prose-report-"));
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
  writeFileSync(path.join(folder, "prose.toml"), '[run]\nredact = ["Ada Lovelace"]\n');
  writeFileSync(path.join(folder, "main.prose"), PROGRAM);
  writeFileSync(path.join(folder, "tool.prose"), TOOL);
  for (const reply of [`Of Ada Lovelace. ${HOSTILE}`, "Another reply."]) run(reply);
  const [second, first] = JSON.parse(prose(["runs", "list", "--json"], { cwd: folder })).map(({ run }) => run);
  prose(["runs", "report", first, "-o", "one.html"], { cwd: folder });
  prose(["runs", "report", first, second, "-o", "two.html"], { cwd: folder });
});
after(async () => {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
});

function run(reply) {
  writeFileSync(path.join(folder, "script.toml"), script(reply));
  const env = { ...process.env, REPORT_API_KEY: "sk-verysecretkey123456" };
  prose(["run", "main.prose", "--script", "script.toml", "--input", "topic=tides of Ada Lovelace"], { cwd: folder, stdio: "pipe", env });
}

/** Opens a report, and notes what it asks the network for and what goes wrong. */
async function open(file, { width = 1200, height = 900, colorScheme = "light" } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme });
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  page.failures = [];
  page.on("pageerror", (error) => page.failures.push(String(error)));
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && page.failures.push(message.text()));
  page.on("request", (request) => {
    if (!request.url().startsWith("file:") && request.url() !== "data:,") page.failures.push(`request of ${request.url()}`);
  });
  await page.goto(pathToFileURL(path.join(folder, file)).href);
  await page.locator(".row:visible").first().waitFor();
  return page;
}

async function close(page) {
  assert.deepEqual(page.failures, []);
  await page.context().close();
}

test("the script and the style in the repository are those of the panel", async () => {
  for (const [name, text] of Object.entries(await built())) {
    assert.equal(readFileSync(`${ASSETS}${name}`, "utf8"), text, `${name} is out of date; \`node build-report.mjs\` builds it`);
  }
});

test("a report has the run with its timeline, flow, program, values and sessions", async () => {
  const page = await open("one.html");
  await page.locator('[role=treeitem].row:visible[aria-label*="Publish it"]').first().waitFor();
  await page.locator('.node[aria-label*="Publish it"][aria-label*="failed"]').waitFor();
  await page.locator('.node[aria-label*="Write for"] .badge text', { hasText: "×2" }).waitFor();
  await page.locator('.node.kind-import[aria-label*="tool.prose"]').waitFor();
  const line = page.locator("#program tr", { hasText: "let draft = session" });
  await line.getByRole("button", { name: "Write about tides" }).click();
  const session = page.locator("details.session[open]");
  assert.match(await session.innerText(), /Prompt\s+[^]*Write about tides of \[redacted\]/);
  assert.match(await session.innerText(), /Reply\s+Of \[redacted\]\. <\/script><script>window\.hacked=1/);
  assert.match(await page.locator("#values").innerText(), /topic\s+tides of \[redacted\]/);
  await page.locator("#sessions").getByLabel("Filter sessions").fill("check");
  await page.locator("details.session", { hasText: "2 attempts" }).locator("summary").click();
  await page.getByText("Attempt 1 failed: no answer in time").waitFor();
  await close(page);
});

test("an imported program is shown next to its results, each text once", async () => {
  const page = await open("one.html");
  const heading = page.locator("#program h3");
  assert.match(await heading.innerText(), /^Imported program tool\.prose \(.*tool\.prose.*\)$/);
  const line = page.locator("#program table").nth(1).locator("tr", { hasText: "let short = session" });
  assert.match(await line.innerText(), /^2\s[^]*short = Of \[redacted\]/);
  await line.getByRole("button", { name: "Shorten it" }).click();
  assert.match(await page.locator("details.session[open]").innerText(), /Prompt\s+Shorten it/);
  assert.match(await page.locator("#values").innerText(), /short \(tool\.prose:2\)/);
  // A row of the panel leads to the line in the text of its program.
  await page.locator('[role=treeitem].row:visible[aria-label*="Shorten it"]').first().click();
  await page.locator("#program table").nth(1).locator("tr.marked", { hasText: "Shorten it" }).waitFor();
  await close(page);
});

test("nothing in a run is executed, and nothing that is redacted is in the file", async () => {
  for (const file of ["one.html", "two.html"]) {
    const text = readFileSync(path.join(folder, file), "utf8");
    assert.ok(!text.includes("Lovelace") && !text.includes("verysecret"), file);
    const page = await open(file);
    for (const summary of await page.locator("details.session > summary").all()) await summary.click();
    await page.locator("pre", { hasText: "window.hacked=1" }).first().waitFor();
    assert.equal(await page.evaluate(() => window.hacked), undefined);
    assert.equal(await page.locator("img").count(), 0);
    // Also a script that got into the page would not be executed.
    await page.evaluate(() => {
      const added = document.createElement("script");
      added.textContent = "window.hacked=1";
      document.body.append(added);
    });
    assert.equal(await page.evaluate(() => window.hacked), undefined);
    page.failures = page.failures.filter((failure) => !failure.includes("Content Security Policy"));
    await close(page);
  }
  const mode = statSync(path.join(folder, "one.html")).mode & 0o777;
  if (process.platform !== "win32") assert.equal(mode, 0o600);
});

test("rules for accessible pages hold, light and dark, wide and narrow, for one run and for two", async () => {
  for (const [file, width, colorScheme] of [["one.html", 1200, "light"], ["one.html", 420, "dark"], ["two.html", 1000, "dark"]]) {
    const page = await open(file, { width, colorScheme });
    await page.locator('[role=treeitem].row:visible[aria-label*="Check"]').first().click();
    await page.locator("details.session > summary").first().click();
    await page.evaluate(() => scrollTo(0, 0));
    // The policy of the page keeps out scripts in elements, and not those of a debugger.
    await page.evaluate(AXE);
    const { violations } = await page.evaluate(() => axe.run(document, { rules: { "label-content-name-mismatch": { enabled: false } } }));
    const found = violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary}`));
    assert.deepEqual(found, [], `${file} ${width} ${colorScheme}`);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), `${file} ${width}`);
    const back = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    assert.equal(back, colorScheme === "dark" ? "rgb(13, 17, 23)" : "rgb(255, 255, 255)");
    await close(page);
  }
});

test("the keyboard alone reaches everything", async () => {
  const page = await open("one.html");
  const stops = [];
  for (let stop = 0; stop < 60; stop += 1) {
    await page.keyboard.press("Tab");
    stops.push(await page.evaluate(() => {
      const { activeElement: at } = document;
      return at === null || at === document.body ? "" : (at.getAttribute("aria-label") ?? at.textContent ?? "");
    }));
  }
  for (const wanted of ["Timeline and flow", "Program", "Search parts", "Parts of the run", "Filter sessions"]) assert.ok(stops.includes(wanted), `${wanted} is not in ${stops.join(" | ")}`);
  assert.ok(stops.some((stop) => stop.includes("Write about tides")), "no session is reached");
  await page.getByRole("tree", { name: "Parts of the run" }).focus();
  for (const key of ["Home", "Enter"]) await page.keyboard.press(key);
  // Enter leads to the line of the part.
  await page.locator("#program tr.marked").first().waitFor();
  assert.equal(await page.evaluate(() => document.activeElement?.id), "program");
  await page.getByRole("tree", { name: "Parts of the run" }).focus();
  await page.keyboard.press("Space");
  await page.locator("details.session[open]").waitFor();
  assert.match(await page.evaluate(() => document.activeElement?.textContent ?? ""), /Write about tides/);
  await close(page);
});

test("it is printed with all its parts on light paper", async () => {
  const page = await open("one.html", { colorScheme: "dark" });
  await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
  await page.emulateMedia({ media: "print" });
  const shown = await page.evaluate(() => ({
    rows: document.querySelectorAll(".printed tr").length,
    isTimeline: document.querySelector(".printed")?.checkVisibility(),
    isTool: document.querySelector(".finder")?.checkVisibility(),
    isFlow: document.querySelector(".graph-scroll svg")?.checkVisibility(),
    open: document.querySelectorAll("details.session[open] pre").length,
    back: getComputedStyle(document.body).backgroundColor,
  }));
  assert.ok(shown.rows > 6 && shown.open > 6, JSON.stringify(shown));
  assert.deepEqual([shown.isTimeline, shown.isTool, shown.isFlow, shown.back], [true, false, true, "rgb(255, 255, 255)"]);
  const pdf = await page.pdf();
  assert.ok(pdf.length > 10_000);
  await page.emulateMedia({ media: "screen" });
  await page.evaluate(() => window.dispatchEvent(new Event("afterprint")));
  assert.equal(await page.locator("details.session[open]").count(), 0);
  assert.equal(await page.locator(".printed").count(), 0);
  await close(page);
});

test("several runs stand side by side, with what differs", async () => {
  const page = await open("two.html");
  const differences = page.locator("#differences");
  await differences.getByText("only in", { exact: false }).or(differences.getByText("result:", { exact: false })).first().waitFor();
  assert.equal(await differences.locator(".timeline").count(), 2);
  assert.equal(await page.getByRole("group", { name: "Runs" }).getByRole("button").count(), 2);
  await page.getByRole("group", { name: "Runs" }).getByRole("button").nth(1).click();
  await page.locator("details.session > summary").first().click();
  await page.locator("details.session[open] pre", { hasText: "Another reply." }).waitFor();
  await close(page);
});

test("a run of 2,000 sessions opens in a moment, and its sessions are read when they are shown", async (test) => {
  writeFileSync(path.join(folder, "many.prose"), 'repeat 2000:\n  session "Say hello with a prompt of a usual length, which is a few lines in most programs"\n');
  writeFileSync(path.join(folder, "many.toml"), `[[session]]\nreply = ${JSON.stringify("A reply of some sentences. ".repeat(20))}\n`);
  prose(["run", "many.prose", "--script", "many.toml", "--quiet"], { cwd: folder, stdio: "pipe", maxBuffer: 1 << 28 });
  prose(["runs", "report", "-o", "many.html"], { cwd: folder });
  const { size } = statSync(path.join(folder, "many.html"));
  const start = performance.now();
  const page = await open("many.html");
  const took = performance.now() - start;
  test.diagnostic(`${(size / 1e6).toFixed(1)} MB, shown after ${Math.round(took)} ms`);
  assert.ok(size < 10e6, `${size} bytes`);
  assert.ok(took < 15_000, `${took} ms`);
  assert.equal(await page.locator("details.session").count(), 100);
  await page.locator("details.session > summary").nth(50).click();
  await page.locator("details.session[open] pre", { hasText: "A reply of some sentences." }).waitFor();
  assert.ok(await page.evaluate(() => document.querySelectorAll("*").length) < 20_000);
  await close(page);
});
