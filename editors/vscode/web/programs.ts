// The programs of the workspace, and scripts for their runs, as the module knows them: by the paths of their documents.

import * as vscode from "vscode";
import type { Restarting } from "../../playground/src/restarting";

/** Workspaces with more programs than that are none that anyone writes. */
const MAX_PROGRAMS = 1000;
const PROGRAMS = "**/*.prose";

export class Programs implements vscode.Disposable {
  private readonly uris = new Map<string, vscode.Uri>();
  private readonly changed = new vscode.EventEmitter<void>();
  /** Fires when the module has other texts. */
  readonly onDidChange = this.changed.event;
  private readonly subscriptions: vscode.Disposable[];

  constructor(private readonly language: Restarting) {
    const watcher = vscode.workspace.createFileSystemWatcher(PROGRAMS);
    const read = (uri: vscode.Uri): void => void this.read(uri);
    this.subscriptions = [
      this.changed,
      watcher,
      watcher.onDidCreate(read),
      watcher.onDidChange(read),
      watcher.onDidDelete((uri) => void this.remove(uri)),
      vscode.workspace.onDidOpenTextDocument((document) => void this.open(document)),
      vscode.workspace.onDidChangeTextDocument(({ document }) => void this.open(document)),
      // What was not saved is gone; what is not on any disk is, too.
      vscode.workspace.onDidCloseTextDocument((document) => {
        if (isProgram(document)) void this.closed(document.uri);
      }),
    ];
  }

  dispose(): void {
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  /** Reads the programs of the workspace, which others may import. */
  async load(): Promise<void> {
    for (const document of vscode.workspace.textDocuments) await this.open(document);
    const found = await vscode.workspace.findFiles(PROGRAMS, "**/{node_modules,.prose}/**", MAX_PROGRAMS);
    await Promise.all(found.map((uri) => this.read(uri)));
  }

  /** The name of a document in the module. */
  nameOf({ uri }: Pick<vscode.TextDocument, "uri">): string {
    return nameOf(uri);
  }

  /** The document of a program. */
  uriOf(name: string): vscode.Uri | undefined {
    return this.uris.get(name);
  }

  /** Gives the module a file of the workspace that it does not watch. */
  async add(uri: vscode.Uri): Promise<string> {
    const open = vscode.workspace.textDocuments.find((document) => document.uri.toString() === uri.toString());
    const text = open?.getText() ?? new TextDecoder().decode(await vscode.workspace.fs.readFile(uri));
    const name = uri.path.replace(/^\/+/, "");
    await this.language.call("setFile", { name, text });
    return name;
  }

  private async open(document: vscode.TextDocument): Promise<void> {
    if (isProgram(document)) await this.set(document.uri, document.getText());
  }

  private async read(uri: vscode.Uri): Promise<void> {
    // The text of an open document is what its editor shows.
    if (vscode.workspace.textDocuments.some((document) => isProgram(document) && document.uri.toString() === uri.toString())) return;
    try {
      await this.set(uri, new TextDecoder().decode(await vscode.workspace.fs.readFile(uri)));
    } catch {
      await this.remove(uri);
    }
  }

  private async closed(uri: vscode.Uri): Promise<void> {
    if (uri.scheme === "untitled") await this.remove(uri);
    else await this.read(uri);
  }

  private async set(uri: vscode.Uri, text: string): Promise<void> {
    const name = nameOf(uri);
    this.uris.set(name, uri);
    await this.language.call("setFile", { name, text });
    this.changed.fire();
  }

  private async remove(uri: vscode.Uri): Promise<void> {
    const name = nameOf(uri);
    if (!this.uris.delete(name)) return;
    await this.language.call("removeFile", { name });
    this.changed.fire();
  }
}

export function isProgram({ languageId }: vscode.TextDocument): boolean {
  return languageId === "prose";
}

/** The path, so that programs import one another by relative paths. One that was never saved has none that ends as those of programs do. */
function nameOf({ path }: vscode.Uri): string {
  const name = path.replace(/^\/+/, "");
  return name.endsWith(".prose") ? name : `${name}.prose`;
}
