// What the editor shows of a program while it is written.

import assert from "node:assert/strict";
import { after, before } from "node:test";
import { Editor, test, until, write } from "./editor.mjs";

let editor;
before(async () => (editor = await Editor.start()));
after(() => editor.stop());

const library = `# Checks facts.

input claim: "What to check"

output verdict = session "Is this true? {claim}"
`;

const program = `use "./library/fact-check.prose" as checker

input topic: "What to write about"

agent writer:
  model: sonnet
  prompt: "You write for people in a hurry."

let draft = session: writer
  prompt: "Write a paragraph about {topic}."

let checked = checker(claim: draft)

output result = session "Apply the corrections."
  context: [draft, checked.verdict]
`;

const files = { "library/fact-check.prose": library, "article.prose": program };

test("a mistake is underlined and listed, and is gone once it is mended", async () => {
  const broken = { ...files, "article.prose": program.replace('{topic}."', "{topic}.") };
  await editor.sharedWindow("mistake", broken, async (window) => {
    await window.open("article.prose");
    await window.squiggles("error").first().waitFor();
    await window.lens("Cannot run: 1 error").waitFor();
    await window.command("Problems: Focus on Problems View");
    const problem = window.page.locator(".markers-panel .monaco-list-row", { hasText: "E001" });
    await problem.waitFor();
    await window.picture("vscode-problems");

    await window.line("Write a paragraph about").click();
    await window.page.keyboard.press("End");
    await window.page.keyboard.type('"');
    await window.squiggles("error").first().waitFor({ state: "detached" });
    await window.page.locator(".markers-panel", { hasText: "No problems" }).waitFor();
  });
});

test("the pointer over a name tells what it is", async () => {
  await editor.sharedWindow("hover", files, async (window) => {
    await window.open("article.prose");
    await window.lens("Run program").waitFor();
    await window.token("writer", "let draft = session: writer").hover();
    const hover = window.page.locator(".monaco-hover", { hasText: "You write for people in a hurry." });
    await hover.waitFor();
    assert.match(await hover.innerText(), /agent writer/);
    await window.picture("vscode-hover", { keepsPointer: true });
  });
});

test("inside of braces, the variables of the program are proposed", async () => {
  await editor.sharedWindow("completion", files, async (window) => {
    await window.open("article.prose");
    await window.lens("Run program").waitFor();
    // Behind `"Apply the corrections`
    await window.goTo(14, 47);
    await window.page.keyboard.type(" to {");
    const proposals = window.page.locator(".suggest-widget.visible .monaco-list-row");
    await proposals.first().waitFor();
    assert.deepEqual(await proposals.locator(".label-name").allInnerTexts(), ["checked", "draft", "topic"]);
    await window.picture("vscode-completion");
    await window.page.keyboard.type("t");
    await window.page.keyboard.press("Enter");
    await window.line("Apply the corrections to {topic}.").waitFor();
  });
});

test("what is typed leaves nothing behind, and Enter after a whole word starts a line", async () => {
  await editor.window("typed", { "a.prose": "\n" }, async (window) => {
    const { page } = window;
    await window.open("a.prose");
    const lines = async () => (await window.text.locator(".view-line").allInnerTexts()).map((line) => line.replaceAll("\u00a0", " ").trimEnd());
    const typed = ['session """ab"""', "if **ab**:", "if ***ab***:", 'session "a {b} c"'];
    for (const line of typed) {
      await page.keyboard.type(line);
      await page.keyboard.press("Control+Enter");
      await page.keyboard.press("Home");
    }
    await until("the lines are there", async () => {
      const shown = await lines();
      return typed.every((line) => shown.includes(line));
    });
    await page.keyboard.type("agent writer:");
    await page.keyboard.press("Enter");
    await page.keyboard.type("model: sonne");
    const proposal = page.locator(".suggest-widget.visible .monaco-list-row.focused", { hasText: "sonnet" });
    await until("a model is proposed", async () => {
      // A list that the user asks for takes Enter in any case. This one comes with a letter.
      if (await proposal.waitFor({ timeout: 10_000 }).then(() => true, () => false)) return true;
      await page.keyboard.press("Backspace");
      await page.keyboard.type("e");
      return false;
    });
    assert.doesNotMatch(await page.locator(".suggest-widget.visible").innerText(), /session/);
    await page.keyboard.type("t");
    // The list has taken up the last letter, too.
    const matched = proposal.locator(".highlight");
    await until("the whole word is matched", async () => (await matched.allInnerTexts()).join("") === "sonnet");
    await page.keyboard.press("Enter");
    await page.keyboard.type('prompt: "Hi"');
    await window.line('prompt: "Hi"').waitFor();
    const shown = await lines();
    const model = shown.findIndex((line) => line === "  model: sonnet");
    assert.equal(shown[model + 1], '  prompt: "Hi"', shown.join("\n"));
  });
});

test("the flow of a program stands next to it, and follows edits and the cursor", async () => {
  await editor.sharedWindow("flow", files, async (window) => {
    await window.open("article.prose");
    await window.lens("Run program").waitFor();
    const draft = window.part("Statements", "draft = ");
    await window.command("OpenProse: Show Flow");
    await draft.waitFor();
    await until("a click leads to the code", async () => {
      await draft.click({ timeout: 3000 }).catch(() => {});
      return window.cursorIn(9).waitFor({ timeout: 3000 }).then(() => true, () => false);
    });
    await window.line("output result").click();
    await window.part("Statements", "result = ", ".at-cursor").waitFor();
    await window.goTo(15, 3);
    await window.page.keyboard.press("End");
    await window.page.keyboard.press("Enter");
    await window.page.keyboard.press("Home");
    await window.page.keyboard.type('session "Print it"');
    await window.part("Statements", "Print it").waitFor();
  });
});

