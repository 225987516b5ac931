// The links of the book lead its programs to the playground.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { BROWSERS, open, start, text } from "./browsers.mjs";

const SCRIPT = readFileSync(new URL("../../../docs/book/playground.js", import.meta.url), "utf8");

for (const name of BROWSERS) {
  describe(name, () => {
    let started;
    before(async () => (started = await start(name)));
    after(() => started?.close());

    test("whole programs have a link to the playground, parts have none", async () => {
      const program = 'session "Grüße & 50 % <b> #1"\n';
      const page = await open(started);
      // The policy of the playground is not that of the book.
      await page.goto("about:blank");
      const links = await page.evaluate((program, script) => {
        const blocks = [["language-prose", program], ["language-prose ignore", "let x ="], ["language-console", "prose run"]].map(([name, text]) => {
          const code = Object.assign(document.createElement("code"), { className: name, textContent: text });
          const pre = document.createElement("pre");
          pre.append(code);
          return pre;
        });
        document.body.replaceChildren(...blocks);
        // The book has it as a constant of its pages.
        new Function("path_to_root", script)("../");
        return [...document.querySelectorAll("a")].map((link) => [link.getAttribute("href"), link.textContent, link.previousElementSibling.textContent]);
      }, program, SCRIPT);
      assert.deepEqual(links.map(([, label, before]) => [label, before]), [["Open in the playground", program]]);
      const [[href]] = links;
      assert.match(href, /^\.\.\/playground\/index\.html#text=/);
      await page.goto("about:blank");
      await page.goto(`${started.url}${href.replace("../playground/", "")}`);
      await page.waitForSelector(".note:not([hidden])");
      assert.equal(await text(page), program);
      await page.done();
    });
  });
}
