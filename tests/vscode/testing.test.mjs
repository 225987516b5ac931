// Tests of programs in the editor: the Testing view, lenses, differences, coverage and debugging.

import assert from "node:assert/strict";
import { after, before } from "node:test";
import { Editor, test, until } from "./editor.mjs";

let editor;
before(async () => (editor = await Editor.start()));
after(() => editor.stop());

const program = `input change: "What has changed"

agent critic:
  prompt: "You review changes."

let notes = session: critic
  prompt: "Review this change: {change}"

if **the notes approve the change**:
  output verdict = "approved"
else:
  output verdict = session "Explain to the author what to change"
    context: notes
`;

const tests = `[[case]]
name = "approves a good change"
inputs.change = "Fix a typo"

[[case.session]]
agent = "critic"
reply = "No objections."

[[case.condition]]
met = true

[case.expect]
outputs.verdict = "approved"

[[case]]
name = "explains what to change"
inputs.change = "Remove all tests"

[[case.session]]
agent = "critic"
reply = "The tests are missing."

[[case.session]]
label = "Explain to the author what to change"
reply = "Please keep the tests."

[[case.condition]]
met = false

[case.expect]
outputs.verdict = "Please keep all tests."
`;

const files = { "review.prose": program, "review.test.toml": tests };

/** A row of the Testing view. */
function row(window, label) {
  return window.page.locator(`.test-explorer .monaco-list-row[aria-label*="${label}"]`).first();
}

async function showsTests(window) {
  await window.page.locator('.activitybar [aria-label^="Testing"]').first().click();
  await row(window, "review.test.toml").waitFor();
  // The cases of the file.
  await until("the cases are listed", async () => {
    await row(window, "review.test.toml").click();
    await window.page.keyboard.press("ArrowRight");
    return row(window, "approves a good change").waitFor({ timeout: 3000 }).then(() => true, () => false);
  });
}

test("all tests are run, and a failure has its difference at the expectation", async () => {
  const settings = JSON.stringify({ "testing.automaticallyOpenPeekView": "failureAnywhere" });
  await editor.window("tests", { ...files, ".vscode/settings.json": settings }, async (window) => {
    await window.open("review.test.toml");
    await showsTests(window);
    await window.command("Test: Run All Tests");
    await row(window, "approves a good change (Passed").waitFor();
    await row(window, "explains what to change (Failed").waitFor();
    // The difference is shown at the expectation.
    const difference = window.page.locator(".zone-widget .monaco-diff-editor");
    for (const text of ["Please keep all tests.", "Please keep the tests."]) {
      await difference.locator(".view-line", { hasText: text }).first().waitFor();
    }
    await window.picture("vscode-tests");
  });
});

test("a mistake in a test file is underlined, and a lens runs one case", async () => {
  await editor.window("test-lens", files, async (window) => {
    await window.open("review.test.toml");
    await window.lens("Run all tests").waitFor();
    await window.goTo(13, 1);
    await window.page.keyboard.press("End");
    await window.page.keyboard.press("Enter");
    await window.page.keyboard.type("outputs.verdcit = 1");
    await window.squiggles("error").first().waitFor();
    // A lens without a command is no link.
    await window.page.locator(".codelens-decoration", { hasText: "Cannot run: 1 error" }).waitFor();
    for (const _ of "outputs.verdcit = 1\n") await window.page.keyboard.press("Backspace");
    await window.squiggles("error").first().waitFor({ state: "detached" });
    // That of the first case is next to the one of all cases.
    const first = window.page.locator(".codelens-decoration", { hasText: "Run all tests" });
    await first.locator("a", { hasText: "Run test" }).click();
    await showsTests(window);
    await row(window, "approves a good change (Passed").waitFor();
    assert.equal(await row(window, "explains what to change (Failed").count(), 0);
  });
});

test("coverage marks what no case executes", async () => {
  const approving = tests.slice(0, tests.indexOf("[[case]]", 1));
  await editor.window("coverage", { ...files, "review.test.toml": approving }, async (window) => {
    await window.open("review.prose");
    await showsTests(window);
    await window.command("Test: Run All Tests with Coverage");
    await row(window, "approves a good change (Passed").waitFor();
    const coverage = window.page.locator(".test-coverage-list-item, .monaco-list-row", { hasText: "review.prose" }).filter({ hasText: "%" });
    await coverage.first().waitFor();
    await window.picture("vscode-coverage");
  });
});

test("a case is debugged with its inputs and answers", async () => {
  await editor.window("debug-test", files, async (window) => {
    await window.open("review.test.toml");
    await window.goTo(2, 3);
    await showsTests(window);
    await window.open("review.test.toml");
    await window.goTo(2, 3);
    await window.command("Test: Debug Test at Cursor");
    await window.page.locator(".debug-toolbar").waitFor();
    // It stops at the first statement, with the input of the case.
    await window.active("review.prose");
    await window.hint("input change", "change = Fix a typo").waitFor();
    await window.command("Debug: Continue");
    await window.page.locator(".debug-toolbar").waitFor({ state: "hidden" });
    await until("nothing is left to debug", async () => (await window.page.locator(".debug-toolbar:visible").count()) === 0);
  });
});
