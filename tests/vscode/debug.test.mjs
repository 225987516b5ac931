// The debugger in the editor: breakpoints, steps in both directions, variables, and what a person changes.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { renameSync } from "node:fs";
import { join } from "node:path";
import { after, before } from "node:test";
import { fileURLToPath } from "node:url";
import { Editor, needed, test, until, write } from "./editor.mjs";

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

const replies = { "Make an outline": "1. The moon\n2. The harbour", "Check the facts": "Both are true.", "Find a title": "Why the sea comes back" };
const files = { "article.prose": program, "prose.toml": settings, "replies.json": JSON.stringify(replies) };

/** A row of a pane of the debugger. */
function row(window, pane, label) {
  return window.page.locator(`.debug-${pane} .monaco-list-row`, { hasText: label }).first();
}

function variable(window, name, value) {
  return window.page.locator(`.debug-variables .monaco-list-row[aria-label*="${name}, value ${value}"]`).first();
}

/** Unfolds a scope until a variable in it is to be seen. */
async function unfold(window, scope, variable) {
  await until(`a variable of ${scope} is seen`, async () => {
    if (await variable.isVisible()) return true;
    // The explanation of what the pointer rests on would lie over the row.
    await window.page.mouse.move(20, 500);
    await row(window, "variables", scope).click({ timeout: 3000 }).catch(() => {});
    await window.page.keyboard.press("ArrowRight");
    return variable.waitFor({ timeout: 3000 }).then(() => true, () => false);
  });
}

function button(window, title) {
  return window.page.locator(`.debug-toolbar .action-label[aria-label^="${title}"]`).first();
}

/** Waits until the debugger stands in a line. */
async function stopsIn(window, line) {
  await window.page.locator(".debug-top-stack-frame-line").first().waitFor();
  await window.cursorIn(line).waitFor();
}

/** Sets a breakpoint as a person does who has the cursor in the line. */
async function breakAt(window, line) {
  const marks = window.page.locator(".codicon-debug-breakpoint, .codicon-debug-breakpoint-unverified");
  const before = await marks.count();
  await window.goTo(line, 1);
  await window.page.keyboard.press("F9");
  await until(`line ${line} has a breakpoint`, async () => (await marks.count()) > before);
}

/** Writes a line into the debug console and waits for what it answers. */
async function say(window, text, answer) {
  const input = window.page.locator(".repl-input-wrapper .monaco-editor").first();
  await until("the console has the focus", async () => {
    await input.click({ timeout: 3000 }).catch(() => {});
    return input.locator("textarea:focus, .native-edit-context:focus").count();
  });
  await window.page.keyboard.type(text);
  await window.page.keyboard.press("Escape");
  await window.page.keyboard.press("Enter");
  await said(window, answer);
}

/** Waits until the debug console has a text. */
function said(window, text) {
  return window.page.locator(".repl-tree .monaco-list-row", { hasText: text }).first().waitFor();
}

test("a program is debugged by its lens: branches are threads, and a reply is given by hand", async () => {
  await editor.window("debugged", files, async (window) => {
    const { page } = window;
    await page.setViewportSize({ width: 1500, height: 900 });
    await window.open("article.prose");
    await window.lens("Debug program").waitFor();
    await breakAt(window, 7);
    await breakAt(window, 13);
    await window.lens("Debug program").click();
    await said(window, "The run asks: What should it be about?");
    await say(window, ":answer tides", "The question is answered.");

    // The prompt is to be seen before it is sent.
    await stopsIn(window, 7);
    await unfold(window, "Session", variable(window, "prompt", "Make an outline about tides."));
    await unfold(window, "Inputs", variable(window, "topic", "tides"));
    await page.keyboard.press("F10");
    await stopsIn(window, 10);

    // Both branches are at work; the second one has not asked yet.
    await page.keyboard.press("F5");
    await stopsIn(window, 13);
    for (const thread of ["main", "branch facts", "branch title"]) await row(window, "call-stack", thread).waitFor();
    await unfold(window, "Session", variable(window, "prompt", "Find a title."));
    await window.picture("vscode-debug");
    await say(window, ":reply High and low", "The session has this reply; the agent is not asked.");

    await page.keyboard.press("F10");
    await stopsIn(window, 16);
    await window.hint("title = session", "title = High and low").waitFor();
    await button(window, "Step Back").click();
    await stopsIn(window, 10);
    await button(window, "Reverse").click();
    await stopsIn(window, 7);
    await button(window, "Continue").click();
    await stopsIn(window, 13);
    await button(window, "Continue").click();

    // The last session is asked with another prompt, and answered with a changed agent.
    await window.page.locator(".debug-top-stack-frame-line").first().waitFor({ state: "detached" });
    write(window.folder, { "replies.new": JSON.stringify({ ...replies, "Write the article": "It is the moon." }) });
    renameSync(join(window.folder, "replies.new"), join(window.folder, "replies.json"));
    await page.locator(".debug-toolbar").waitFor({ state: "hidden" });
    await said(window, "article: It is the moon.");
    const [run, ...others] = runs(window);
    assert.deepEqual([run.status, run.sessions, others], ["completed", 4, []]);
  });
});

