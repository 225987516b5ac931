// The entry point of the extension. It loads little code; the client of the server is loaded with the first program.

import * as vscode from "vscode";
import { Server } from "./client";
import { commands } from "./commands";
import { debugging } from "./debug";
import { descriptions } from "./description";
import { explanations } from "./explain";
import { opensFence } from "./fences";
import { FlowPanel } from "./flow";
import { remembering } from "./log";
import { PromptPreview } from "./preview";
import { Runs } from "./runs";
import { RunsView } from "./runs/view";
import { type Harness, Status } from "./status";
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
  created.onDidStart = () => {
    view.started();
    flow.refresh();
    void status.programChanged();
  };
  status.harnessOf = async (program) => created.client?.sendRequest<Harness | null>("prose/harness", { textDocument: { uri: program.toString() } });
  created.onDidStop = () => view.stopped();
  const flow = new FlowPanel(vscode.Uri.joinPath(context.extensionUri, "dist"), () => created.client);
  const testing = new Testing(context.extensionPath, output);
  created.onTest = (argument) => testing.runNamed(argument);
  context.subscriptions.push(
    output,
    runs,
    view,
    flow,
    status,
    testing,
    new PromptPreview(() => created.client),
    ...commands(context.extension, created, output, lastLines),
    ...descriptions(() => created.client),
    ...explanations(context.extensionPath),
    ...debugging(context.extensionPath),
    vscode.workspace.onDidOpenTextDocument((document) => {
      if (hasProgram(document)) void created.start();
    }),
    vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
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
    vscode.window.onDidChangeActiveTextEditor(() => void status.programChanged()),
    vscode.workspace.onDidSaveTextDocument(({ uri }) => {
      if (uri.path.endsWith("/prose.toml")) void status.programChanged();
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
