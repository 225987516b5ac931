// The panel that compares two runs: their timelines under each other and the steps that differ. Texts are compared by the editor's own diff.

import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import { errorText } from "../error-text";
import type { Comparison, Pair, Part } from "./comparison";
import { titleOf } from "./comparison";
import type { FromComparePanel, ToComparePanel } from "./messages";
import { pageOf } from "./page";
import type { Entry, RunStore } from "./store";

/** The documents with the texts of steps. */
const STEP = "prose-step";

interface StepQuery {
  folders: [string, string];
  step: number;
  side: "a" | "b";
  part: Part;
}

export class ComparePanel implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  private runs: [Entry, Entry] | undefined;
  private comparison: Comparison | undefined;
  private isReady = false;
  private readonly texts: vscode.Disposable;

  constructor(
    private readonly dist: vscode.Uri,
    private readonly store: RunStore,
    private readonly client: () => LanguageClient | undefined,
  ) {
    this.texts = vscode.workspace.registerTextDocumentContentProvider(STEP, {
      provideTextDocumentContent: (uri) => this.text(uri),
    });
  }

  dispose(): void {
    this.panel?.dispose();
    this.texts.dispose();
  }

  /** Compares two runs; the one that started first is the first one. */
  async show(...runs: [Entry, Entry]): Promise<void> {
    const [a, b] = runs;
    this.runs = (a.summary?.started ?? 0) <= (b.summary?.started ?? 0) ? [a, b] : [b, a];
    this.comparison = undefined;
    if (this.panel === undefined) this.open();
    else {
      this.panel.reveal(undefined, true);
      await this.tell();
    }
  }

  private open(): void {
    const panel = vscode.window.createWebviewPanel("prose.compare", "Compare Runs", vscode.ViewColumn.Active, {
      enableScripts: true,
      enableForms: false,
      localResourceRoots: [this.dist],
    });
    this.panel = panel;
    panel.webview.onDidReceiveMessage((message: FromComparePanel) => this.receive(message));
    panel.onDidDispose(() => {
      this.panel = undefined;
      this.isReady = false;
    });
    panel.onDidChangeViewState(() => {
      // A hidden page is discarded, and reports when it is loaded again.
      if (!panel.visible) this.isReady = false;
    });
    panel.webview.html = pageOf(panel.webview, this.dist, "compare.js", "Compare runs");
  }

  private folders(): [string, string] | undefined {
    const folders = this.runs?.map(({ summary }) => summary?.folder);
    const [a, b] = folders ?? [];
    return a === undefined || b === undefined ? undefined : [a, b];
  }

  private async tell(): Promise<void> {
    const { runs, panel } = this;
    const [client, folders] = [this.client(), this.folders()];
    if (runs === undefined || panel === undefined || client === undefined || folders === undefined || !this.isReady) return;
    panel.title = `Compare: ${runs[1].name}`;
    try {
      const [comparison] = await Promise.all([
        client.sendRequest<Comparison>("prose/compareRuns", { folders }),
        ...runs.map((entry) => this.store.load(entry)),
      ]);
      if (this.runs !== runs) return;
      this.comparison = comparison;
      const [a, b] = runs.map(({ model }) => model.whole());
      if (a !== undefined && b !== undefined) this.post({ type: "comparison", a, b, comparison });
    } catch (error) {
      void vscode.window.showErrorMessage(errorText(error));
    }
  }

  private post(message: ToComparePanel): void {
    if (this.isReady) void this.panel?.webview.postMessage(message);
  }

  private receive(message: FromComparePanel): void {
    if (message.type === "ready") {
      this.isReady = true;
      void this.tell();
    } else void this.diff(message.step, message.part);
  }

  /** Opens the editor's diff of a text of a step. */
  private async diff(step: number, part: Part): Promise<void> {
    const [folders, pair] = [this.folders(), this.comparison?.steps[step]];
    if (folders === undefined || pair === undefined || this.runs === undefined) return;
    const name = part === "asked" ? "Prompt" : "Reply";
    const document = (side: "a" | "b"): vscode.Uri => {
      const query: StepQuery = { folders, step, side, part };
      return vscode.Uri.from({ scheme: STEP, path: `/${name} ${side === "a" ? "before" : "now"}.md`, query: JSON.stringify(query) });
    };
    const title = `${name} of ${titleOf(pair)}`;
    await vscode.commands.executeCommand("vscode.diff", document("a"), document("b"), title, { preview: true });
  }

  private async text(uri: vscode.Uri): Promise<string> {
    const { folders, step, side, part } = JSON.parse(uri.query) as StepQuery;
    const client = this.client();
    if (client === undefined) return "The language server is not running, so the text cannot be shown.\n";
    try {
      const pair = await client.sendRequest<Pair>("prose/compareRuns", { folders, step });
      return pair[side]?.[part] ?? "";
    } catch (error) {
      return `${errorText(error)}\n`;
    }
  }
}
