// Programs run in the page: the panel, questions, pauses, and what a run comes to.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { addFile, BROWSERS, button, choose, open, outcome, run, setText, start, tab, text, until, untilText } from "./browsers.mjs";

const TWO = 'let draft = session "Write a draft."\n\noutput result = session "Improve the draft."\n  context: draft\n';

/** Sets a field of the toolbar by its label. */
const set = (page, label, value) =>
  page.evaluate((label, value) => {
    const found = [...document.querySelectorAll(".labelled")].find((each) => each.textContent.startsWith(label)).querySelector("input, select");
    found.value = value;
    found.dispatchEvent(new Event("change"));
  }, label, value);

const heading = (page, words) => untilText(page, ".panel .title .facts", words);

for (const name of BROWSERS) {
  describe(name, () => {
    let started;
    before(async () => (started = await start(name)));
    after(() => started?.close());

    test("a program runs to its end, with its sessions in the panel and its outputs under it", async () => {
      const page = await open(started, { program: TWO });
      await set(page, "Delay", "60");
      // Before a run, the panel shows what the program does.
      await untilText(page, ".graph", "draft = session");
      await run(page);
      assert.match(await outcome(page), /The run is complete\s+result\s+Copy/);
      await heading(page, "2 sessions");
      const rows = await page.$$eval(".row", (rows) => rows.filter((row) => row.offsetParent !== null).map((row) => row.getAttribute("aria-label")));
      assert.ok(rows.some((row) => row.includes("Write a draft")) && rows.some((row) => row.includes("Improve the draft")), rows.join());
      // The statement of a session is shown in the editor.
      await choose(page, "Improve the draft");
      await until(page, () => {
        const { doc, selection } = document.querySelector(".cm-content").cmTile.root.view.state;
        return doc.lineAt(selection.main.from).number === 3;
      });
      await button(page, "Show session").click();
      await untilText(page, "dialog .markdown h3", "Prompt");
      await untilText(page, "dialog .markdown", "Improve the draft.");
      await page.keyboard.press("Escape");
      await button(page, "Details").click();
      await untilText(page, ".details", "Improve the draft.");
      await button(page, "Run the program again, with the same inputs").click();
      await until(page, () => document.querySelector(".outcome").hidden);
      await page.waitForSelector(".outcome:not([hidden]) h2");
      assert.deepEqual(page.failures, []);
      await page.done();
    });

    test("a script has the replies", async () => {
      const page = await open(started, { program: TWO });
      await set(page, "Replies", "script");
      await until(page, () => document.querySelector(".tab[aria-selected=true]").textContent === "script.toml");
      assert.match(await text(page), /^# \[\[session\]\]/m);
      await setText(page, '[[session]]\nlabel = "Write a draft."\nreply = "Tides come and go."\n\n[[session]]\nreply = "They do <b>so</b> twice a day."\n');
      await run(page);
      assert.match(await outcome(page), /They do <b>so<\/b> twice a day\./);
      // What is wrong with a script is said.
      await setText(page, "[[session]\n");
      await button(page, "Run").click();
      await untilText(page, ".notice", "script.toml");
      assert.deepEqual(page.failures, []);
      await page.done();
    });

    test("inputs are asked for; a wrong answer is refused, and an optional one may be left out", async () => {
      const program = 'input topic: "What is it about?"\ninput depth: "How deep should it go? (short/long)"\ninput note: "Optional: anything else"\n\noutput result = session "Write about {topic}, {depth}."\n';
      const page = await open(started, { program });
      await untilText(page, ".status-line", "1 warning");
      await set(page, "Delay", "0");
      await button(page, "Run").click();
      await untilText(page, ".question-text", "What is it about?");
      // The question has the focus.
      assert.equal(await page.evaluate(() => document.activeElement.className), "field question-field");
      await heading(page, "waits for an input");
      await page.keyboard.press("Enter");
      await untilText(page, ".question .error", "the answer is empty");
      await page.keyboard.type("tides");
      await page.keyboard.press("Enter");
      await untilText(page, ".question-text", "How deep should it go?");
      await page.evaluate(() => [...document.querySelectorAll(".questions .choice")].find((choice) => /short/i.test(choice.textContent)).click());
      await untilText(page, ".question-text", "Optional: anything else");
      await button(page, "Skip").click();
      await page.waitForSelector(".outcome:not([hidden]) h2");
      assert.match(await outcome(page), /complete/);
      assert.ok(await page.$eval(".questions", (place) => place.hidden));
      assert.deepEqual(page.failures, []);
      await page.done();
    });

    test("a run pauses, continues and stops", async () => {
      const page = await open(started, { program: 'repeat 900:\n  session "Again."\n' });
      await set(page, "Delay", "150");
      await button(page, "Run").click();
      await heading(page, "running");
      await button(page, "Pause").click();
      await heading(page, "paused");
      await button(page, "Continue").click();
      await until(page, () => !document.querySelector(".panel .title .facts").textContent.includes("paused"));
      await button(page, "Stop").click();
      await untilText(page, ".outcome h2", "The run was stopped");
      await heading(page, "stopped");
      assert.deepEqual(page.failures, []);
      await page.done();
    });

    test("a run that fails says why, and one with mistakes does not start", async () => {
      const page = await open(started, { program: 'throw "No cause could be found."\n' });
      await untilText(page, ".status-line", "No problems");
      await run(page);
      assert.match(await outcome(page), /The run has failed[^]*No cause could be found\./);
      await setText(page, 'let draft = session "Write."\n\nsession: nobody\n  prompt: "Write."\n');
      await button(page, "Run").click();
      await untilText(page, ".notice", "`main.prose` has 1 error and is not run");
      await until(page, () => {
        const { doc, selection } = document.querySelector(".cm-content").cmTile.root.view.state;
        return doc.lineAt(selection.main.head).number === 3 && document.activeElement.classList.contains("cm-content");
      });
      assert.deepEqual(page.failures, []);
      await page.done();
    });

    test("an imported program runs, and its statements are shown in its file", async () => {
      const page = await open(started, { program: 'use "./library.prose" as library\n\nlet essay = library(topic: "tides")\n\noutput result = essay.text\n' });
      await addFile(page, "library.prose", 'input topic: "The topic"\n\noutput text = session "Write about {topic}."\n');
      await tab(page, "main.prose");
      await untilText(page, ".status-line", "No problems");
      await set(page, "Delay", "0");
      await run(page);
      assert.match(await outcome(page), /complete/);
      await choose(page, "Write about");
      await until(page, () => document.querySelector(".tab[aria-selected=true]").textContent === "library.prose");
      assert.deepEqual(page.failures, []);
      await page.done();
    });

    test("a program with a million sessions is stopped", async () => {
      const page = await open(started, { program: 'repeat 1000:\n  repeat 1000:\n    session "Again."\n' });
      await set(page, "Delay", "0");
      await button(page, "Run").click();
      // The language is busy, and is started again if it does not stop in time.
      await button(page, "Stop").click();
      await untilText(page, ".outcome h2", "The run was stopped");
      await setText(page, 'output result = session "Write."\n');
      await run(page);
      assert.match(await outcome(page), /complete/);
      await page.done();
    });
  });
}
