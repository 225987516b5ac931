// The entry point of the extension. It loads little code; the client of the server is loaded with the first program.

import * as vscode from "vscode";
import { Server } from "./client";
import { commands } from "./commands";
import { debugging } from "./debug";
import { explanations } from "./explain";
import { opensFence } from "./fences";
import { remembering } from "./log";
import { surplus } from "./markers";
import { Runs } from "./runs";
import { RunsView } from "./runs/view";
import { Status } from "./status";
import { isTestFile, Testing } from "./testing";

let server: Server | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const { output, lastLines } = remembering(vscode.window.createOutputChannel("OpenProse", { log: true }));
  const runs = new Runs();
  const status = new Status();
  const created = new Server(context.extensionPath, output, runs, status);
  server = created;
  const view = new RunsView(context.extensionUri, () => created.client);
  runs.onView = (told) => view.told(told);
  // The view of runs needs the server, even if no program is open.
  view.onSeen = () => void created.start();
  created.onDidStart = () => view.started();
  created.onDidStop = () => view.stopped();
  const testing = new Testing(context.extensionPath, output);
  created.onTest = (argument) => testing.runNamed(argument);
  context.subscriptions.push(
    output,
    runs,
    view,
    status,
    testing,
    ...commands(context.extension, created, output, lastLines),
    ...explanations(context.extensionPath),
    ...debugging(context.extensionPath),
    vscode.workspace.onDidOpenTextDocument((document) => {
      if (hasProgram(document)) void created.start();
    }),
    vscode.workspace.onDidChangeTextDocument((event) => {
      const { document, contentChanges } = event;
      if (document.languageId === "prose") passMarkers(event);
      if (created.isWanted || !mayHaveFences(document)) return;
      // Only the edited text is checked, to keep typing fast in windows without programs.
      const edited = ({ range, text }: vscode.TextDocumentContentChangeEvent) =>
        opensFence(text.includes("\n") ? text : document.lineAt(range.start.line).text);
      if (contentChanges.some(edited)) void created.start();
    }),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (!change.affectsConfiguration("prose")) return;
      status.settingsChanged();
      if (!created.isWanted) {
        if (vscode.workspace.textDocuments.some(hasProgram)) void created.start();
        return;
      }
      if (change.affectsConfiguration("prose.server")) void created.restart();
      else void created.tellSettings();
    }),
    // The restricted settings of the folder take effect now.
    vscode.workspace.onDidGrantWorkspaceTrust(() => {
      status.settingsChanged();
      if (created.isWanted) void created.restart();
    }),
  );
  if (vscode.workspace.textDocuments.some(hasProgram)) await created.start();
}

export async function deactivate(): Promise<void> {
  await server?.stop();
}

/** Whether the server handles a document. */
function hasProgram(document: vscode.TextDocument): boolean {
  return document.languageId === "prose" || isTestFile(document.uri) || (mayHaveFences(document) && opensFence(document.getText()));
}

function mayHaveFences({ languageId, uri }: vscode.TextDocument): boolean {
  const isOurs = uri.scheme === "file" || uri.scheme === "untitled";
  return languageId === "markdown" && isOurs && vscode.workspace.getConfiguration("prose.markdown").get("enabled", true);
}

/** Removes the markers that the editor inserted after the cursor, once the user types them. */
function passMarkers({ document, contentChanges: [change, other] }: vscode.TextDocumentChangeEvent): void {
  const editor = vscode.window.activeTextEditor;
  if (change === undefined || other !== undefined || change.text.length !== 1 || editor?.document !== document) return;
  const { line, character } = change.range.start;
  const { text } = document.lineAt(line);
  const count = surplus(text.slice(0, character + 1), text.slice(character + 1));
  if (count === 0) return;
  const range = new vscode.Range(line, character + 1, line, character + 1 + count);
  // One undo reverts both this edit and the typed text.
  void editor.edit((edit) => edit.delete(range), { undoStopBefore: false, undoStopAfter: false });
}
