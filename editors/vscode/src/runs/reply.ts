// "What if it had replied …": the user edits a recorded reply, and a fork continues with it.

import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import type { Session } from "./session";

/** A session of a run: the argument of `prose.editReply`. */
export interface RepliedSession {
  /** The program. */
  uri: string;
  run: string;
  /** The folder of the run. */
  folder: string;
  /** The place of the session. */
  at: string;
  request: number;
}

export class ReplyEditor implements vscode.Disposable, vscode.CodeLensProvider {
  /** What a fork needs, by the documents with the replies. */
  private readonly edited = new Map<string, RepliedSession>();
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.changed.event;
  private readonly subscriptions: vscode.Disposable[];

  constructor(private readonly client: () => LanguageClient | undefined) {
    this.subscriptions = [
      this.changed,
      vscode.languages.registerCodeLensProvider({ scheme: "untitled", language: "markdown" }, this),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => this.edited.delete(uri.toString())),
      vscode.commands.registerCommand("prose.editReply", (session: RepliedSession) => this.edit(session)),
      vscode.commands.registerCommand("prose.runWithReply", (uri: string) => this.run(uri)),
    ];
  }

  dispose(): void {
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  /** Opens the reply of a session in a document of its own. */
  async edit(session: RepliedSession): Promise<void> {
    const client = this.client();
    if (client === undefined) return;
    const { folder, request } = session;
    const { reply } = await client.sendRequest<Session>("prose/session", { folder, request });
    if (reply === null) {
      void vscode.window.showInformationMessage("This session has no reply that could be changed. Run the program again from here instead.");
      return;
    }
    const document = await vscode.workspace.openTextDocument({ language: "markdown", content: reply });
    this.edited.set(document.uri.toString(), session);
    this.changed.fire();
    await vscode.window.showTextDocument(document, { preview: false });
  }

  provideCodeLenses({ uri }: vscode.TextDocument): vscode.CodeLens[] {
    if (!this.edited.has(uri.toString())) return [];
    const command = { title: "▶ Run again with this reply", command: "prose.runWithReply", arguments: [uri.toString()] };
    return [new vscode.CodeLens(new vscode.Range(0, 0, 0, 0), command)];
  }

  private async run(name: string): Promise<void> {
    const session = this.edited.get(name);
    const document = vscode.workspace.textDocuments.find(({ uri }) => uri.toString() === name);
    if (session === undefined || document === undefined) return;
    const { uri, run, at } = session;
    await vscode.workspace.openTextDocument(vscode.Uri.parse(uri));
    const started = await vscode.commands.executeCommand("prose.fork", { uri, run, replies: [{ at, text: document.getText() }] });
    if (!started) return;
    // The document has done its work, and closing it should not ask whether to save it.
    await vscode.window.showTextDocument(document);
    await vscode.commands.executeCommand("workbench.action.revertAndCloseActiveEditor");
  }
}
