// The book as mdBook makes it, with the playground next to it: links lead its programs there.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { serve } from "../serve.mjs";
import { BROWSERS, start, text } from "./browsers.mjs";

const inRepository = (path) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));
/** `tests/install/mdbook` puts it there. */
const MDBOOK = inRepository("tests/.cache/mdbook/bin/mdbook");
const LINK = ".playground-link";

let folder;
let book;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), "playground-book-"));
  execFileSync(MDBOOK, ["build", inRepository("docs"), "--dest-dir", folder], { stdio: "pipe" });
  book = await serve(folder);
});
after(async () => {
  await book?.close();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
});

for (const name of BROWSERS) {
  describe(name, () => {
    let started;
    before(async () => (started = await start(name)));
    after(() => started?.close());

    test("whole programs have a link to the playground, if it is there", async () => {
      const playground = join(folder, "playground");
      rmSync(playground, { recursive: true, force: true });
      const page = await started.browser.newPage();
      // Links come after the answer about the playground.
      const opened = async () => {
        const answer = page.waitForResponse((response) => response.url().endsWith("/playground/index.html"));
        await page.goto(`${book.url}language/sessions.html`);
        await answer;
      };
      await opened();
      assert.equal((await page.$$(LINK)).length, 0);

      cpSync(fileURLToPath(new URL("../dist", import.meta.url)), playground, { recursive: true });
      await opened();
      await page.waitForSelector(LINK);
      const linked = await page.$$eval(LINK, (links) => links.map((link) => link.previousElementSibling.querySelector("code").className));
      assert.ok(linked.every((classes) => !classes.includes("ignore")), linked.join());
      const program = await page.$eval(LINK, (link) => link.previousElementSibling.querySelector("code").textContent);
      await page.click(LINK);
      await page.waitForSelector(".note:not([hidden])");
      assert.equal(await text(page), program);
      assert.ok(page.url().startsWith(`${book.url}playground/index.html#text=`), page.url());
      await page.close();
    });
  });
}
