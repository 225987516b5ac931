// Visual Studio Code as a person sees it: a server of it, and windows of it in a browser. Tests wait for what is to be seen,
// never for time to pass, and what they did not see in time fails with all that was there instead.

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test as nodeTest } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const cache = join(root, "tests/.cache/vscode");
const { chromium } = createRequire(join(cache, "package.json"))("playwright-core");
const codeServer = join(cache, "node_modules/code-server/out/node/entry.js");

// A machine with two cores may be busy with other tests.
const PATIENCE = 60_000;

/** The value of a variable without which nothing can be tested; `tests/tests/editors/vscode_e2e.rs` sets them. */
export function needed(variable) {
  const value = process.env[variable];
  if (!value) throw new Error(`${variable} is not set; \`cargo test -p prose-tests --test editors vscode_e2e\` sets it`);
  return value;
}

// Nothing moves, blinks, asks the network, differs between machines or is in the way.
const QUIET = {
  "chat.disableAIFeatures": true,
  "editor.cursorBlinking": "solid",
  "editor.fontFamily": "'DejaVu Sans Mono'",
  "editor.minimap.enabled": false,
  // A hint stands in the row of its line.
  "[prose]": { "editor.wordWrap": "off" },
  "extensions.autoCheckUpdates": false,
  // A file of its own, which would start the JSON extension in windows where nobody has opened a file.
  "files.associations": { "chatLanguageModels.json": "plaintext" },
  "files.exclude": { "**/replies.json": true },
  "git.enabled": false,
  // Each takes a line, so that less of a program is in sight.
  "prose.lenses.outputs": false,
  "prose.lenses.parts": false,
  "prose.lenses.references": false,
  "remote.autoForwardPorts": false,
  "telemetry.telemetryLevel": "off",
  "window.commandCenter": false,
  "workbench.colorTheme": "Light Modern",
  "workbench.editor.useModal": "off",
  "workbench.enableExperiments": false,
  "workbench.layoutControl.enabled": false,
  "workbench.reduceMotion": "on",
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "workbench.startupEditor": "none",
  "workbench.tips.enabled": false,
};

/**
 * A test, with a second try in a new window: a busy editor now and then drops a press. Says that it took two, since a fault that
 * is met now and then is one.
 */
export function test(name, body) {
  nodeTest(name, async (context) => {
    try {
      await body(context);
    } catch (error) {
      context.diagnostic(`SECOND TRY of ${name}: ${error.message}`);
      await body(context);
    }
  });
}

