// Running programs from the editor.

import assert from "node:assert/strict";
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before } from "node:test";
import { fileURLToPath } from "node:url";
import { Editor, test, until, write } from "./editor.mjs";

let editor;
before(async () => (editor = await Editor.start()));
after(() => editor.stop());

const program = `input topic: "What should it be about?"

agent writer:
  model: sonnet
  prompt: "You write for people in a hurry."

let outline = session: writer
  prompt: "Make an outline about {topic}."

parallel:
  facts = session "Check the facts."
    context: outline
  title = session "Find a title."
    context: outline

output article = session: writer
  prompt: "Write the article."
  context: [facts, title]
`;

const agent = [process.execPath, fileURLToPath(new URL("agent.mjs", import.meta.url))];
const settings = `[run]\nharness = "command"\ncommand = ${JSON.stringify(agent)}\n`;

const files = { "article.prose": program, "prose.toml": settings, "replies.json": "{}" };

/** Has the agent end the sessions whose prompts hold the keys. */
function reply(window, replies) {
  write(window.folder, { "replies.new": JSON.stringify(replies) });
  renameSync(join(window.folder, "replies.new"), join(window.folder, "replies.json"));
}

/** Runs the program by its lens and says what it is to be about. */
async function run(window, takesPicture = false) {
  await window.open("article.prose");
  await window.lens("Run program").click();
  const question = window.page.locator(".quick-input-widget", { hasText: "What should it be about?" });
  await question.waitFor();
  if (takesPicture) await window.picture("vscode-input");
  await question.locator("input").fill("tides");
  await window.page.keyboard.press("Enter");
  await question.waitFor({ state: "hidden" });
}

/** Does something until it leads to what is to be seen then. The rows of a live run are drawn anew each second, and lose a press in between. */
async function leads(act, seen, state = "visible") {
  await until(`${seen} is ${state}`, async () => {
    await act().catch(() => {});
    return seen.waitFor({ state, timeout: 5000 }).then(() => true, () => false);
  });
}

/** Presses a button of a row. */
async function press(row, name) {
  await row.hover({ timeout: 3000 });
  await row.getByRole("button", { name }).click({ timeout: 3000 });
}

const first = { "Make an outline": "1. The moon\n2. The harbour", "Check the facts": "Both are true." };
const all = { ...first, "Find a title": "Why the sea comes back", "Write the article": "It is the moon." };

test("a program is run, watched, cancelled and resumed", async () => {
  await editor.window("article", files, async (window) => {
    await run(window, true);
    await window.hint("let outline", "running").waitFor();
    await window.lens("Stop").waitFor();
    reply(window, first);
    await window.hint("let outline", "1. The moon").waitFor();
    await window.hint("facts = session", "Both are true.").waitFor();
    await window.hint("title = session", "running").waitFor();
    await window.picture("vscode-run", { isLive: true });

    await window.lens("Stop").click();
    await window.hint("title = session", "stopped").waitFor();
    await window.lens("Resume last run").waitFor();

    reply(window, all);
    await window.lens("Resume last run").click();
    await window.hint("output article", "It is the moon.").waitFor();
    await window.notification("article.prose is done").waitFor();
    await window.picture("vscode-ended");
  });
});

