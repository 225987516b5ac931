// Runs in one file: `prose runs export` and `prose runs import`.

import { homedir } from "node:os";
import * as path from "node:path";
import * as vscode from "vscode";
import { errorText } from "../error-text";
import { ask, program } from "../program";
import type { Entry, RunSummary } from "./store";

const FILTERS = { "Exported runs": ["prose-run"] };

/** Writes a run to a file that the user chooses. */
export async function exportRun(extension: string, { run, folder, program: name }: RunSummary): Promise<void> {
  // The folder of the project contains `.prose/runs` with the folder of the run.
  const root = path.dirname(path.dirname(path.dirname(vscode.Uri.parse(folder).fsPath)));
  const proposed = path.join(root, `${path.basename(name ?? run, ".prose")}.prose-run`);
  const file = await vscode.window.showSaveDialog({ defaultUri: vscode.Uri.file(proposed), filters: FILTERS, title: "Export Run" });
  if (file === undefined) return;
  // The dialog has asked whether to replace a file.
  await shown(extension, ["runs", "export", run, file.fsPath, "--force"], root);
}

/** Moves a run of a program that was never saved to the project of the program, which the user saves now. */
export async function saveRun({ run, uri, text, name }: Entry): Promise<void> {
  const program = await savedProgram(uri, text, name);
  if (program === undefined) return;
  // The server knows the program once it is open.
  await vscode.window.showTextDocument(program);
  await vscode.commands.executeCommand("prose.saveRun", { uri: program.toString(), run });
}

/** Saves the open document of a program, or the text that the run has of it. */
async function savedProgram(uri: string | undefined, text: string | undefined, name: string): Promise<vscode.Uri | undefined> {
  const open = vscode.workspace.textDocuments.find((document) => document.isUntitled && document.uri.toString() === uri);
  if (open !== undefined) {
    await vscode.window.showTextDocument(open);
    return vscode.workspace.save(open.uri);
  }
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri ?? vscode.Uri.file(homedir());
  const defaultUri = vscode.Uri.joinPath(folder, `${name.replace(/^untitled:/, "")}.prose`);
  const file = await vscode.window.showSaveDialog({ defaultUri, filters: { OpenProse: ["prose"] }, title: "Save Program and Run" });
  if (file !== undefined) await vscode.workspace.fs.writeFile(file, new TextEncoder().encode(text ?? ""));
  return file;
}

/** Adds the run in a file that the user chooses to the runs of the open folder. */
export async function importRun(extension: string): Promise<void> {
  const root = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  if (root === undefined) {
    void vscode.window.showErrorMessage("Open a folder first: the run is added to its runs.");
    return;
  }
  const [file] = (await vscode.window.showOpenDialog({ filters: FILTERS, title: "Import Run" })) ?? [];
  if (file !== undefined) await shown(extension, ["runs", "import", file.fsPath], root);
}

/** Runs the program and shows what it reports. */
async function shown(extension: string, args: string[], folder: string): Promise<void> {
  try {
    const output = await ask(program(extension).command, [...args, "--color", "never"], folder);
    void vscode.window.showInformationMessage(output.trim());
  } catch (error) {
    void vscode.window.showErrorMessage(errorText(error));
  }
}