/** A server of the editor with the extension installed, and a browser. */
export class Editor {
  /**
   * Starts both. Folders are trusted unless `asksForTrust`; `settings` are those of the machine, and `extension` is the package to install.
   */
  static async start({ settings = {}, asksForTrust = false, extension = needed("PROSE_VSIX") } = {}) {
    const home = mkdtempSync(join(tmpdir(), "prose-vscode-"));
    write(join(home, "data"), {
      "User/settings.json": JSON.stringify(QUIET),
      // What is about the machine that programs run on is taken from here alone.
      "Machine/settings.json": JSON.stringify({ "prose.server.path": needed("PROSE_BINARY"), ...settings }),
    });

    const places = ["--user-data-dir", join(home, "data"), "--extensions-dir", join(home, "extensions")];
    const command = [codeServer, "--config", join(home, "config.yaml"), ...places];
    // Without a gallery, the editor looks for no other extensions.
    const env = { PATH: process.env.PATH, HOME: home, LANG: "C.UTF-8", TZ: "UTC", EXTENSIONS_GALLERY: "{}" };
    execFileSync(process.execPath, [...command, "--install-extension", extension], { env });

    const options = ["--auth", "none", "--disable-telemetry", "--disable-update-check", "--disable-proxy"];
    // Nobody comes back to a window that is closed.
    options.push("--reconnection-grace-time", "1");
    if (!asksForTrust) options.push("--disable-workspace-trust");
    const server = spawn(
      process.execPath,
      [...command, "--bind-addr", "127.0.0.1:0", ...options, "--disable-getting-started-override"],
      { env, stdio: ["ignore", "pipe", "pipe"] },
    );
    // Whatever ends the tests ends the editor.
    process.on("exit", () => server.kill());
    for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));
    const editor = new Editor(home, server);
    editor.address = await editor.listening();
    const flags = ["no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-background-networking"];
    editor.browser = await chromium.launch({
      executablePath: "/usr/bin/chromium",
      args: [...flags, "disable-component-update", "disable-sync"].map((flag) => `--${flag}`),
    });
    return editor;
  }

  constructor(home, server) {
    this.home = home;
    this.server = server;
    this.log = "";
    this.windows = 0;
    for (const stream of [server.stdout, server.stderr]) stream.on("data", (text) => (this.log += text));
  }

  async stop() {
    await this.browser?.close();
    if (this.server.exitCode === null) {
      this.server.kill();
      await once(this.server, "exit");
    }
    rmSync(this.home, { recursive: true, force: true, maxRetries: 5 });
  }

  listening() {
    return new Promise((resolve, reject) => {
      const look = () => {
        const found = /listening on (http:\/\/127\.0\.0\.1:\d+)/.exec(this.log);
        if (found) resolve(found[1]);
      };
      this.server.stdout.on("data", look);
      this.server.on("exit", (code) => reject(new Error(`code-server ended with ${code}:\n${this.log}`)));
    });
  }

  /**
   * Opens a folder with these files in a window of its own and does something there. If that fails, the error says what was to be
   * seen, and a picture of it is kept.
   */
  async window(name, files, work) {
    const window = await this.open(name, files);
    try {
      await work(window);
    } catch (error) {
      await window.explain(error);
      throw error;
    } finally {
      await window.page.context().close();
    }
  }

  /**
   * The same in the window that an earlier test with files of the same names has left, since a window takes a processor longer than most
   * tests. One in which a test has failed is closed.
   */
  async sharedWindow(name, files, work) {
    const shared = this.shared;
    this.shared = undefined;
    const names = Object.keys(files).sort().join();
    const fits = shared?.names === names;
    if (!fits) await shared?.window.page.context().close();
    const window = fits ? shared.window : await this.open(name, files);
    try {
      if (fits) write(window.folder, files);
      await work(window);
      await window.tidy();
    } catch (error) {
      await window.explain(error);
      await window.page.context().close();
      throw error;
    }
    this.shared = { names, window };
  }

  async open(name, files) {
    const folder = join(this.home, `folder-${++this.windows}`, name);
    write(folder, files);
    const context = await this.browser.newContext({ viewport: { width: 1200, height: 700 }, locale: "en-GB", timezoneId: "UTC" });
    context.setDefaultTimeout(PATIENCE);
    const window = new Window(this, await context.newPage(), folder);
    try {
      await window.page.goto(`${this.address}/?folder=${encodeURIComponent(folder)}`);
      await window.listed().first().waitFor();
    } catch (error) {
      await window.explain(error);
      await context.close();
      throw error;
    }
    return window;
  }

  /** The ids of the processes of the language server that the editor has started. */
  languageServers() {
    const processes = readdirSync("/proc").filter((name) => /^\d+$/.test(name)).flatMap((id) => {
      try {
        // The name in brackets may hold anything.
        const [, parent] = readFileSync(`/proc/${id}/stat`, "utf8").split(") ").at(-1).split(" ");
        const command = readFileSync(`/proc/${id}/cmdline`, "utf8").split("\0");
        return [{ id: Number(id), parent: Number(parent), command }];
      } catch {
        // It has ended in between.
        return [];
      }
    });
    const descends = ({ id, parent }) =>
      parent === this.server.pid || processes.some((other) => other.id === parent && other.id !== id && descends(other));
    const isServer = ({ command }) => command[0] === needed("PROSE_BINARY") && command[1] === "lsp";
    return processes.filter((process) => isServer(process) && descends(process)).map(({ id }) => id);
  }

  /** In how many windows an extension has been activated. */
  activations(extension) {
    const logs = globSync("data/logs/**/remoteexthost.log", { cwd: this.home });
    const isActivated = (log) => readFileSync(join(this.home, log), "utf8").includes(`_doActivateExtension ${extension},`);
    return logs.filter(isActivated).length;
  }

  /** What the extension and the language server had to say. */
  extensionLog() {
    const files = globSync("data/logs/**/*openprose*/*.log", { cwd: this.home }).sort();
    return files.map((file) => `${file}\n${readFileSync(join(this.home, file), "utf8")}`).join("\n");
  }
}

