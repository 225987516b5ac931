// What the editor shows of the language: diagnostics, completion, hovers, formatting, names and files.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { addFile, BROWSERS, button, cursor, open, press, setText, start, tab, text, until, untilText } from "./browsers.mjs";

for (const name of BROWSERS) {
  describe(name, () => {
    let started;
    before(async () => (started = await start(name)));
    after(() => started?.close());

    test("a mistake is shown with its code, is explained, and a fix repairs it", async () => {
      const page = await open(started, { program: 'agent writer:\n  prompt: "You write."\n\nsession: writter\n  prompt: "Write."\n' });
      await untilText(page, ".status-line", "1 error");
      await page.waitForSelector(".cm-lintRange-error");
      await cursor(page, "writter");
      await press(page, "Control+Shift+KeyM");
      await untilText(page, ".problems", "agent `writter` is not defined");
      await button(page, "Explain E007").click();
      await untilText(page, "dialog h2", "E007");
      await page.keyboard.press("Escape");
      await page.locator(".problems .fix").click();
      await untilText(page, ".status-line", "No problems");
      assert.match(await text(page), /^session: writer$/m);
      assert.deepEqual(page.failures, []);
      await page.done();
    });

    test("words and snippets are completed", async () => {
      const page = await open(started, { program: 'agent writer:\n  model: \n  prompt: "You write."\n' });
      await untilText(page, ".status-line", "error");
      await cursor(page, "model: ", { after: true });
      await page.keyboard.type("so");
      await untilText(page, ".cm-tooltip-autocomplete", "sonnet");
      await new Promise((done) => setTimeout(done, 150));
      await page.keyboard.press("Enter");
      assert.match(await text(page), /^ {2}model: sonnet$/m);
      await setText(page, "");
      await page.focus(".cm-content");
      await page.keyboard.type("paralle");
      await untilText(page, ".cm-tooltip-autocomplete li[aria-selected]", "parallel");
      await new Promise((done) => setTimeout(done, 150));
      await page.keyboard.press("Enter");
      await until(page, () => document.querySelector(".cm-content").cmTile.root.view.state.doc.toString().startsWith("parallel"));
      assert.doesNotMatch(await text(page), /[$\\]/);
      assert.deepEqual(page.failures, []);
      await page.done();
    });

    test("what is under the pointer, or at the cursor, is described", async () => {
      const page = await open(started, { program: 'let draft = session "Write."\n\noutput result = draft\n' });
      await untilText(page, ".status-line", "No problems");
      await page.waitForSelector(".tok-variable");
      const name = await page.$(".tok-variable");
      await name.hover();
      await untilText(page, ".hover", "variable draft, line 1");
      assert.equal(await page.$eval(".hover code", (code) => code.textContent), 'let draft = session "Write."');
      await cursor(page, "draft\n");
      await page.mouse.move(5, 600);
      await until(page, () => document.querySelector(".cm-tooltip-hover") === null);
      await page.keyboard.press("F1");
      await untilText(page, ".hover", "variable draft, line 1");
      await page.keyboard.press("Escape");
      await until(page, () => document.querySelector(".hover") === null);
      assert.deepEqual(page.failures, []);
      await page.done();
    });

    test("a program is formatted, and a name is renamed", async () => {
      const page = await open(started, { program: 'let   draft=session "Write."\noutput result =   draft\n' });
      await page.waitForSelector(".tok-variable");
      await page.focus(".cm-content");
      await press(page, "Shift+Alt+KeyF");
      await until(page, () => document.querySelector(".cm-content").cmTile.root.view.state.doc.toString().startsWith("let draft = session"));
      await cursor(page, "draft");
      await page.keyboard.press("F2");
      await untilText(page, "dialog h2", "Rename draft");
      await page.keyboard.type("not a name");
      await page.keyboard.press("Enter");
      await until(page, () => document.querySelector("dialog .error").textContent !== "");
      await press(page, "Control+KeyA");
      await page.keyboard.type("essay");
      await page.keyboard.press("Enter");
      await until(page, () => document.querySelector("dialog") === null);
      assert.match(await text(page), /let essay = session "Write\."\n+output result = essay/);
      // Undoing it takes one step.
      await press(page, "Control+KeyZ");
      assert.match(await text(page), /let draft = /);
      assert.deepEqual(page.failures, []);
      await page.done();
    });

    test("blocks are folded, lines are indented and brackets are closed", async () => {
      const page = await open(started, { program: 'parallel:\n  session "One."\n  session "Two."\n' });
      await page.waitForSelector(".cm-foldGutter span[title='Fold line']");
      await page.locator(".cm-foldGutter span[title='Fold line']").click();
      await page.waitForSelector(".cm-foldPlaceholder");
      assert.equal(await page.$$eval(".cm-line", (lines) => lines.length), 2);
      await page.locator(".cm-foldPlaceholder").click();
      await until(page, () => document.querySelectorAll(".cm-line").length === 4);
      await setText(page, "");
      await page.focus(".cm-content");
      await page.keyboard.type('if **it is late**:');
      await page.keyboard.press("Escape");
      await page.keyboard.press("Enter");
      await page.keyboard.type('session "Sleep');
      await page.keyboard.press("End");
      await page.keyboard.press("Enter");
      await page.keyboard.type("else:");
      await page.keyboard.press("Escape");
      assert.equal(await text(page), 'if **it is late**:\n  session "Sleep"\nelse:');
      assert.deepEqual(page.failures, []);
      await page.done();
    });

    test("a definition is in another file, and its references are listed", async () => {
      const page = await open(started, { program: "" });
      await addFile(page, "library.prose", 'input topic: "The topic"\n\noutput text = session "Write about {topic}."\n');
      await tab(page, "main.prose");
      await setText(page, 'use "./library.prose" as library\n\nlet essay = library(topic: "tides")\n\noutput result = essay.text\n');
      await untilText(page, ".status-line", "No problems");
      await cursor(page, "topic: ");
      await page.keyboard.press("F12");
      await until(page, () => document.querySelector(".tab[aria-selected=true]").textContent === "library.prose");
      await until(page, () => document.querySelector(".cm-content").cmTile.root.view.state.selection.main.head === 6);
      await press(page, "Shift+F12");
      await untilText(page, ".references", "main.prose:3");
      const place = await page.$$eval(".place", (places) => places.findIndex((each) => each.textContent.includes("main.prose:3")));
      await (await page.$$(".place"))[place].click();
      await until(page, () => document.querySelector(".tab[aria-selected=true]").textContent === "main.prose");
      assert.deepEqual(page.failures, []);
      await page.done();
    });

    test("files are added, renamed and removed, and are there the next time", async () => {
      const page = await open(started);
      await addFile(page, "second.prose", 'session "Second."\n');
      await button(page, "Rename").click();
      await page.waitForSelector("dialog input");
      await press(page, "Control+KeyA");
      await page.keyboard.type("../third.prose");
      await page.keyboard.press("Enter");
      await until(page, () => document.querySelector("dialog .error").textContent.includes("relative path"));
      await press(page, "Control+KeyA");
      await page.keyboard.type("third.prose");
      await page.keyboard.press("Enter");
      await until(page, () => document.querySelector(".tab[aria-selected=true]").textContent === "third.prose");
      assert.equal(await text(page), 'session "Second."\n');
      await new Promise((done) => setTimeout(done, 500));
      await page.reload();
      await page.waitForSelector(".tab");
      assert.deepEqual(await page.$$eval(".tab", (tabs) => tabs.map((tab) => tab.textContent)), ["main.prose", "third.prose"]);
      await tab(page, "third.prose");
      assert.equal(await text(page), 'session "Second."\n');
      await button(page, "Remove").click();
      await page.locator("dialog .primary").click();
      await until(page, () => document.querySelectorAll(".tab").length === 1);
      assert.deepEqual(page.failures, []);
      await page.done();
    });
  });
}
