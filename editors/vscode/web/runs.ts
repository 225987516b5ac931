// The run of a program: its turns, its questions, its panel and its end.

import * as vscode from "vscode";
import type { Question, RunEnd, Turn } from "../../playground/src/language";
import type { Restarting } from "../../playground/src/restarting";
import { errorText } from "../src/error-text";
import type { Ability, FromPanel, ToPanel } from "../src/runs/messages";
import { openPage } from "../src/runs/page";
import { NOTHING, Run } from "../src/runs/run";
import { codeOf, ofRunAlone, sessionAsText } from "../src/runs/session";
import { isProgram, type Programs } from "./programs";

/** The interval of turns, and the time of a generated reply, in milliseconds. */
const FRAME = 16;
const DELAY = 300;
/** The shortest interval of reading the details of a session that is shown, in milliseconds. */
const CALM = 250;

type Harness = "offline" | "script";

/** A run that was started here. */
interface Started {
  run: string;
  name: string;
  uri: vscode.Uri;
  text: string;
  harness: Harness;
  script: vscode.Uri | undefined;
  graph: (ToPanel & { type: "run" })["graph"];
}

export class Runs implements vscode.Disposable {
  private readonly model = new Run();
  private started: Started | undefined;
  private isExecuted = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly asked = new Set<number>();
  private panel: vscode.WebviewPanel | undefined;
  private isReady = false;
  /** The session whose details the panel shows, and when they were read. */
  private detailed: { requests: number[]; at: number } | undefined;

  constructor(
    private readonly language: Restarting,
    private readonly programs: Programs,
    private readonly dist: vscode.Uri,
    private readonly output: vscode.LogOutputChannel,
  ) {}

  dispose(): void {
    clearTimeout(this.timer);
    this.panel?.dispose();
  }

  /** Runs the program of the active editor. */
  async start(harness: Harness): Promise<void> {
    const document = vscode.window.activeTextEditor?.document;
    if (document === undefined || !isProgram(document)) {
      void vscode.window.showInformationMessage("Open the program to run first.");
      return;
    }
    const script = harness === "script" ? await pickScript() : undefined;
    if (harness === "script" && script === undefined) return;
    await this.run(document.uri, harness, script);
  }

  async stop(): Promise<void> {
    if (this.isExecuted) await this.language.call("command", { command: "stop" });
  }

  /** The module has stopped in the middle of a run. */
  lost(): void {
    if (this.isExecuted) this.ended({ status: "interrupted", error: "the language module has stopped unexpectedly", outputs: [], value: null });
  }

  private async run(uri: vscode.Uri, harness: Harness, script: vscode.Uri | undefined): Promise<void> {
    if (this.isExecuted) {
      void vscode.window.showInformationMessage("A program is running; stop it first.");
      return;
    }
    const document = await vscode.workspace.openTextDocument(uri);
    const name = this.programs.nameOf(document);
    try {
      const added = script === undefined ? {} : { script: await this.programs.add(script) };
      const { run } = await this.language.call("start", { name, harness, delay: DELAY, ...added });
      this.started = { run, name, uri, text: document.getText(), harness, script, graph: await this.language.call("graph", { name }) };
    } catch (error) {
      void vscode.window.showErrorMessage(errorText(error));
      return;
    }
    this.model.apply(NOTHING);
    this.asked.clear();
    this.become(true);
    this.open();
    this.tellRun();
    this.turnSoon();
  }

  private become(isExecuted: boolean): void {
    this.isExecuted = isExecuted;
    void vscode.commands.executeCommand("setContext", "prose.isRunning", isExecuted);
  }

  private turnSoon(): void {
    this.timer = setTimeout(() => void this.turn(), FRAME);
  }

  private async turn(): Promise<void> {
    let turn: Turn;
    try {
      turn = await this.language.call("turn", {});
    } catch {
      // That the run is lost was said where the module was started again.
      return;
    }
    if (turn.delta !== null && this.started !== undefined) {
      this.model.apply(turn.delta);
      this.post({ type: "delta", run: this.started.run, delta: turn.delta });
      this.post({ type: "can", can: this.can });
      if (turn.end !== null || Date.now() - (this.detailed?.at ?? Infinity) > CALM) await this.tellDetails();
    }
    if (turn.end !== null) {
      this.ended(turn.end);
      return;
    }
    for (const question of turn.questions) {
      if (!this.asked.has(question.id)) {
        this.asked.add(question.id);
        void this.ask(question);
      }
    }
    this.turnSoon();
  }

  private ended(end: RunEnd): void {
    this.become(false);
    clearTimeout(this.timer);
    this.post({ type: "can", can: this.can });
    const outputs = end.outputs.length > 0 || end.value === null ? end.outputs : [{ name: "result", text: end.value }];
    this.output.info(`${this.started?.name ?? ""}: ${end.status}${end.error === null ? "" : `: ${end.error}`}`);
    if (end.status === "failed") {
      void vscode.window.showErrorMessage(`The program has failed: ${end.error ?? "without an error"}`);
    } else if (end.status === "completed" && outputs.length > 0) {
      const content = outputs.map(({ name, text }) => `## ${name}\n\n${text}\n`).join("\n");
      void vscode.window.showInformationMessage("The program has completed.", "Show outputs").then((choice) => {
        if (choice !== undefined) void show(content);
      });
    }
  }

