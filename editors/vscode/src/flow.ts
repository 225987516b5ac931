// The flow of a program while it is edited: a page with its statements that follows the cursor and the edits, and leads to the code.

import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import type { FlowGraph } from "../panel/layout";
import type { FromFlowPanel, ToFlowPanel } from "./runs/messages";
import { openPage } from "./runs/page";

/** The delay before the page follows the cursor or an edit, so that typing does not wait for it. */
const REST = 150;

/** The page with the flow of a program. */
export class FlowPanel implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  private document: vscode.TextDocument | undefined;
  private isReady = false;
  /** The version of the text whose flow was requested last. */
  private asked = -1;
  /** The document whose flow the page shows. */
  private told: vscode.TextDocument | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly dist: vscode.Uri,
    private readonly client: () => LanguageClient | undefined,
  ) {
    this.subscriptions = [
      vscode.commands.registerCommand("prose.showFlow", () => this.show()),
      vscode.workspace.onDidChangeTextDocument(({ document }) => document === this.document && this.changed()),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => textEditor.document === this.document && this.changed()),
      vscode.window.onDidChangeActiveTextEditor((active) => {
        if (this.panel === undefined || active === undefined || !hasFlow(active.document)) return;
        this.document = active.document;
        this.changed();
      }),
    ];
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.panel?.dispose();
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  /** Requests the flow again, such as from a server that has started. */
  refresh(): void {
    this.asked = -1;
    this.changed();
  }

  private show(): void {
    const active = vscode.window.activeTextEditor?.document;
    if (active === undefined || !hasFlow(active)) {
      void vscode.window.showErrorMessage("Open a program first: the command shows the flow of the program in the active editor.");
      return;
    }
    this.document = active;
    this.asked = -1;
    if (this.panel !== undefined) {
      this.panel.reveal(undefined, true);
      this.changed();
      return;
    }
    this.panel = openPage<FromFlowPanel>(this.dist, {
      kind: "prose.flow",
      title: "Flow",
      script: "flow.js",
      keepsFocus: true,
      receive: (message) => this.receive(message),
      hidden: () => (this.isReady = false),
      closed: () => {
        this.panel = undefined;
        this.isReady = false;
      },
    });
  }

  private changed(): void {
    if (this.panel === undefined) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.tell(), REST);
  }

  /** Sends the flow, if the text has changed, and the line of the cursor. */
  private async tell(): Promise<void> {
    const { document, panel } = this;
    const client = this.client();
    if (document === undefined || panel === undefined || !this.isReady || client === undefined) return;
    const name = document.uri.path.split("/").at(-1) ?? "";
    panel.title = `Flow: ${name}`;
    const isNew = this.asked !== document.version || this.told !== document;
    if (isNew) {
      const { version } = document;
      [this.asked, this.told] = [version, document];
      try {
        const graph = await client.sendRequest<FlowGraph | null>("prose/flowGraph", { textDocument: { uri: document.uri.toString() } });
        // A newer text is asked about next.
        if (document !== this.document || document.version !== version) return this.changed();
        this.post({ type: "flow", name, graph });
      } catch {
        // The request was outdated by an edit, or the server is stopping; the last flow stays.
        this.asked = -1;
        if (document.version !== version) this.changed();
        return;
      }
    }
    const editor = vscode.window.visibleTextEditors.find((visible) => visible.document === document);
    this.post({ type: "cursor", line: editor === undefined ? null : editor.selection.active.line + 1 });
  }

  private post(message: ToFlowPanel): void {
    void this.panel?.webview.postMessage(message);
  }

  private receive(message: FromFlowPanel): void {
    if (message.type === "ready") {
      this.isReady = true;
      this.asked = -1;
      void this.tell();
      return;
    }
    void this.reveal(message);
  }

  private async reveal({ range, keepsFocus }: FromFlowPanel & { type: "show" }): Promise<void> {
    const { document } = this;
    if (document === undefined || document.isClosed) return;
    const visible = vscode.window.visibleTextEditors.find((editor) => editor.document === document);
    const start = new vscode.Position(range.start.line, range.start.character);
    const options = { viewColumn: visible?.viewColumn ?? vscode.ViewColumn.One, preserveFocus: keepsFocus, selection: new vscode.Range(start, start) };
    const editor = await vscode.window.showTextDocument(document, options);
    editor.revealRange(new vscode.Range(start, start), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  }
}

function hasFlow({ languageId, uri }: vscode.TextDocument): boolean {
  return languageId === "prose" && (uri.scheme === "file" || uri.scheme === "untitled");
}
