// Links with programs: what is shared is opened as it was, and what is broken changes nothing.
import assert from "node:assert/strict";
import { deflateRawSync } from "node:zlib";
import { after, before, describe, test } from "node:test";
import { addFile, BROWSERS, button, choose, open, setText, start, tab, text, until, untilText } from "./browsers.mjs";

const fragment = (program) => `#1.${deflateRawSync(JSON.stringify(program)).toString("base64url")}`;

const PROGRAM = { files: [{ name: "main.prose", text: 'session "Grüße 🌊"\n' }, { name: "script.toml", text: 'unmatched = "offline"\n' }], harness: "script", seed: 7, delay: 20 };

/** What the user has of their own. */
async function own(page) {
  await setText(page, 'session "My own."\n');
  await new Promise((done) => setTimeout(done, 500));
}

for (const name of BROWSERS) {
  describe(name, () => {
    let started;
    before(async () => (started = await start(name)));
    after(() => started?.close());

    test("a shared program is opened with its files and options, and the user's own one is kept", async () => {
      const page = await open(started);
      await addFile(page, "library.prose", 'output text = session "Grüße 🌊 <b>"\n');
      await tab(page, "main.prose");
      await setText(page, 'session "First."\n');
      await page.evaluate(() => {
        // Where copying is not allowed, the address has the link.
        navigator.clipboard.writeText = (link) => ((window.copied = link), Promise.resolve());
      });
      await button(page, "Share").click();
      await untilText(page, ".notice", "A link to this program was copied.");
      const link = await page.evaluate(() => window.copied);
      assert.match(link, /#1\.[\w-]+$/);
      await own(page);
      await page.goto("about:blank");
      await page.goto(link);
      await page.waitForSelector(".note:not([hidden])");
      assert.equal(await text(page), 'session "First."\n');
      await tab(page, "library.prose");
      assert.equal(await text(page), 'output text = session "Grüße 🌊 <b>"\n');
      await button(page, "Back to my program").click();
      await until(page, () => document.querySelector(".note").hidden);
      await until(page, () => document.querySelector(".cm-content").textContent.includes("My own."));
      assert.equal(await page.evaluate(() => location.hash), "");
      assert.deepEqual(page.failures, []);
      await page.done();
    });

    test("a shared program that is edited is there again, and can become the user's own one", async () => {
      const page = await open(started);
      await own(page);
      const hash = fragment(PROGRAM);
      await page.evaluate((hash) => (location.hash = hash), hash);
      await untilText(page, ".cm-content", "Grüße 🌊");
      assert.deepEqual(await page.$$eval(".labelled input, .labelled select", (fields) => fields.map(({ value }) => value)), ["script", "script.toml", "7", "20", "main.prose", ""]);
      await setText(page, 'session "Edited."\n');
      await new Promise((done) => setTimeout(done, 500));
      await page.reload();
      await untilText(page, ".cm-content", "Edited.");
      await page.waitForSelector(".note:not([hidden])");
      await button(page, "Keep as my program").click();
      await page.locator("dialog .primary").click();
      await until(page, () => document.querySelector(".note").hidden);
      await page.reload();
      await untilText(page, ".cm-content", "Edited.");
      assert.deepEqual(page.failures, []);
      await page.done();
    });

    test("examples are opened next to the user's own program, and have no mistakes", async () => {
      const page = await open(started);
      await own(page);
      for (const example of await page.$$eval(".others option", (options) => options.map(({ value }) => value).filter(Boolean))) {
        await page.select(".others select", example);
        await page.waitForSelector(".note:not([hidden])");
        await untilText(page, ".status-line", "No problems");
      }
      await button(page, "Back to my program").click();
      await untilText(page, ".cm-content", "My own.");
      assert.deepEqual(page.failures, []);
      await page.done();
    });

    test("hostile and broken links change nothing, and say so", async () => {
      const page = await open(started);
      await own(page);
      const file = { name: "main.prose", text: "x" };
      const bomb = `#1.${deflateRawSync(Buffer.alloc(64 << 20, 32), { level: 9 }).toString("base64url")}`;
      const broken = {
        "#1.": "characters", "#1.!!!": "characters", "#1.AAAA": "damaged", "#2.abc": "format", "#hello": "format", "#text=%E0%A4%A": "damaged",
        [fragment({ ...PROGRAM, files: [] })]: "no files",
        [fragment({ ...PROGRAM, files: [{ name: "../../etc/passwd.prose", text: "" }] })]: "not allowed",
        [fragment({ ...PROGRAM, files: [file, file] })]: "same name",
        [fragment({ ...PROGRAM, files: [{ name: "__proto__", text: "" }] })]: "not allowed",
        [fragment({ ...PROGRAM, files: [{ name: "main.prose", text: { length: 1 } }] })]: "no name or no text",
        [fragment({ ...PROGRAM, files: Array.from({ length: 99 }, (_, index) => ({ name: `f${index}.prose`, text: "" })) })]: "more than 50",
        [fragment({ ...PROGRAM, harness: "<img src=x onerror=alert(1)>" })]: "harness",
        [fragment({ ...PROGRAM, delay: 1e9 })]: "delay",
        [fragment({ ...PROGRAM, seed: -1 })]: "seed",
        [fragment([])]: "not an object",
        [fragment(null)]: "not an object",
        [fragment(PROGRAM).slice(0, -20)]: "damaged",
        [bomb]: "larger",
      };
      for (const [hash, why] of Object.entries(broken)) {
        await page.evaluate((hash) => {
          document.querySelector(".notice [role=alert]").textContent = "";
          location.hash = hash;
        }, hash);
        await untilText(page, ".notice [role=alert]", "the link has no program that can be read");
        assert.match(await page.$eval(".notice [role=alert]", ({ textContent }) => textContent), new RegExp(why), hash.slice(0, 60));
        assert.equal(await text(page), 'session "My own."\n');
      }
      assert.deepEqual(page.failures, []);
      await page.done();
    });

    test("texts of programs, replies and links never become markup", async () => {
      const evil = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>';
      const quoted = evil.replaceAll('"', "'");
      const program = `input topic: "${quoted} [x](javascript:alert(1))"\n\nagent writer:\n  prompt: "${quoted}"\n\noutput result = session: writer\n  prompt: "${quoted} {topic}"\n\nlet broken = "${quoted}\n`;
      const page = await open(started, { program });
      await untilText(page, ".status-line", "error");
      await page.focus(".cm-content");
      await page.keyboard.press("F1");
      await setText(page, program.replace(/let broken.*\n/, ""));
      await until(page, () => !document.querySelector(".status-line").textContent.includes("error"));
      await button(page, "Run").click();
      await page.waitForSelector(".question-field");
      await page.keyboard.type(evil);
      await page.keyboard.press("Enter");
      await page.waitForSelector(".outcome:not([hidden]) h2");
      await choose(page, "by writer", "<img");
      await button(page, "Show session").click();
      await page.waitForSelector("dialog .markdown");
      assert.equal(await page.evaluate(() => window.hacked), undefined);
      assert.deepEqual(await page.$$eval("img, body script, iframe, object, a[href^=javascript]", (found) => found.map(({ outerHTML }) => outerHTML)), []);
      assert.deepEqual(page.failures, []);
      await page.done();
    });
  });
}