test("the view and the panel show a run while it goes on, and lead to the program and back", async () => {
  await editor.window("article", files, async (window) => {
    const { page } = window;
    await page.setViewportSize({ width: 1500, height: 800 });
    await run(window);
    // A long run is in the status bar, and nothing lies over the panel.
    await window.status("article.prose").waitFor();
    assert.equal(await page.locator(".notification-list-item").count(), 0);
    await page.locator('.activitybar [aria-label^="OpenProse"]').first().click();
    await window.row("session Make an outline about tides., running").waitFor();

    // The run itself opens the panel.
    const outline = window.part("Parts of the run", "Make an outline about tides. by writer, running");
    await leads(() => window.row("run of article.prose, running").click({ timeout: 3000 }), outline);
    reply(window, first);
    await window.row("session Make an outline about tides., complete").waitFor();
    await window.part("Parts of the run", "Make an outline about tides. by writer, done").waitFor();
    await window.part("Parts of the run", "Find a title., running").waitFor();
    await window.part("Statements", "facts = ").waitFor();
    await window.picture("vscode-run-panel", { isLive: true });

    // From the view and from the panel to the statement, and from the statement to the panel.
    await leads(() => window.row("session Find a title.").click({ timeout: 3000 }), window.cursorIn(13));
    await leads(() => window.part("Statements", "outline = ").click({ timeout: 3000 }), window.cursorIn(7));
    await window.line("output article").click();
    await window.part("Statements", "article = ", ".at-cursor").waitFor();

    const row = window.row("session Make an outline about tides.");
    await leads(() => press(row, "Show Session"), window.page.locator('.tab.active[data-resource-name^="Make an outline about tides"]'));
    for (const text of ["## Reply", "2. The harbour", "## Prompt", "## System prompt"]) await window.line(text).waitFor();
    await window.picture("vscode-session", { isLive: true });

    const [running, paused] = ["running", "paused"].map((status) => window.row(`run of article.prose, ${status}`));
    await leads(() => press(running, "Pause"), paused);
    await leads(() => press(paused, "Continue"), running);

    const stopped = window.row("run of article.prose, interrupted");
    await leads(() => press(window.row("run of article.prose, running"), "Stop"), stopped);
    await window.part("Parts of the run", "Find a title., stopped").waitFor();

    reply(window, all);
    await leads(() => press(stopped, "Resume"), stopped, "detached");
    await window.part("Parts of the run", "Write the article. by writer, done").waitFor();
    await page.locator('.activitybar [aria-label="OpenProse"]').first().waitFor();
  });
});

/** Chooses an entry of the menu of a row until it leads to what is to be seen then. A menu that has just opened loses a press. */
async function choose(window, row, entry, seen) {
  const item = window.page.locator(".monaco-menu .action-label", { hasText: entry }).first();
  await leads(async () => {
    await window.page.keyboard.press("Escape");
    await row.click({ button: "right", timeout: 3000 });
    await item.hover({ timeout: 3000 });
    await item.click({ timeout: 3000, delay: 50 });
  }, seen);
  // A further try may have opened the menu once more when the first one led there, and an open menu takes all presses.
  const menu = window.page.locator(".context-view-block");
  await until("no menu is open", async () => {
    const isOpen = await menu.isVisible();
    if (isOpen) await window.page.keyboard.press("Escape");
    return !isOpen;
  });
}

/** The plan of a fork that has a text. */
function plan(window, text) {
  return window.page.locator(".monaco-dialog-box", { hasText: text });
}

/** Starts a fork. */
async function start(dialog) {
  await dialog.getByRole("button", { name: "Start" }).click();
  await dialog.waitFor({ state: "hidden" });
}

test("a run is run again from a session and with another reply, and runs are compared", async () => {
  await editor.window("article", files, async (window) => {
    const { page } = window;
    await page.setViewportSize({ width: 1500, height: 900 });
    reply(window, all);
    await run(window);
    await window.notification("article.prose is done").waitFor();
    await page.keyboard.press("Escape");
    await page.locator('.activitybar [aria-label^="OpenProse"]').first().click();
    await leads(async () => {
      await window.row("run of article.prose").click({ timeout: 3000 });
      await page.keyboard.press("ArrowRight");
    }, window.row("session Write the article., complete"));

    // The first three sessions are reused, and the article is written again.
    reply(window, { ...all, "Write the article": "It is the sun, too." });
    const again = plan(window, "reuses 3 sessions and 0 decisions");
    await choose(window, window.row("session Write the article., complete"), "Run Again from Here", again);
    await start(again);
    await window.hint("output article", "It is the sun, too.").waitFor();

    // What if the outline had been another one?
    const outline = window.row("session Make an outline about tides., complete");
    const lens = window.lens("Run again with this reply");
    await choose(window, outline, "What If It Had Replied", lens);
    await window.line("The harbour").click();
    await page.keyboard.press("Control+A");
    await page.keyboard.type("High and low");
    const changed = plan(window, "replaces the reply of the session at");
    await leads(() => lens.click({ timeout: 3000 }), changed);
    await start(changed);
    await window.hint("let outline", "High and low").waitFor();
    await window.hint("output article", "It is the sun, too.").waitFor();

    await window.command("View: Close All Editors");
    const frame = page.frameLocator("iframe.webview.ready").frameLocator("#active-frame");
    const step = frame.locator(".step.different", { hasText: "High and low" }).first();
    await choose(window, window.row("run of article.prose"), "Compare with Previous Run", step);
    for (const run of ["First run", "Second run"]) await window.part(run, "Make an outline about tides. by writer, done").waitFor();
    await window.picture("vscode-compare");
    await step.getByRole("button", { name: "Diff of reply" }).click();
    for (const text of ["2. The harbour", "High and low"]) await window.line(text).waitFor();
  });
});

