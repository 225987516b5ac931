// Runs on the workers of a cluster. `prose run --on` follows them in a terminal, with the same screen as there: it asks for inputs, and pauses and stops
// the run. A run continues on the cluster when its terminal is closed.

import * as path from "node:path";
import * as vscode from "vscode";
import { program } from "./program";

/** Runs a program on the cluster of the settings. */
export async function runOnCluster(extension: string, uri: vscode.Uri): Promise<void> {
  const document = await vscode.workspace.openTextDocument(uri);
  if (document.isUntitled) throw new Error("Save the program first: workers receive it with what it imports and the settings of its project.");
  if (document.isDirty && !(await document.save())) throw new Error(`${path.basename(uri.fsPath)} could not be saved, so it was not run.`);
  const folder = vscode.workspace.getWorkspaceFolder(uri) ?? vscode.TaskScope.Workspace;
  await start(extension, folder, `Run ${path.basename(uri.fsPath)} on cluster`, ["run", uri.fsPath], path.dirname(uri.fsPath));
}

/** Shows the runs of the cluster of the settings. */
export async function showCluster(extension: string): Promise<void> {
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  await start(extension, folder ?? vscode.TaskScope.Workspace, "Runs of the cluster", ["top"], folder?.uri.fsPath);
}

async function start(extension: string, scope: vscode.WorkspaceFolder | vscode.TaskScope.Workspace, name: string, args: string[], cwd: string | undefined): Promise<void> {
  if (!vscode.workspace.isTrusted) throw new Error("Programs of an untrusted workspace are not run. Trust the workspace first.");
  const url = vscode.workspace.getConfiguration("prose.cluster").get("url", "").trim();
  // The address may hold a password, which the list of processes would show.
  const env = url === "" ? undefined : { OPENPROSE_POSTGRES_URL: url };
  const { command } = program(extension);
  const execution = new vscode.ProcessExecution(command, [...args, "--on", "-"], { env, cwd });
  const task = new vscode.Task({ type: "process" }, scope, name, "prose", execution, []);
  task.presentationOptions = { reveal: vscode.TaskRevealKind.Always, panel: vscode.TaskPanelKind.New, focus: true, echo: false };
  await vscode.tasks.executeTask(task);
}