const steps = `let topic = "tides"
for word in ["low", "high"]:
  let found = session "Find {word}"
try:
  session "Break"
catch as error:
  session "Handle {error.message}"
output report = session "Report {topic}"
`;

const answers = '[[session]]\npattern = "^Break"\nfail = "it is wrong"\n\n[[session]]\nreply = "done"\n';

const launch = {
  version: "0.2.0",
  configurations: [{ type: "prose", request: "launch", name: "Debug steps", program: "steps.prose", script: "answers.toml" }],
};

const scripted = { "steps.prose": steps, "answers.toml": answers, ".vscode/launch.json": JSON.stringify(launch, null, 2) };

test("variables and failures have breakpoints", async () => {
  await editor.window("stopped", scripted, async (window) => {
    const { page } = window;
    await page.setViewportSize({ width: 1500, height: 900 });
    await window.open("steps.prose");
    await window.lens("Debug program").waitFor();
    await breakAt(window, 3);
    await page.keyboard.press("F5");
    await stopsIn(window, 3);
    await unfold(window, "Locals", variable(window, "word", "low"));
    await page.keyboard.press("F10");
    await unfold(window, "Locals", variable(window, "word", "high"));
    await choose(window, variable(window, "found", "done"), "Break on Value Change", row(window, "breakpoints", "found"));
    await row(window, "breakpoints", "All failures").locator("input, .monaco-checkbox").first().click();
    await goOn(window, page.locator(".pane-header", { hasText: "A variable got a value" }));
    await goOn(window, page.locator(".exception-widget", { hasText: "it is wrong" }).first());
    await stopsIn(window, 5);
    await page.keyboard.press("F5");
    await page.locator(".debug-toolbar").waitFor({ state: "hidden" });
    assert.equal(runs(window)[0].status, "completed with failures");
  });
});

/** Continues to a stop that shows something. The editor loses a press while it still takes in where it has stopped before. */
async function goOn(window, seen) {
  await until("the program goes on", async () => {
    await window.page.keyboard.press("F5");
    return seen.waitFor({ timeout: 15_000 }).then(() => true, () => false);
  });
}

/** Chooses an entry of the menu of a row until it leads to what is to be seen then. A menu that has just opened loses a press. */
async function choose(window, row, entry, seen) {
  const item = window.page.locator(".monaco-menu .action-label", { hasText: entry }).first();
  await until(`${entry} is chosen`, async () => {
    if (await seen.isVisible()) return true;
    await window.page.keyboard.press("Escape");
    await row.click({ button: "right", timeout: 3000 }).catch(() => {});
    await item.hover({ timeout: 3000 }).catch(() => {});
    const isPressed = await item.click({ timeout: 3000, delay: 50 }).then(() => true, () => false);
    return isPressed && seen.waitFor({ timeout: 15_000 }).then(() => true, () => false);
  });
}

test("a run that has ended is debugged from the view of runs, and asks nothing", async () => {
  await editor.window("ended", scripted, async (window) => {
    const { page } = window;
    await page.setViewportSize({ width: 1500, height: 900 });
    prose(window, "run", "steps.prose", "--script", "answers.toml", "--quiet");
    await window.open("steps.prose");
    await window.lens("Debug program").waitFor();
    await page.locator('.activitybar [aria-label^="OpenProse"]').first().click();
    await window.row("run of steps.prose").waitFor();
    await choose(window, window.row("run of steps.prose"), "Debug Run", page.locator(".debug-toolbar"));
    await stopsIn(window, 1);
    await page.keyboard.press("F10");
    await stopsIn(window, 2);
    await page.keyboard.press("F11");
    await stopsIn(window, 3);
    await button(window, "Step Back").click();
    await stopsIn(window, 2);
    await say(window, ":reply something", "no session is at this statement");
    await button(window, "Disconnect").click();
    await page.locator(".debug-toolbar").waitFor({ state: "hidden" });
    assert.equal(runs(window).length, 1);
  });
});

const blocks = `block review(text):
  let notes = session "Review {text}"
  output notes
for word in ["low", "high", "ebb"]:
  let found = do review(word)
output report = session "Report {found}"
`;