test("the first run leads from an empty window to a result, which is shown", async () => {
  await editor.window("empty", { "notes.txt": "" }, async (window) => {
    const { page } = window;
    await page.locator('.activitybar [aria-label^="OpenProse"]').first().click();
    const start = page.locator(".welcome-view-content .monaco-button", { hasText: "Run Program" }).first();
    await start.waitFor();
    const question = page.locator(".quick-input-widget", { hasText: "What the text is about" });
    await leads(() => start.click({ timeout: 3000 }), question);
    await question.locator("input").fill("tides");
    await page.keyboard.press("Enter");
    const done = window.notification("is done: 2 sessions");
    await done.waitFor();
    await done.getByRole("button", { name: "Save Run" }).waitFor();
    await window.row("run of untitled:Untitled-1").waitFor();
    // The panel gets the focus, and a press in it does something at once.
    const frame = page.frameLocator("iframe.webview.ready").frameLocator("#active-frame");
    await leads(() => done.getByRole("button", { name: "Show Run" }).click({ timeout: 3000 }), window.part("Parts of the run", "Collect five facts about tides"));
    await until("the panel has the focus", () => page.evaluate(() => document.activeElement?.tagName === "IFRAME"));
    await window.part("Parts of the run", "Collect five facts about tides").click();
    await frame.getByRole("button", { name: "Details" }).click();
    await frame.getByRole("region", { name: "Prompt" }).getByText("Collect five facts about tides").waitFor();
  });
});

test("a failure is reported with its cause and what can be done, and a dry run is a text that need not be saved", async () => {
  const failing = { "fails.prose": 'session "Think"\nthrow "there was no room"\n', "prose.toml": settings, "replies.json": '{ "Think": "Done." }' };
  await editor.window("fails", failing, async (window) => {
    await window.open("fails.prose");
    await window.lens("Dry run").click();
    await window.active("Prompts of fails.prose.md");
    await window.line("# Prompts of fails.prose").waitFor();
    assert.equal(await window.page.locator(".tab.dirty").count(), 0);
    await window.openFromList("fails.prose");
    await window.lens("Run program").click();
    const failure = window.notification("fails.prose failed at line 2: there was no room");
    await failure.waitFor();
    await failure.getByRole("button", { name: "Resume" }).waitFor();
    await leads(() => failure.getByRole("button", { name: "Show Run" }).click({ timeout: 3000 }), window.part("Parts of the run", "Think, done"));
  });
});

test("the prompt at the cursor is previewed with values of the last run, and its session runs alone", async () => {
  await editor.window("previewed", files, async (window) => {
    const { page } = window;
    await page.setViewportSize({ width: 1500, height: 900 });
    reply(window, all);
    await run(window);
    await window.notification("article.prose is done").waitFor();
    await window.goTo(7, 1);
    await window.command("OpenProse: Preview Prompt");
    const preview = page.locator(".editor-group-container", { has: page.locator('.tab[data-resource-name="Prompt.md"]') });
    const shows = (text) => preview.locator(".view-line", { hasText: text }).first().waitFor();
    await shows(/Prompt.of.the.session.at.line.7/);
    await shows(/topic.=.tides/);
    await shows(/Make.an.outline.about.tides/);

    // It follows edits and the cursor.
    await page.keyboard.press("End");
    await window.goTo(8, 42);
    await page.keyboard.type(" and winds");
    await shows(/Make.an.outline.about.tides\..?.?and.winds|Make.an.outline.about.tides.+winds/);
    await window.goTo(11, 1);
    await shows(/Prompt.of.the.session.at.line.11/);
    await shows(/The.harbour/);

    // The session alone, with the outline of the last run.
    reply(window, { ...all, "Check the facts": "One is wrong." });
    await window.command("OpenProse: Run Only This Session");
    await window.hint("facts = session", "One is wrong.").waitFor();
    assert.equal(await window.hint("output article", "running").count(), 0);
  });
});
