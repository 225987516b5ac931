// The browsers that the tests use, and pages in them. `BROWSERS=chromium` restricts them, and `FIREFOX_TESTS=page,runs` the files of tests that
// are run in Firefox, too.
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import puppeteer from "puppeteer-core";
import { serve } from "../serve.mjs";

const DIST = fileURLToPath(new URL("../dist", import.meta.url));

const PROGRAMS = {
  chromium: [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser"],
  firefox: [process.env.FIREFOX, "/usr/bin/firefox-esr", "/usr/bin/firefox"],
};

const names = (text) => text.split(",").map((name) => name.trim()).filter(Boolean);

const file = basename(process.argv[1], ".test.mjs");
const isForFirefox = process.env.FIREFOX_TESTS === undefined || names(process.env.FIREFOX_TESTS).includes(file);

/** The names of the browsers that this file of tests is run in. */
export const BROWSERS = names(process.env.BROWSERS ?? "chromium,firefox").filter((name) => name !== "firefox" || isForFirefox);

/** Starts a browser in a colour scheme, and a server of the built playground. */
export async function start(name, scheme = "light") {
  const executablePath = PROGRAMS[name]?.find((path) => path && existsSync(path));
  if (executablePath === undefined) throw new Error(`${name} is not installed; tests/install/${name} installs it`);
  const home = mkdtempSync(join(tmpdir(), "playground-"));
  const browser = await puppeteer.launch({
    browser: name === "firefox" ? "firefox" : "chrome",
    executablePath,
    headless: true,
    args: name === "chromium" ? ["--no-sandbox", "--force-color-profile=srgb"] : [],
    // Firefox refuses to write into the home of another user.
    env: { ...process.env, HOME: home },
    extraPrefsFirefox: { "layout.css.prefers-color-scheme.content-override": scheme === "dark" ? 0 : 1 },
    protocolTimeout: 180_000,
  });
  const server = await serve(DIST);
  return {
    browser,
    // Firefox has it as a setting, others have it in each page.
    scheme: name === "firefox" ? undefined : scheme,
    url: server.url,
    async close() {
      await browser.close();
      await server.close();
      rmSync(home, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** A page with nothing kept from others. `page.failures` has what went wrong in it. */
export async function open({ browser, url, scheme }, { path = "", width = 1280, height = 900, program, before } = {}) {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  page.failures = [];
  page.requested = [];
  page.on("pageerror", (error) => page.failures.push(String(error)));
  page.on("console", (message) => {
    // What browsers say about their own work is no failure.
    if (message.type() === "error" || (message.type() === "warn" && /Content.Security/i.test(message.text()))) page.failures.push(message.text());
  });
  page.on("request", (request) => page.requested.push(request.url()));
  // A machine with two cores may be busy with other tests.
  page.setDefaultTimeout(60_000);
  await page.setViewport({ width, height });
  if (scheme !== undefined) await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  if (before !== undefined) await before(page);
  const text = program === undefined ? "" : `#text=${encodeURIComponent(program)}`;
  await page.goto(`${url}${path}${text}`);
  await page.waitForSelector(".cm-content");
  page.done = () => context.close();
  return page;
}

/** Waits until a function gives something true in the page. */
export const until = (page, test, ...values) => page.waitForFunction(test, { polling: 50 }, ...values);

/** Waits for a text in an element. */
export const untilText = (page, selector, text) =>
  until(page, (selector, text) => [...document.querySelectorAll(selector)].some((found) => found.textContent.includes(text)), selector, text);

/** The text of the shown file. */
export const text = (page) => page.evaluate(() => document.querySelector(".cm-content").cmTile.root.view.state.doc.toString());

/** Puts the cursor before, or after, the first place of a text. */
export const cursor = (page, wanted, { after = false } = {}) =>
  page.evaluate((wanted, after) => {
    const { view } = document.querySelector(".cm-content").cmTile.root;
    const at = view.state.doc.toString().indexOf(wanted);
    if (at < 0) throw new Error(`no ${wanted}`);
    view.dispatch({ selection: { anchor: at + (after ? wanted.length : 0) }, scrollIntoView: true });
    view.focus();
  }, wanted, after);

/** Replaces the text of the shown file. */
export const setText = (page, wanted) =>
  page.evaluate((wanted) => {
    const { view } = document.querySelector(".cm-content").cmTile.root;
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: wanted } });
  }, wanted);

/** A button by its name. */
export const button = (page, name) => page.locator(`::-p-aria([name="${name}"][role="button"])`);

/** Presses keys together, such as `Shift+Alt+KeyF`. */
export async function press(page, keys) {
  const parts = keys.split("+");
  const last = parts.pop();
  for (const part of parts) await page.keyboard.down(part);
  await page.keyboard.press(last);
  for (const part of parts.reverse()) await page.keyboard.up(part);
}

/** Shows a file. */
export async function tab(page, name) {
  await page.evaluate((name) => [...document.querySelectorAll(".tab")].find((tab) => tab.textContent === name).click(), name);
  await until(page, (name) => document.querySelector(".tab[aria-selected=true]")?.textContent === name, name);
}

/** Adds a file with a text. */
export async function addFile(page, name, content) {
  await button(page, "Add file").click();
  await page.waitForSelector("dialog input");
  await press(page, "Control+KeyA");
  await page.keyboard.type(name);
  await page.keyboard.press("Enter");
  await until(page, (name) => document.querySelector(".tab[aria-selected=true]")?.textContent === name, name);
  await setText(page, content);
}

/** Runs the program, and waits until it has ended. */
export async function run(page) {
  await button(page, "Run").click();
  await page.waitForSelector(".outcome:not([hidden]) h2");
}

/** The text of the result of a run. */
export const outcome = (page) => page.$eval(".outcome", (place) => place.innerText);

/** Chooses a part of the run in the timeline, by a part of its label. */
export async function choose(page, label, title = label) {
  const row = await page.waitForSelector(`.row[aria-label*="${label}"]`);
  await row.click();
  await untilText(page, ".chosen strong", title);
}
