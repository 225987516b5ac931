// The page itself: what it loads, the keyboard, screen readers, sizes and schemes, and a module that stops or is not there.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, describe, test } from "node:test";
import { BROWSERS, button, open, press, run, setText, start, text, until, untilText } from "./browsers.mjs";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/** What the page transfers at most, in bytes: the module of the language, and the rest, with which the editor is there. */
const MAX_MODULE = 2_000_000;
const MAX_REST = 250_000;
/** How many bytes a second are 10 Mbit/s. */
const SPEED = 10e6 / 8;

const MISTAKES = 'agent writer:\n  prompt: "You write."\n\nsession: writter\n  prompt: "Write."\n';
const ASKS = 'input topic: "What is it about?"\n\noutput result = session "Write about {topic}."\n';

/** The sizes and schemes in which the page is tried. Rules about structure and colours are checked alike everywhere, so that two of them do for a second browser. */
const SIZES = [[1280, "light"], [320, "dark"], [1280, "dark"], [320, "light"], [2560, "light"]];

/** A module that stops in every call. */
const STOPS = Buffer.from("AGFzbQEAAAABDAJgAX8Bf2ACf38BfwMDAgABBQMBAAEHHAMGbWVtb3J5AgAIYWxsb2NhdGUAAARjYWxsAAEKCgIEAEEQCwMAAAs=", "base64");

/** What axe finds, in lines. */
async function violations(page) {
  await page.evaluate(AXE);
  // The rule joins the columns of a row of the timeline without spaces, and compares that with the label.
  const found = await page.evaluate(() => axe.run(document, { rules: { "label-content-name-mismatch": { enabled: false } } }));
  return found.violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary}`));
}

/** Presses Tab until something has the focus. */
async function tabTo(page, test) {
  for (let presses = 0; presses < 80; presses++) {
    if (await page.evaluate(`(${test})(document.activeElement)`)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`nothing like ${test} can be reached`);
}

for (const name of BROWSERS) {
  describe(name, () => {
    let started;
    before(async () => (started = await start(name)));
    after(() => started?.close());

    test("the page loads without errors, and asks no other host for anything", async () => {
      const page = await open(started);
      await untilText(page, ".status-line", "No problems");
      await run(page);
      assert.deepEqual(page.failures, []);
      const others = page.requested.filter((url) => !url.startsWith(started.url) && !url.startsWith("data:"));
      assert.deepEqual(others, []);
      assert.match(await text(page), /The smallest useful program/);
      await page.done();
    });

    test("the page works in a subfolder of a host", async () => {
      // The page knows only relative addresses: a query is as good as another folder.
      const page = await open(started, { path: "index.html?from=book" });
      await untilText(page, ".status-line", "No problems");
      assert.deepEqual(page.failures, []);
      await page.done();
    });

    test("text can be typed before the language is there", async () => {
      let release;
      const held = new Promise((resolve) => (release = resolve));
      const page = await open(started, {
        program: "",
        before: async (page) => {
          await page.setRequestInterception(true);
          page.on("request", async (request) => {
            if (request.url().endsWith(".wasm")) await held;
            await request.continue().catch(() => {});
          });
        },
      });
      await page.focus(".cm-content");
      await page.keyboard.type("let x = 1");
      assert.equal(await text(page), "let x = 1");
      assert.match(await page.$eval(".status-line", ({ textContent }) => textContent), /being loaded/);
      release();
      await page.waitForSelector(".tok-keyword");
      await page.done();
    });

    test("a language that cannot be loaded is said to be missing", async () => {
      const page = await open(started, {
        before: async (page) => {
          await page.setRequestInterception(true);
          page.on("request", (request) => (request.url().endsWith(".wasm") ? request.abort() : request.continue()).catch(() => {}));
        },
      });
      await untilText(page, ".notice", "the language module could not be loaded");
      await page.done();
    });

    test("rules for accessible pages hold, in both schemes and all sizes, with everything open", async (context) => {
      const dark = await start(name, "dark");
      context.after(() => dark.close());
      for (const [width, scheme] of name === "chromium" ? SIZES : SIZES.slice(0, 2)) {
        const page = await open(scheme === "dark" ? dark : started, { width, program: MISTAKES });
        assert.equal(await page.evaluate(() => matchMedia("(prefers-color-scheme: dark)").matches), scheme === "dark");
        await untilText(page, ".status-line", "1 error");
        assert.deepEqual(await violations(page), [], `${width} ${scheme} with a mistake`);
        await page.focus(".cm-content");
        await press(page, "Control+Shift+KeyM");
        await page.waitForSelector(".problems");
        assert.deepEqual(await violations(page), [], `${width} ${scheme} with the list of problems`);
        await setText(page, ASKS);
        await untilText(page, ".status-line", "No problems");
        await button(page, "Run").click();
        await page.waitForSelector(".question-field");
        assert.deepEqual(await violations(page), [], `${width} ${scheme} with a question`);
        await page.keyboard.type("tides");
        await page.keyboard.press("Enter");
        await page.waitForSelector(".outcome:not([hidden]) h2");
        await until(page, () => document.querySelectorAll(".row").length > 1);
        assert.deepEqual(await violations(page), [], `${width} ${scheme} with a result`);
        await button(page, "Add file").click();
        await page.waitForSelector("dialog");
        assert.deepEqual(await violations(page), [], `${width} ${scheme} with a dialog`);
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), `${width} is wide enough`);
        assert.deepEqual(page.failures, []);
        await page.done();
      }
    });

    test("everything is done by the keyboard", async () => {
      const page = await open(started, { program: "" });
      await page.focus(".cm-content");
      await page.keyboard.type('input topic: "What?');
      await page.keyboard.press("End");
      await page.keyboard.press("Enter");
      await page.keyboard.type('output result = session "Write about {topic');
      await page.keyboard.press("Escape");
      await untilText(page, ".status-line", "No problems");
      // The Tab key does not end in the editor.
      await page.keyboard.press("Escape");
      await page.keyboard.press("Tab");
      assert.ok(await page.evaluate(() => !document.activeElement.classList.contains("cm-content")));
      await page.evaluate(() => document.activeElement.blur());
      await tabTo(page, (element) => element.textContent === "Run" && element.tagName === "BUTTON");
      await page.keyboard.press("Enter");
      await page.waitForSelector(".question-field");
      await page.keyboard.type("tides");
      await page.keyboard.press("Enter");
      await page.waitForSelector(".outcome:not([hidden]) h2");
      // The rows of the timeline are drawn in a frame after the result.
      await until(page, () => document.querySelectorAll(".row").length > 1);
      await tabTo(page, (element) => element.classList.contains("rows"));
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("ArrowDown");
      await untilText(page, ".chosen strong", "Write about tides");
      await tabTo(page, (element) => element.closest(".output") !== null && element.tagName === "PRE");
      await page.focus(".tab");
      await press(page, "F2");
      await page.waitForSelector("dialog input");
      await page.keyboard.press("Escape");
      await until(page, () => document.querySelector("dialog") === null && document.activeElement.classList.contains("tab"));
      assert.deepEqual(page.failures, []);
      await page.done();
    });

    test("a language that stops is said to have stopped, and the text stays", async () => {
      const page = await open(started, {
        program: MISTAKES,
        before: async (page) => {
          await page.setRequestInterception(true);
          page.on("request", (request) => (request.url().endsWith(".wasm") ? request.respond({ contentType: "application/wasm", body: STOPS }) : request.continue()).catch(() => {}));
        },
      });
      await untilText(page, ".notice", "the language module has stopped unexpectedly; it was started again");
      await page.focus(".cm-content");
      await page.keyboard.type("# ");
      assert.equal(await text(page), `# ${MISTAKES}`);
      await page.done();
    });
  });
}

