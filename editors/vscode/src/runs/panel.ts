// The panel of a run: a page with its timeline and the flow of its program, which follows the editor.

import * as vscode from "vscode";
import type { FlowGraph } from "../../panel/layout";
import { errorText } from "../error-text";
import type { Ability, FromPanel, PanelCommand, SessionCommand, ToPanel } from "./messages";
import type { SessionDetails } from "./session";
import { openPage } from "./page";
import type { RunDelta, Site } from "./run";
import type { Entry, RunStore } from "./store";

/** The callbacks of the panel. */
export interface PanelActions {
  reveal(entry: Entry, site: Site, keepsFocus: boolean): Promise<void>;
  session(entry: Entry, requests: number[], label: string): Promise<void>;
  command(entry: Entry, command: PanelCommand): Promise<void>;
  sessionCommand(entry: Entry, command: SessionCommand, request: number): Promise<void>;
  graph(entry: Entry): Promise<FlowGraph | null>;
  details(entry: Entry, requests: number[]): Promise<SessionDetails>;
}

/** The delay before the panel follows the cursor. */
const REST = 60;

export class RunPanel implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  private entry: Entry | undefined;
  private watching: vscode.Disposable | undefined;
  private isReady = false;
  /** Whether the page has the run; earlier changes are part of the complete run that it receives. */
  private isTold = false;
  private can = "";
  /** The session whose details the page shows. */
  private detailed: { node: number; requests: number[] } | undefined;
  private isReading = false;
  private isOutdated = false;
  private cursorTimer: ReturnType<typeof setTimeout> | undefined;
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly dist: vscode.Uri,
    private readonly store: RunStore,
    private readonly actions: PanelActions,
  ) {
    this.subscriptions = [
      store.onDidChange(({ entry, delta }) => {
        if (entry !== undefined && delta?.whole === true) this.started(entry);
        else if (entry !== undefined && entry === this.entry && delta !== undefined && this.isTold) this.post({ type: "delta", run: entry.run, delta });
        if (entry !== undefined && entry === this.entry && delta !== undefined) this.detailsChanged(delta);
        this.tellWhatCan();
      }),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => this.cursorMoved(textEditor)),
      vscode.window.onDidChangeActiveTextEditor((active) => active !== undefined && this.cursorMoved(active)),
    ];
  }

  dispose(): void {
    clearTimeout(this.cursorTimer);
    this.watching?.dispose();
    this.panel?.dispose();
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  /** Shows a run, in the existing panel or in a new one next to the editor, and moves the focus there unless the user only looks through the runs. */
  async show(entry: Entry, keepsFocus: boolean): Promise<void> {
    this.entry = entry;
    this.watching?.dispose();
    this.watching = this.store.watch(entry);
    if (this.panel === undefined) this.open(keepsFocus);
    else {
      this.panel.reveal(undefined, keepsFocus);
      await this.tellRun();
    }
  }

  /** Switches to a run of the shown program that has started or resumed. */
  private started(entry: Entry): void {
    if (this.panel === undefined || this.entry === undefined) return;
    if (entry === this.entry || (entry.isHere && entry.uri !== undefined && entry.uri === this.entry.uri)) {
      this.entry = entry;
      void this.tellRun();
    }
  }

  private open(keepsFocus: boolean): void {
    this.panel = openPage<FromPanel>(this.dist, {
      kind: "prose.run",
      title: "Run",
      script: "panel.js",
      keepsFocus,
      receive: (message) => this.receive(message),
      hidden: () => (this.isReady = false),
      closed: () => {
        this.panel = undefined;
        this.isReady = false;
        this.watching?.dispose();
      },
    });
  }

  private post(message: ToPanel): void {
    if (this.isReady) void this.panel?.webview.postMessage(message);
  }

  private async tellRun(): Promise<void> {
    const { entry, panel } = this;
    if (entry === undefined || panel === undefined || !this.isReady) return;
    this.isTold = false;
    this.detailed = undefined;
    panel.title = `Run: ${entry.name}`;
    // The program is read from the files of the run, which exist shortly after its start.
    if (entry.summary === undefined) await this.store.refresh();
    const [graph] = await Promise.all([this.actions.graph(entry), this.store.load(entry), this.store.loadText(entry)]);
    if (this.entry !== entry || !this.isReady) return;
    this.isTold = true;
    this.can = "";
    this.post({ type: "run", run: entry.run, delta: entry.model.whole(), graph, can: [] });
    this.tellWhatCan();
    const active = vscode.window.activeTextEditor;
    if (active !== undefined) this.cursorMoved(active);
  }

  private detailsChanged({ nodes, activities = [] }: RunDelta): void {
    const node = this.detailed?.node;
    if (node === undefined) return;
    if (nodes.some(({ id }) => id === node) || activities.some((activity) => activity.node === node)) void this.tellDetails();
  }

  /** Sends the details of a session; what changes while they are read is read once more. */
  private async tellDetails(): Promise<void> {
    this.isOutdated = true;
    if (this.isReading) return;
    this.isReading = true;
    try {
      while (this.isOutdated) {
        this.isOutdated = false;
        const { entry, detailed } = this;
        if (entry === undefined || detailed === undefined) break;
        const details = await this.actions.details(entry, detailed.requests);
        if (entry === this.entry && detailed === this.detailed) this.post({ type: "details", details });
      }
    } catch (error) {
      void vscode.window.setStatusBarMessage(errorText(error), 4000);
    } finally {
      this.isReading = false;
    }
  }

  private tellWhatCan(): void {
    const { entry } = this;
    if (entry === undefined || !this.isTold) return;
    const can: Ability[] = [];
    if (entry.isHere) can.push("cancel", entry.pause === undefined ? "pause" : "continue");
    if (!entry.isRunning && entry.uri !== undefined && entry.summary?.canResume) can.push("resume");
    if (!entry.isRunning && entry.uri !== undefined) can.push("rerun");
    if (entry.summary !== undefined) can.push("state");
    if (entry.canFork) can.push("fork");
    const key = can.join(" ");
    if (key !== this.can) this.post({ type: "can", can });
    this.can = key;
  }

  private receive(message: FromPanel): void {
    if (message.type === "ready") {
      this.isReady = true;
      void this.tellRun();
      return;
    }
    const { entry } = this;
    if (entry === undefined) return;
    switch (message.type) {
      case "reveal":
        void this.actions.reveal(entry, message.site, message.keepsFocus);
        break;
      case "session":
        void this.actions.session(entry, message.requests, message.label);
        break;
      case "details":
        this.detailed = message.node === null ? undefined : { node: message.node, requests: message.requests };
        void this.tellDetails();
        break;
      case "command":
        void this.actions.command(entry, message.command);
        break;
      case "session-command":
        void this.actions.sessionCommand(entry, message.command, message.request);
        break;
    }
  }

  private cursorMoved({ document, selection }: vscode.TextEditor): void {
    const { entry } = this;
    if (entry === undefined || this.panel === undefined || document.uri.toString() !== entry.uri) return;
    clearTimeout(this.cursorTimer);
    this.cursorTimer = setTimeout(() => {
      const line = entry.lines(document.getText()).then(selection.active.line);
      this.post({ type: "cursor", line: line === undefined ? null : line + 1 });
    }, REST);
  }
}
