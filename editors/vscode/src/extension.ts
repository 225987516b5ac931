// What the editor starts with. It loads little: the server and all that speaks to it wait for a program.

import * as vscode from "vscode";
import { clauseIndentation, endsInText } from "./clauses";
import { Server } from "./client";
import { commands } from "./commands";
import { explanations } from "./explain";
import { opensFence } from "./fences";
import { remembering } from "./log";
import { Runs } from "./runs";
import { PROGRAMS, Status } from "./status";

let server: Server | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const { output, lastLines } = remembering(vscode.window.createOutputChannel("OpenProse", { log: true }));
  const runs = new Runs();
  const status = new Status();
  const created = new Server(context.extensionPath, output, runs, status);
  server = created;
  context.subscriptions.push(
    output,
    runs,
    status,
    ...commands(context.extension, created, output, lastLines),
    ...explanations(context.extensionPath),
    vscode.languages.registerOnTypeFormattingEditProvider(PROGRAMS, { provideOnTypeFormattingEdits }, ":", " "),
    vscode.workspace.onDidOpenTextDocument((document) => {
      if (hasProgram(document)) void created.start();
    }),
    vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
      if (created.isWanted || !mayHaveFences(document)) return;
      // Only what was edited is looked at, which is what it costs to type in a window without programs.
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
    // The settings that a folder was not trusted with count from now on.
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

/** Whether the server has something to say of a document. */
function hasProgram(document: vscode.TextDocument): boolean {
  return document.languageId === "prose" || (mayHaveFences(document) && opensFence(document.getText()));
}

function mayHaveFences({ languageId, uri }: vscode.TextDocument): boolean {
  const isOurs = uri.scheme === "file" || uri.scheme === "untitled";
  return languageId === "markdown" && isOurs && vscode.workspace.getConfiguration("prose.markdown").get("enabled", true);
}

/** Puts a clause such as `else` or `option` where it belongs, as soon as it can be told for one. */
function provideOnTypeFormattingEdits(
  document: vscode.TextDocument,
  { line }: vscode.Position,
  _typed: string,
  { tabSize }: vscode.FormattingOptions,
): vscode.TextEdit[] {
  function* above() {
    for (let at = line - 1; at >= 0; at--) yield document.lineAt(at).text;
  }
  const { text, firstNonWhitespaceCharacterIndex: end } = document.lineAt(line);
  const wanted = clauseIndentation(text, above(), tabSize);
  if (wanted === undefined || endsInText(document.getText(new vscode.Range(0, 0, line, 0)))) return [];
  return [vscode.TextEdit.replace(new vscode.Range(line, 0, line, end), " ".repeat(wanted))];
}