if (BROWSERS.includes("chromium")) {
  describe("chromium", () => {
    let started;
    before(async () => (started = await start("chromium")));
    after(() => started?.close());

    test("little is loaded before the editor is there", async (context) => {
      const page = await open(started, {
        before: async (page) => {
          const client = await page.createCDPSession();
          await client.send("Network.enable");
          await client.send("Network.emulateNetworkConditions", { offline: false, latency: 20, downloadThroughput: SPEED, uploadThroughput: SPEED });
          page.transferred = new Map();
          const urls = new Map();
          client.on("Network.responseReceived", ({ requestId, response }) => urls.set(requestId, response.url));
          client.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => page.transferred.set(urls.get(requestId), encodedDataLength));
        },
      });
      const edits = await page.evaluate(() => performance.now());
      await page.waitForSelector(".tok-keyword");
      const knows = await page.evaluate(() => performance.now());
      await untilText(page, ".status-line", "No problems");
      const bytes = [...page.transferred.values()].reduce((sum, each) => sum + each, 0);
      const module = page.transferred.get([...page.transferred.keys()].find((url) => url.endsWith(".wasm")));
      context.diagnostic(`at 10 Mbit/s: ${Math.round(edits)} ms until the editor, ${Math.round(knows)} ms until the language, ${bytes} bytes`);
      assert.ok(page.transferred.size >= 4, [...page.transferred.keys()].join());
      assert.ok(module < MAX_MODULE && bytes - module < MAX_REST, `${module} of ${bytes} bytes`);
      await page.done();
    });
  });
}