/** Sets a breakpoint of a kind in a line, with what it asks for. */
async function breakWith(window, line, command, text) {
  await window.goTo(line, 1);
  await window.command(command);
  await window.page.locator(".breakpoint-widget .monaco-editor.focused").waitFor();
  await window.page.keyboard.type(text);
  await window.page.keyboard.press("Enter");
  await window.page.locator(".breakpoint-widget").waitFor({ state: "detached" });
}

test("breakpoints have conditions and messages, and one goes to the cursor and to the start of a frame", async () => {
  const files = { ...scripted, "steps.prose": blocks };
  await editor.window("moved", files, async (window) => {
    const { page } = window;
    await page.setViewportSize({ width: 1500, height: 900 });
    await window.open("steps.prose");
    await window.lens("Debug program").waitFor();
    await breakWith(window, 5, "Debug: Add Conditional Breakpoint...", "iteration == 2");
    await breakWith(window, 2, "Debug: Add Logpoint...", "looks at {text}");
    await page.keyboard.press("F5");
    await stopsIn(window, 5);
    await said(window, "looks at low");
    await window.token("word", "for word in").hover();
    await page.locator(".debug-hover-widget", { hasText: "high" }).waitFor();

    await window.goTo(3, 1);
    await window.command("Debug: Run to Cursor");
    // The cursor was in the line before, and a press beside the menu would put it into the other one.
    const blockIn = (line) => row(window, "call-stack", new RegExp(`block review.*${line}:1`));
    await blockIn(3).waitFor();
    // The editor asks for the first frame, and then for the others, which move its row.
    await row(window, "call-stack", "iteration 2 of 3").waitFor();
    await choose(window, blockIn(3), "Restart Frame", blockIn(2));
    await stopsIn(window, 2);
    await button(window, "Step Out").click();
    await stopsIn(window, 5);
    await unfold(window, "Locals", variable(window, "word", "ebb"));
    await button(window, "Stop").click();
    await page.locator(".debug-toolbar").waitFor({ state: "hidden" });
    await until("the run is interrupted", () => runs(window)[0].status === "interrupted");
  });
});

const changed = `let topic = "tides"
block review(text):
  let notes = session "Review {text}"
  output notes
for word in ["low", "high", "ebb"]:
  let found = do review(word)
output report = session "Report {topic}"
`;

const byPrompt = ["the flood", "winds"].map((word) => `[[session]]\npattern = "${word}"\nreply = "about ${word}"\n`);
const done = '[[session]]\nreply = "done"\n';

/** Sets the value of a row of the variables, as a person does. */
async function setValue(window, row, value) {
  const input = window.page.locator(".debug-variables .monaco-inputbox input:visible").first();
  await choose(window, row, "Set Value", input);
  await input.fill(value);
  await input.press("Enter");
}

test("a person changes prompts and variables, skips a session and jumps to the past", async () => {
  const files = { ...scripted, "steps.prose": changed, "answers.toml": [...byPrompt, done].join("\n") };
  await editor.window("changed", files, async (window) => {
    const { page } = window;
    await page.setViewportSize({ width: 1500, height: 900 });
    await window.open("steps.prose");
    await window.lens("Debug program").waitFor();

    // The second time that the line is reached.
    await window.goTo(3, 1);
    await window.command("Debug: Add Conditional Breakpoint...");
    await page.locator(".breakpoint-widget .monaco-editor.focused").waitFor();
    await page.locator(".breakpoint-widget select").first().selectOption({ label: "Hit Count" });
    await page.locator(".breakpoint-widget .monaco-editor").first().click();
    await page.keyboard.type("2");
    await page.keyboard.press("Enter");
    await page.locator(".breakpoint-widget").waitFor({ state: "detached" });
    await page.keyboard.press("F5");
    await stopsIn(window, 3);
    await unfold(window, "Session", variable(window, "prompt", "Review high"));
    await setValue(window, variable(window, "prompt", "Review high"), "Review the flood");
    await said(window, "got another prompt");

    // A block has a breakpoint by its name.
    await window.command("Add Function Breakpoint");
    const name = page.locator(".debug-breakpoints .monaco-inputbox input:visible").first();
    await name.fill("review");
    await name.press("Enter");
    await row(window, "breakpoints", "review").waitFor();
    await page.keyboard.press("F5");
    await page.locator(".pane-header", { hasText: "Stopped at a block or an agent" }).waitFor();
    await say(window, ":session", "Continues to the next session.");
    await stopsIn(window, 3);
    await unfold(window, "Session", variable(window, "prompt", "Review ebb"));
    await say(window, ":skip", "The session ends with an empty result.");

    await breakAt(window, 7);
    await page.keyboard.press("F5");
    await stopsIn(window, 7);
    await unfold(window, "Locals", variable(window, "topic", "tides"));
    await setValue(window, variable(window, "topic", "tides"), "winds");
    await said(window, "`topic` was set to winds");

    // The line was executed three times; the list has the first one first.
    await window.command("Remove All Breakpoints");
    await window.goTo(3, 1);
    await window.command("Debug: Jump to Cursor");
    await page.locator(".quick-input-list .monaco-list-row", { hasText: "iteration 1 of 3" }).first().click();
    await stopsIn(window, 3);
    await unfold(window, "Session", variable(window, "prompt", "Review low"));
    await page.keyboard.press("F5");
    await page.locator(".debug-toolbar").waitFor({ state: "hidden" });
    await said(window, "report: about winds");
    const [run, ...others] = runs(window);
    assert.deepEqual([run.status, run.sessions, others], ["completed", 4, []]);
  });
});