/** Writes files below a folder: their texts by their paths. */
export function write(folder, files) {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

/** Waits until something holds that no page tells of. */
export async function until(what, holds, pause = 20) {
  const end = performance.now() + PATIENCE;
  for (;;) {
    const value = await holds();
    if (value) return value;
    if (performance.now() > end) throw new Error(`In vain waited for this: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

/** A window of the editor with a folder open. */
export class Window {
  constructor(editor, page, folder) {
    this.editor = editor;
    this.page = page;
    this.folder = folder;
    this.console = [];
    page.on("console", (message) => this.console.push(message.text()));
  }

  /** The rows of the list of the folder, or those that begin with a text. */
  listed(label) {
    const beginning = label === undefined ? "" : `[aria-label^="${label}"]`;
    return this.page.locator(`.monaco-workbench .explorer-folders-view .monaco-list-row${beginning}`);
  }

  /** Closes all that is open, and drops changes that are not saved. */
  async closeEditors() {
    await this.command("View: Close All Editors");
    const drop = this.page.locator(".monaco-dialog-box").getByRole("button", { name: "Don't Save" });
    const closed = this.page.locator(".editor-group-container.empty").first();
    await until("the editors are closed", async () => (await closed.isVisible()) || (await drop.click({ timeout: 500 }).then(() => false, () => false)));
  }

  /** Leaves nothing to the next test of the window: no editors, no notifications, and no panel. */
  async tidy() {
    await this.closeEditors();
    await this.command("Notifications: Clear All Notifications");
    if (await this.page.locator(".part.panel").isVisible()) await this.command("View: Hide Panel");
  }

  /** Types into the field that a key opens, and gives the row of its list that begins with a text. */
  async ask(key, text, row = text) {
    const field = this.page.locator(".quick-input-widget input");
    await until(`the field of ${key} takes ${text}`, async () => {
      await this.page.keyboard.press(key);
      // What is still coming up may take the focus away, which closes the field.
      return field.fill(text, { timeout: 3000 }).then(() => true, () => false);
    });
    return this.page.locator(`.quick-input-list .monaco-list-row[aria-label^="${row}"]`).first();
  }

  /** Chooses the row of the list of a key that begins with a text. A list that loses the focus is closed before the press. */
  async choose(key, text, row = text) {
    await until(`${row} is chosen`, async () => {
      const found = await this.ask(key, text, row);
      return found.click({ timeout: 5000 }).then(() => true, () => false);
    });
  }

  /** Opens a file of the folder as a person does who knows its name. */
  async open(name) {
    await this.choose("Control+P", name);
    await this.active(name);
  }

  /** Opens a file from the list of the folder. */
  async openFromList(name) {
    await this.listed(name).dblclick();
    await this.active(name);
  }

  /**
   * Opens a file from the list of the folder, and gives the milliseconds from the press of the button to the first underline of a
   * mistake, as the page itself sees both. No other file may be open.
   */
  async timeToSquiggle(name) {
    const time = this.page.evaluate(() => new Promise((resolve) => {
      let pressed;
      addEventListener("mousedown", () => (pressed = performance.now()), { capture: true, once: true });
      const observer = new MutationObserver(() => {
        if (!document.querySelector(".editor-group-container .squiggly-error")) return;
        observer.disconnect();
        resolve(performance.now() - pressed);
      });
      observer.observe(document.body, { subtree: true, childList: true, attributes: true });
    }));
    await this.listed(name).click();
    await this.squiggles("error").first().waitFor();
    return time;
  }

  /** The milliseconds that the editor says the activation of an extension took it. */
  async activationTime(extension) {
    await this.command("Developer: Show Running Extensions");
    const row = this.page.locator(".runtime-extensions-editor .extension", { hasText: extension });
    return Number(/Activation: (\d+)ms/.exec(await row.innerText())[1]);
  }

  /** Waits until a file is the one that is edited. */
  async active(name) {
    await this.page.locator(`.editor-group-container.active .tab.active[data-resource-name="${name}"]`).waitFor();
    await this.page.locator(".editor-group-container.active .view-lines .view-line").first().waitFor();
  }

  /** Runs a command of the palette. */
  async command(title) {
    await this.choose("F1", `>${title}`, title);
  }

  /** Puts the cursor into a line and column, both from 1. */
  async goTo(line, column) {
    const there = this.status(`Ln ${line}, Col ${column}`);
    await until(`the cursor is in line ${line}`, async () => {
      await this.ask("Control+G", `:${line}:${column}`);
      await this.page.keyboard.press("Enter");
      return there.waitFor({ timeout: 5000 }).then(() => true, () => false);
    });
  }

  /** What is edited. */
  get text() {
    return this.page.locator(".editor-group-container .view-lines");
  }

  /** The number of the line that the cursor is in, whether or not the editor has the focus. */
  cursorIn(line) {
    return this.page.getByText(String(line), { exact: true }).and(this.page.locator(".active-line-number"));
  }

  /** A line of what is edited, with its spaces as they are. */
  line(text) {
    // The editor writes spaces as ones that do not break.
    const pattern = text.split(" ").map((word) => word.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("[ \u00a0]");
    return this.text.locator(".view-line", { hasText: new RegExp(pattern) }).first();
  }

  /** A piece of a line that is highlighted as one. */
  token(text, line) {
    return this.line(line).locator("span > span", { hasText: text }).first();
  }

  /** The colour of a piece of a line. */
  colour(text, line) {
    return this.token(text, line).evaluate((token) => getComputedStyle(token).color);
  }

  /** An item of the status bar. */
  status(text) {
    return this.page.locator(".statusbar-item", { hasText: text }).first();
  }

  /** The underlines of mistakes: `error`, `warning` or `info`. */
  squiggles(severity) {
    return this.page.locator(`.editor-group-container.active .squiggly-${severity}`);
  }

  lens(title) {
    return this.page.locator(".codelens-decoration a", { hasText: title }).first();
  }

  /** The hint at the end of the line with a text. */
  hint(line, text) {
    return this.line(line).filter({ hasText: text });
  }

  notification(text) {
    return this.page.locator(".notification-list-item", { hasText: text }).first();
  }

  /** A row of the view of runs. */
  row(label) {
    return this.page.locator(`.pane-body .monaco-list-row[aria-label*="${label}"]`).first();
  }

  /** A part of the timeline or of the flow in the panel of a run; each list is a tree of its own. */
  part(list, label, classes = "") {
    const panel = this.page.frameLocator("iframe.webview.ready").frameLocator("#active-frame");
    return panel.locator(`[role=tree][aria-label="${list}"] [role=treeitem][aria-label*="${label}"]${classes}`).first();
  }

  /** Keeps a picture for the documentation, where pictures are wanted. `isLive` if what it shows does not come to rest. */
  async picture(name, { keepsPointer = false, isLive = false } = {}) {
    const folder = process.env.PROSE_PICTURES;
    if (folder === undefined) {
      const kept = join(root, `docs/pictures/${name}.png`);
      if (!existsSync(kept)) throw new Error(`There is no ${kept}; \`tests/vscode/update-pictures\` takes it`);
      return;
    }
    // The pointer leaves no mark where there is nothing to point to.
    if (!keepsPointer) await this.page.mouse.move(600, 699);
    // What comes by and by, such as colours, has come when nothing changes any more.
    let last;
    const taken = await until(`nothing moves in the picture ${name}`, async () => {
      const before = last;
      last = await this.page.screenshot({ animations: "disabled", caret: "hide" });
      return (isLive || before?.equals(last)) && last;
    }, 500);
    writeFileSync(join(folder, `${name}.png`), taken);
  }

  /** Says in an error what was to be seen instead. */
  async explain(error) {
    const folder = join(root, "tests/.cache/vscode/failures");
    mkdirSync(folder, { recursive: true });
    const picture = join(folder, `${this.folder.split("/").at(-1)}.png`);
    await this.page.screenshot({ path: picture }).catch(() => {});
    const screen = await this.page.evaluate(() => document.body.innerText).catch(String);
    const parts = [
      error.message,
      `==== on the screen, see ${picture}\n${screen.replaceAll(/\n\s*\n+/g, "\n")}`,
      `==== of the extension\n${this.editor.extensionLog()}`,
      `==== of the page\n${this.console.slice(-20).join("\n")}`,
      `==== of code-server\n${this.editor.log.slice(-2000)}`,
    ];
    error.message = parts.join("\n\n");
    error.stack = `${error.message}\n${error.stack?.split("\n").filter((line) => /^\s+at /.test(line)).join("\n")}`;
  }
}