  private async ask(question: Question): Promise<void> {
    for (;;) {
      const answer = await input(question);
      if (!this.isExecuted) return;
      if (answer === undefined) {
        const choice = await vscode.window.showWarningMessage(`The program waits for an answer: ${question.text}`, "Answer", "Stop");
        if (choice === "Stop") await this.stop();
        if (choice !== "Answer") return;
        continue;
      }
      try {
        await this.language.call("answer", { id: question.id, text: answer });
        return;
      } catch (error) {
        if (!this.isExecuted) return;
        await vscode.window.showErrorMessage(errorText(error));
      }
    }
  }

  private get can(): Ability[] {
    if (!this.isExecuted) return this.started === undefined ? [] : ["rerun"];
    return ["cancel", this.model.pause === undefined ? "pause" : "continue"];
  }

  private open(): void {
    if (this.panel !== undefined) {
      this.panel.reveal(undefined, true);
      return;
    }
    this.panel = openPage<FromPanel>(this.dist, {
      kind: "prose.run",
      title: "Run",
      script: "panel.js",
      keepsFocus: true,
      receive: (message) => void this.receive(message),
      hidden: () => (this.isReady = false),
      closed: () => {
        this.panel = undefined;
        this.isReady = false;
      },
    });
  }

  private post(message: ToPanel): void {
    if (this.isReady) void this.panel?.webview.postMessage(message);
  }

  private tellRun(): void {
    const { started } = this;
    const delta = this.model.whole() ?? NOTHING;
    if (started !== undefined) this.post({ type: "run", run: started.run, delta, graph: started.graph, can: this.can });
  }

  private async tellDetails(): Promise<void> {
    const { started, detailed } = this;
    if (started === undefined || detailed === undefined) return;
    detailed.at = Date.now();
    const { requests } = detailed;
    const attempts = await this.language.call("sessions", { requests });
    this.post({ type: "details", details: { requests, attempts, log: null, code: codeOf(this.model, ofRunAlone(started.text), requests) } });
  }

  private async receive(message: FromPanel): Promise<void> {
    const { started } = this;
    switch (message.type) {
      case "ready":
        this.isReady = true;
        return this.tellRun();
      case "reveal":
        if (started !== undefined && (message.site.program ?? 0) === 0) await reveal(started.uri, message.site.line - 1, message.site.last_line - 1, message.keepsFocus);
        return;
      case "details": {
        this.detailed = message.node === null ? undefined : { requests: message.requests, at: 0 };
        return this.tellDetails();
      }
      case "session":
        return show(sessionAsText(await this.language.call("sessions", { requests: message.requests })));
      case "command":
        if (message.command === "rerun" && started !== undefined) return this.run(started.uri, started.harness, started.script);
        if (message.command === "cancel") return this.stop();
        if (message.command === "pause" || message.command === "continue") await this.language.call("command", { command: message.command });
        return;
      case "session-command":
        if (message.command === "skip" || message.command === "retry") await this.language.call("command", { command: message.command, request: message.request });
    }
  }
}

async function input({ text, choices, isOptional }: Question): Promise<string | undefined> {
  if (choices.length > 0) {
    const items = choices.map(({ value, title }) => ({ label: title, value }));
    return (await vscode.window.showQuickPick(items, { title: text, ignoreFocusOut: true }))?.value;
  }
  return vscode.window.showInputBox({ prompt: text, placeHolder: isOptional ? "optional" : "", ignoreFocusOut: true });
}

async function pickScript(): Promise<vscode.Uri | undefined> {
  const found = await vscode.workspace.findFiles("**/*.toml", "**/{node_modules,.prose}/**");
  const scripts = found.filter(({ path }) => !path.endsWith("/prose.toml") && !path.endsWith(".test.toml"));
  if (scripts.length === 0) {
    void vscode.window.showInformationMessage("The workspace has no script; create a file such as script.toml with the replies of sessions.");
    return undefined;
  }
  const items = scripts.map((uri) => ({ label: vscode.workspace.asRelativePath(uri), uri }));
  return (await vscode.window.showQuickPick(items, { title: "Script with the replies of sessions" }))?.uri;
}

async function reveal(uri: vscode.Uri, first: number, last: number, keepsFocus: boolean): Promise<void> {
  const document = await vscode.workspace.openTextDocument(uri);
  const column = vscode.window.visibleTextEditors.find((editor) => editor.document === document)?.viewColumn ?? vscode.ViewColumn.One;
  const editor = await vscode.window.showTextDocument(document, { viewColumn: column, preserveFocus: keepsFocus });
  const range = new vscode.Range(first, 0, last, document.lineAt(Math.min(last, document.lineCount - 1)).text.length);
  editor.revealRange(range, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  editor.selection = new vscode.Selection(range.start, range.start);
}

async function show(content: string): Promise<void> {
  await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ language: "markdown", content }), { preview: true });
}