const branches = `parallel:
  a = session "gate A"
  b = session "gate B"
session "Merge {a} {b}"
`;

const gates = '[[session]]\npattern = "^gate"\nreply = "late"\ndelay = "600s"\n';

test("branches are threads while they work, one of them is paused, and a run of another process is attached to", async () => {
  const files = { ...scripted, "steps.prose": branches, "answers.toml": [gates, done].join("\n") };
  await editor.window("attached", files, async (window) => {
    const { page } = window;
    await page.setViewportSize({ width: 1500, height: 900 });
    await window.open("steps.prose");
    await window.lens("Debug program").waitFor();
    await page.keyboard.press("F5");
    await window.command("View: Show Run and Debug");
    // Nothing has stopped: the adapter reports the branches as they start.
    for (const thread of ["branch a", "branch b"]) await row(window, "call-stack", thread).waitFor();
    const branch = (state) => page.locator(`.debug-call-stack .monaco-list-row[aria-label="Thread branch a ${state}"]`).first();
    await choose(window, row(window, "call-stack", "branch a"), "Pause", branch("Paused"));
    await choose(window, branch("Paused"), "Continue", branch("Running"));
    await button(window, "Stop").click();
    await page.locator(".debug-toolbar").waitFor({ state: "hidden" });
    await until("the run is interrupted", () => runs(window)[0].status === "interrupted");

    // Another process executes a run, which continues when the debugger leaves.
    const other = spawn(needed("PROSE_BINARY"), ["run", "steps.prose", "--script", "answers.toml", "-q"], { cwd: window.folder, stdio: "ignore" });
    const ended = once(other, "exit");
    try {
      await until("it runs", () => runs(window)[0].status === "running");
      await page.locator('.activitybar [aria-label^="OpenProse"]').first().click();
      const listed = page.locator(".pane-body .monaco-list-row", { hasText: "steps.prose" });
      // The view may still show the run before as it was when the view was last seen.
      await listed.and(page.locator('[aria-label*="interrupted"]')).first().waitFor();
      const shown = listed.and(page.locator('[aria-label*="running"]')).first();
      await shown.waitFor();
      await choose(window, shown, "Debug Run", page.locator(".debug-toolbar"));
      await page.locator(".debug-toolbar").waitFor();
      await window.command("View: Show Run and Debug");
      for (const thread of ["branch a", "branch b"]) await row(window, "call-stack", thread).waitFor();
      await button(window, "Pause").click();
      await until("it is paused", () => runs(window)[0].status === "paused");
      await button(window, "Continue").click();
      await until("it is continued", () => runs(window)[0].status === "running");
      await button(window, "Disconnect").click();
      await page.locator(".debug-toolbar").waitFor({ state: "hidden" });
      assert.equal(runs(window)[0].status, "running");
    } finally {
      other.kill();
      await ended;
    }
  });
});

const watched = `session "Plan"
  retry: 2
session "Push"
session "Write"
output report = session "Report"
`;

const unsteady = [
  '[[session]]\norder = 1\nfail = "busy"\n',
  '[[session]]\nlabel = "Push"\nreply = "done"\nactivity = [{ denied = "git push", reason = "execute: deny" }]\n',
  '[[session]]\npattern = "flood"\nreply = "about the flood"\n',
  '[[session]]\nreply = "done"\nactivity = [{ used = { input = 100, output = 10, cost = 0.4 } }]\n',
];

