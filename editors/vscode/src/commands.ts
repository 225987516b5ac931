// The commands that are not requests to the server.

import { existsSync } from "node:fs";
import { homedir, release } from "node:os";
import * as path from "node:path";
import * as vscode from "vscode";
import type { Server } from "./client";
import { runOnCluster, showCluster } from "./cluster";
import { errorText } from "./error-text";
import { ask, program } from "./program";
import { showReferences } from "./references";
import { report } from "./report";

/** The template of a new program. */
const NEW_PROGRAM = `# Ask for a topic, collect facts, and write a text from them.
input topic: "What the text is about"

agent writer:
  model: sonnet
  prompt: "You write clearly and briefly."

let facts = session "Collect five facts about {topic}"

output text = session: writer
  prompt: "Write a short text about {topic}"
  context: facts
`;

/** Registers the commands. */
export function commands(
  extension: vscode.Extension<unknown>,
  server: Server,
  output: vscode.LogOutputChannel,
  lastLines: () => string[],
): vscode.Disposable[] {
  const folder = extension.extensionPath;
  const register = (name: string, run: (argument?: unknown) => unknown) =>
    vscode.commands.registerCommand(name, async (argument?: unknown) => {
      try {
        return await run(argument);
      } catch (error) {
        // The message explains the reason and the solution.
        void vscode.window.showErrorMessage(errorText(error));
        return undefined;
      }
    });
  return [
    register("prose.restartServer", () => server.restart()),
    register("prose.showOutput", () => output.show()),
    register("prose.newProgram", () => newProgram()),
    register("prose.runProgram", () => runProgram(server)),
    register("prose.runOnCluster", async () => {
      const uri = await programToRun();
      if (uri !== undefined) await runOnCluster(folder, uri);
    }),
    register("prose.showCluster", () => showCluster(folder)),
    register("prose.lock", () => lock(folder, output)),
    register("prose.rename", (argument) => rename(argument as Place)),
    register("prose.runPart", () => runPart()),
    register("prose.showReferences", (argument) => showReferences(argument as Parameters<typeof showReferences>[0])),
    register("prose.openRunFolder", (argument) => openRunFolder(folder, argument)),
    register("prose.debugInformation", async () => {
      const content = await debugInformation(extension, server, lastLines());
      await show({ language: "markdown", content });
    }),
  ];
}

async function show(document: { language: string; content: string }): Promise<vscode.Uri> {
  const shown = await vscode.workspace.openTextDocument(document);
  await vscode.window.showTextDocument(shown);
  return shown.uri;
}

function newProgram(): Promise<vscode.Uri> {
  return show({ language: "prose", content: NEW_PROGRAM });
}

/** Runs the active program, otherwise the open one, otherwise one that the user selects; a new one where there is none. */
async function runProgram(server: Server): Promise<void> {
  const uri = await programToRun();
  if (uri === undefined) return;
  await server.start();
  if (server.client === undefined) return; // It was reported why.
  await vscode.commands.executeCommand("prose.run", { uri: uri.toString() });
}

/** How many programs of the workspace are offered. */
const MAX_OFFERED = 500;

async function programToRun(): Promise<vscode.Uri | undefined> {
  const { activeTextEditor, visibleTextEditors } = vscode.window;
  const editors = [...(activeTextEditor === undefined ? [] : [activeTextEditor]), ...visibleTextEditors];
  const shown = editors.find(({ document }) => isProgram(document))?.document;
  if (shown !== undefined) return shown.uri;
  const open = vscode.workspace.textDocuments.filter(isProgram).map(({ uri }) => uri);
  const [only, ...others] = open;
  if (only !== undefined && others.length === 0) return only;
  const files = open.length > 0 ? open : await vscode.workspace.findFiles("**/*.prose", "**/{node_modules,.*}/**", MAX_OFFERED);
  if (files.length === 0) return newProgram();
  const items: { label: string; uri?: vscode.Uri }[] = files.map((uri) => ({ label: vscode.workspace.asRelativePath(uri), uri }));
  items.sort((a, b) => (a.label < b.label ? -1 : 1));
  const picked = await vscode.window.showQuickPick([...items, { label: "$(add) New Program" }], { placeHolder: "Select the program to run" });
  if (picked === undefined) return undefined;
  if (picked.uri === undefined) return newProgram();
  await vscode.window.showTextDocument(picked.uri);
  return picked.uri;
}

/** Whether a document is a program of the user, as opposed to one that is only shown, such as in a comparison. */
function isProgram({ languageId, uri }: vscode.TextDocument): boolean {
  return languageId === "prose" && (uri.scheme === "file" || uri.scheme === "untitled");
}

interface Place {
  uri: string;
  position: { line: number; character: number };
}

/** Lets the user rename a name that a refactoring generated. The server requests it after the edit. */
async function rename({ uri, position }: Place): Promise<void> {
  const place = new vscode.Position(position.line, position.character);
  await vscode.commands.executeCommand("editor.action.rename", [vscode.Uri.parse(uri), place]);
}