test("a program is explained on a page next to it", async () => {
  await editor.sharedWindow("explain", files, async (window) => {
    await window.open("article.prose");
    await window.lens("Run program").waitFor();
    await window.command("OpenProse: Explain Program");
    const page = window.page.frameLocator("iframe.webview.ready").frameLocator("#active-frame");
    await page.getByRole("heading", { name: "article.prose" }).waitFor();
    for (const text of ["What to write about", "writer", "fact-check.prose"]) await page.getByText(text).first().waitFor();
    await window.picture("vscode-explain");
  });
});

test("definitions are found in imported programs", async () => {
  await editor.sharedWindow("definition", files, async (window) => {
    await window.open("article.prose");
    await window.lens("Run program").waitFor();
    // `verdict` of `checked.verdict`
    await window.goTo(15, 30);
    await window.page.keyboard.press("F12");
    await window.active("fact-check.prose");
    await window.status("Ln 5, Col 8").waitFor();
  });
});

test("a name that is misspelled is corrected by a quick fix", async () => {
  const broken = { ...files, "article.prose": program.replace("session: writer", "session: writter") };
  await editor.sharedWindow("quick-fix", broken, async (window) => {
    await window.open("article.prose");
    await window.squiggles("error").first().waitFor();
    await window.lens("Cannot run: 1 error").waitFor();
    await window.goTo(9, 25);
    const fix = window.page.locator(".action-widget .monaco-list-row", { hasText: "writer" }).first();
    await until("the fixes are listed", async () => {
      // The list closes when a busy editor draws the line anew.
      await window.page.keyboard.press("Control+.");
      return fix.waitFor({ timeout: 10_000 }).then(() => true, () => false);
    });
    await window.picture("vscode-quick-fix");
    await window.page.keyboard.press("Enter");
    await window.squiggles("error").first().waitFor({ state: "detached" });
    await window.line("let draft = session: writer").waitFor();
  });
});

test("programs are highlighted", async () => {
  await editor.sharedWindow("highlight", files, async (window) => {
    await window.open("article.prose");
    await window.lens("Run program").waitFor();
    await until("keywords, names, texts and models differ", async () => {
      const colours = [
        await window.colour("let", "let draft = session: writer"),
        await window.colour("draft", "let draft = session: writer"),
        await window.colour("people", "You write for people in a hurry."),
        await window.colour("sonnet", "model: sonnet"),
      ];
      return new Set(colours).size === 4;
    });
  });
});

test("the server is restarted by a command", async () => {
  await editor.sharedWindow("restart", files, async (window) => {
    await window.open("article.prose");
    await window.lens("Run program").waitFor();
    const [first, ...others] = editor.languageServers();
    assert.deepEqual(others, []);
    await window.command("OpenProse: Restart Server");
    await until("another server runs instead of the first", () => {
      const running = editor.languageServers();
      return running.length === 1 && running[0] !== first;
    });
    await window.goTo(10, 41);
    await window.page.keyboard.type('"');
    await window.squiggles("error").first().waitFor();
  });
});

test("mistakes in programs that are not open are counted, until they are mended", async () => {
  const files = { "main.prose": 'session "Do"\n', "wrong.prose": "session: nobody\n" };
  await editor.window("closed", files, async (window) => {
    await window.open("main.prose");
    const problems = (label) => window.page.locator(`.statusbar-item [aria-label^="${label}"]`).first();
    await problems("Errors: 1").waitFor();
    write(window.folder, { "wrong.prose": 'session "Do"\n' });
    await problems("No Problems").waitFor();
  });
});

test("a refactoring asks for the name that it has made up", async () => {
  await editor.sharedWindow("made-up-name", files, async (window) => {
    await window.open("article.prose");
    await window.lens("Run program").waitFor();
    // In `"Apply the corrections`
    await window.goTo(14, 30);
    const action = window.page.locator(".action-widget .monaco-list-row", { hasText: "Extract the prompt" });
    // What takes the focus while the window still loads closes the list.
    for (let attempt = 0; attempt < 5 && !(await action.isVisible()); attempt += 1) {
      await window.command("Refactor...");
      await action.waitFor({ timeout: 10_000 }).catch(() => undefined);
    }
    await action.waitFor();
    await action.click();
    // What is typed before the box has the cursor goes to the program.
    const name = window.page.locator(".rename-box input:focus");
    await name.waitFor();
    assert.equal(await name.inputValue(), "new_agent");
    await window.page.keyboard.type("editor");
    await window.page.keyboard.press("Enter");
    await window.line("agent editor:").waitFor();
    await window.line("output result = session: editor").waitFor();
  });
});

test("closing editors shows no error", async () => {
  await editor.window("closed-editors", files, async (window) => {
    for (let round = 0; round < 3; round += 1) {
      await window.open("article.prose");
      await window.lens("Run program").waitFor();
      // What the editor asks about the text is under way while it closes.
      await window.goTo(14, 47);
      await window.page.keyboard.type(" now");
      await window.page.keyboard.press("Control+Z");
      await window.closeEditors();
    }
    await window.open("article.prose");
    await window.lens("Run program").waitFor();
    assert.equal(await window.page.locator(".notification-list-item").count(), 0);
    assert.doesNotMatch(editor.extensionLog(), /is not open/);
  });
});