test("retries, permissions and costs stop a run, and a run that has ended is continued as a fork", async () => {
  const files = { ...scripted, "steps.prose": watched, "answers.toml": unsteady.join("\n") };
  await editor.window("watched", files, async (window) => {
    const { page } = window;
    await page.setViewportSize({ width: 1500, height: 900 });
    await window.open("steps.prose");
    await window.lens("Debug program").waitFor();
    await breakAt(window, 1);
    await page.keyboard.press("F5");
    await stopsIn(window, 1);
    const box = (filter) => row(window, "breakpoints", filter).locator("input, .monaco-checkbox").first();
    for (const filter of ["Retries", "Permissions", "Over a cost"]) await box(filter).click();
    const condition = page.locator(".debug-breakpoints .monaco-inputbox input:visible").first();
    await choose(window, row(window, "breakpoints", "Over a cost"), "Edit Condition", condition);
    await condition.fill("$0.50");
    await condition.press("Enter");
    for (const title of ["Stopped before a retry", "Stopped at a permission", "Stopped over a cost"]) {
      await button(window, "Continue").click();
      await page.locator(".pane-header", { hasText: title }).waitFor();
    }
    await breakAt(window, 5);
    await button(window, "Continue").click();
    await stopsIn(window, 5);
    await unfold(window, "Session", variable(window, "prompt", "Report"));
    await say(window, ":prompt Report the flood", "The session is asked with this prompt.");
    await button(window, "Continue").click();
    await page.locator(".debug-toolbar").waitFor({ state: "hidden" });
    await said(window, "report: about the flood");

    // What is recorded stays as it is.
    await page.locator('.activitybar [aria-label^="OpenProse"]').first().click();
    for (const [command, answer] of [[":retry", "The session starts again. The debugger continues with a fork"], [":fork", "The debugger continues with a fork"]]) {
      const before = runs(window).length;
      const recorded = page.locator(".pane-body .monaco-list-row", { hasText: "steps.prose" }).and(page.locator('[aria-label*="completed"]')).first();
      await choose(window, recorded, "Debug Run", page.locator(".debug-toolbar"));
      await stopsIn(window, 1);
      await unfold(window, "Session", variable(window, "prompt", "Plan"));
      await say(window, command, answer);
      await until("there is a fork", () => runs(window).length === before + 1);
      await button(window, "Disconnect").click();
      await page.locator(".debug-toolbar").waitFor({ state: "hidden" });
      await page.locator('.activitybar [aria-label^="OpenProse"]').first().click();
    }
    const ends = runs(window).map((run) => run.status);
    assert.deepEqual(ends, ["interrupted", "interrupted", "completed with failures"]);
  });
});

const guide = '# Guide\n\nSome text.\n\n```prose\nlet topic = "tides"\nsession "Draft {topic}"\n```\n';

test("programs in Markdown documents are debugged in their lines", async () => {
  await editor.window("document", { "guide.md": guide }, async (window) => {
    const { page } = window;
    await window.open("guide.md");
    await window.lens("Debug program").waitFor();
    await breakAt(window, 7);
    await window.lens("Debug program").click();
    await stopsIn(window, 7);
    await unfold(window, "Locals", variable(window, "topic", "tides"));
    await page.keyboard.press("F5");
    await page.locator(".debug-toolbar").waitFor({ state: "hidden" });
    assert.equal(runs(window)[0].status, "completed");
  });
});

test("configurations are proposed in launch.json", async () => {
  const empty = '{\n  "version": "0.2.0",\n  "configurations": []\n}\n';
  await editor.window("configured", { "steps.prose": steps, ".vscode/launch.json": empty }, async (window) => {
    await window.open("launch.json");
    const proposal = window.page.locator(".suggest-widget.visible .monaco-list-row", { hasText: "OpenProse: Debug program" }).first();
    const proposals = window.page.locator(".suggest-widget.visible .monaco-list-row", { hasText: "Launch" }).first();
    await until("configurations are proposed", async () => {
      // The editor knows of none while it starts.
      await window.page.keyboard.press("Escape");
      await window.page.getByText("Add Configuration...").click({ timeout: 3000 }).catch(() => {});
      return proposals.waitFor({ timeout: 5000 }).then(() => true, () => false);
    });
    // The list is filtered by what the configurations hold.
    await window.page.keyboard.type("prose");
    await proposal.click();
    await window.line('"type": "prose"').waitFor();
    await window.line('"program": "${workspaceFolder}/main.prose"').waitFor();
  });
});

/** The runs of the folder, the latest first. */
function runs(window) {
  return JSON.parse(prose(window, "runs", "list", "--json"));
}

function prose(window, ...args) {
  return execFileSync(needed("PROSE_BINARY"), args, { cwd: window.folder, encoding: "utf8" });
}