/** Runs the session, the condition, the choice or the block at the cursor with the values of the last run. */
async function runPart(): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (editor?.document.languageId !== "prose") throw new Error("Open the program first: the command applies to the line of the cursor.");
  await vscode.commands.executeCommand("prose.run", {
    uri: editor.document.uri.toString(),
    line: editor.selection.active.line + 1,
  });
}

/** Pins the imports of the programs in a folder. */
async function lock(extension: string, output: vscode.LogOutputChannel): Promise<void> {
  if (!vscode.workspace.isTrusted) {
    throw new Error("Imports of an untrusted workspace are not fetched and cannot be pinned. Trust the workspace first.");
  }
  const folder = folderOfProject();
  const { command } = program(extension);
  const title = "Pinning imported programs";
  const told = await vscode.window.withProgress({ location: vscode.ProgressLocation.Window, title }, () =>
    ask(command, ["lock", "--color", "never"], folder),
  );
  output.info(`prose lock in ${folder}\n${told.trimEnd()}`);
  void vscode.window.showInformationMessage(told.trim().split("\n").at(-1) ?? "", "Show Output").then((choice) => {
    if (choice !== undefined) output.show();
  });
}

/** The open folder; if there are several, the one of the active program; otherwise the folder of that program. */
function folderOfProject(): string {
  const active = activeFile();
  const open = active && vscode.workspace.getWorkspaceFolder(active);
  const folder = open ?? (active === undefined ? vscode.workspace.workspaceFolders?.[0] : undefined);
  if (folder !== undefined) return folder.uri.fsPath;
  if (active !== undefined) return path.dirname(active.fsPath);
  throw new Error("Open a folder or a program first: the command applies to the open folder, or to the folder of the active program.");
}

function activeFile(): vscode.Uri | undefined {
  const uri = vscode.window.activeTextEditor?.document.uri;
  return uri?.scheme === "file" ? uri : undefined;
}

/** A run as `prose runs list --json` describes it. */
interface Run {
  id: string;
  folder: string;
  program: string;
  status: string;
  started: string;
}

/** Shows the files of the given run, or of a run that the user selects. */
async function openRunFolder(extension: string, argument: unknown): Promise<void> {
  const named = (argument as { folder?: unknown } | undefined)?.folder;
  const folder = typeof named === "string" ? named : await pickRun(extension);
  if (folder === undefined) return;
  const uri = vscode.Uri.file(folder);
  // In remote windows, the file manager of the system runs on another machine.
  const reveal = vscode.workspace.getWorkspaceFolder(uri) ? "revealInExplorer" : "revealFileInOS";
  await vscode.commands.executeCommand(reveal, uri);
}

async function pickRun(extension: string): Promise<string | undefined> {
  const start = folderOfProject();
  const active = activeFile();
  const root = nearestWithRuns(active === undefined ? start : path.dirname(active.fsPath)) ?? nearestWithRuns(start);
  if (root === undefined) throw new Error("No program has run here yet: the folder `.prose/runs` does not exist.");
  const runs = JSON.parse(await ask(program(extension).command, ["runs", "list", "--json"], root)) as Run[];
  const items = runs.map((run) => ({ label: run.program, description: `${run.status}, ${run.id}`, folder: run.folder }));
  if (items.length < 2) return items[0]?.folder;
  const placeHolder = "Select a run, latest first";
  return (await vscode.window.showQuickPick(items, { placeHolder, matchOnDescription: true }))?.folder;
}

function nearestWithRuns(folder: string): string | undefined {
  if (existsSync(path.join(folder, ".prose", "runs"))) return folder;
  const above = path.dirname(folder);
  return above === folder ? undefined : nearestWithRuns(above);
}

async function debugInformation(extension: vscode.Extension<unknown>, server: Server, log: string[]): Promise<string> {
  const packageJson = extension.packageJSON as {
    version: string;
    contributes: { configuration: { properties: Record<string, unknown> } };
  };
  const facts: Record<string, string> = {
    extension: packageJson.version,
    // The name of a remote machine can be its address.
    editor: `${vscode.env.appName} ${vscode.version}, ${vscode.env.appHost}${vscode.env.remoteName ? ", remote" : ""}`,
    system: `${process.platform} ${process.arch} ${release()}, Node.js ${process.versions.node}`,
  };
  try {
    const { command, source } = program(extension.extensionPath);
    facts.program = `${command}, from ${source}`;
    facts["version of the program"] = (await ask(command, ["--version"])).trim();
  } catch (error) {
    facts.program = errorText(error);
  }
  facts.server = server.version === undefined ? "not running" : `running, ${server.version}`;
  facts.workspace = `${vscode.workspace.workspaceFolders?.length ?? 0} folders, ${vscode.workspace.isTrusted ? "trusted" : "not trusted"}`;
  const settings: Record<string, unknown> = {};
  for (const name of Object.keys(packageJson.contributes.configuration.properties)) {
    const found = vscode.workspace.getConfiguration().inspect(name);
    const set = found?.workspaceFolderValue ?? found?.workspaceValue ?? found?.globalValue;
    if (set !== undefined) settings[name] = set;
  }
  return report({ facts, settings, log }, homedir());
}
