// Starts the debugger: `prose dap`, for programs and for runs.

import * as path from "node:path";
import * as vscode from "vscode";
import { program } from "./program";

/** Registers the debug type `prose` and its command. */
export function debugging(extension: string): vscode.Disposable[] {
  return [
    vscode.debug.registerDebugAdapterDescriptorFactory("prose", {
      createDebugAdapterDescriptor({ workspaceFolder, configuration }) {
        const cwd = folderOf(workspaceFolder, configuration);
        // The configured program, so that the debugger is that of the server.
        return new vscode.DebugAdapterExecutable(program(extension).command, ["dap"], cwd === undefined ? {} : { cwd });
      },
    }),
    vscode.debug.registerDebugConfigurationProvider("prose", { resolveDebugConfiguration: resolved }),
    vscode.commands.registerCommand("prose.debugProgram", (argument?: { uri?: string } | vscode.Uri) => debugProgram(argument)),
  ];
}

function folderOf(folder: vscode.WorkspaceFolder | undefined, configuration: vscode.DebugConfiguration): string | undefined {
  if (folder !== undefined) return folder.uri.fsPath;
  const named: unknown = configuration.program;
  return typeof named === "string" && path.isAbsolute(named) ? path.dirname(named) : undefined;
}

/** Completes a configuration. Without one, the program in the active editor is debugged. */
function resolved(
  folder: vscode.WorkspaceFolder | undefined,
  configuration: vscode.DebugConfiguration,
): vscode.DebugConfiguration | undefined {
  if (!vscode.workspace.isTrusted) {
    void vscode.window.showErrorMessage("Programs of an untrusted workspace do not run. Trust the workspace first.");
    return undefined;
  }
  const isEmpty = configuration.type === undefined || configuration.type === "";
  if (!isEmpty) return configuration;
  const document = vscode.window.activeTextEditor?.document;
  if (document?.languageId !== "prose") return undefined;
  const name = "Debug program";
  return { type: "prose", request: "launch", name, program: document.uri.fsPath, cwd: folder?.uri.fsPath, stopOnEntry: true };
}

/** Debugs a program: the given one, or the one in the active editor. Unsaved changes are saved first, since the debugger reads the file. */
async function debugProgram(argument: { uri?: string } | vscode.Uri | undefined): Promise<void> {
  const given = argument instanceof vscode.Uri ? argument : argument?.uri === undefined ? undefined : vscode.Uri.parse(argument.uri);
  const uri = given ?? vscode.window.activeTextEditor?.document.uri;
  if (uri === undefined || uri.scheme !== "file") {
    void vscode.window.showErrorMessage("Open a saved program first.");
    return;
  }
  const open = vscode.workspace.textDocuments.find((document) => document.uri.toString() === uri.toString());
  if (open?.isDirty && !(await open.save())) return;
  const folder = vscode.workspace.getWorkspaceFolder(uri);
  const stopOnEntry = !vscode.debug.breakpoints.some((breakpoint) => breakpoint.enabled);
  await vscode.debug.startDebugging(folder, {
    type: "prose",
    request: "launch",
    name: `Debug ${path.basename(uri.fsPath)}`,
    program: uri.fsPath,
    stopOnEntry,
  });
}
