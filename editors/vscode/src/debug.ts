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
        // The configured program, so that the debugger is that of the server. It starts in trusted workspaces only.
        return new vscode.DebugAdapterExecutable(program(extension).command, ["dap", "--trust"], cwd === undefined ? {} : { cwd });
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
  if (!isEmpty) return withHarness(folder, configuration);
  const document = vscode.window.activeTextEditor?.document;
  if (document?.languageId !== "prose") return undefined;
  const name = "Debug program";
  const started = { type: "prose", request: "launch", name, program: document.uri.fsPath, cwd: folder?.uri.fsPath, stopOnEntry: true };
  return withHarness(folder, started);
}

/** A program that is debugged asks the harness that *Run program* asks. */
function withHarness(folder: vscode.WorkspaceFolder | undefined, configuration: vscode.DebugConfiguration): vscode.DebugConfiguration {
  const harness = vscode.workspace.getConfiguration("prose.run", folder?.uri).get("harness", "");
  const isChosen = [configuration.harness, configuration.script, configuration.run].some((value) => value !== undefined);
  return configuration.request !== "launch" || harness === "" || isChosen ? configuration : { ...configuration, harness };
}

/** Debugs a program: the given one, or the one in the active editor. Unsaved changes are saved first, since the debugger reads the file. */
async function debugProgram(argument: { uri?: string } | vscode.Uri | undefined): Promise<void> {
  const given = argument instanceof vscode.Uri ? argument : argument?.uri === undefined ? undefined : vscode.Uri.parse(argument.uri);
  const uri = given ?? vscode.window.activeTextEditor?.document.uri;
  if (uri === undefined || uri.scheme !== "file") {
    void vscode.window.showErrorMessage("Open a saved program first.");
    return;
  }
  const file = uri.with({ fragment: "" }).toString();
  const open = vscode.workspace.textDocuments.find((document) => document.uri.toString() === file);
  if (open?.isDirty && !(await open.save())) return;
  const folder = vscode.workspace.getWorkspaceFolder(uri);
  const stopOnEntry = !vscode.debug.breakpoints.some(stopsPrograms);
  await vscode.debug.startDebugging(folder, {
    type: "prose",
    request: "launch",
    name: `Debug ${path.basename(uri.fsPath)}`,
    // A program in a document is named by its number.
    program: uri.fragment === "" ? uri.fsPath : `${uri.fsPath}#${uri.fragment}`,
    stopOnEntry,
  });
}

/** Whether a breakpoint can be one of a program. */
function stopsPrograms(breakpoint: vscode.Breakpoint): boolean {
  return breakpoint.enabled && !(breakpoint instanceof vscode.SourceBreakpoint && !/\.(prose|md)$/.test(breakpoint.location.uri.path));
}

/** Debugs a run: one that has ended step by step, without asking anything, and one that works where it is. */
export async function debugRun({ run, folder, program: name }: { run: string; folder: string; program: string | null }): Promise<void> {
  // The folder of the project contains `.prose/runs` with the folder of the run.
  const cwd = path.dirname(path.dirname(path.dirname(vscode.Uri.parse(folder).fsPath)));
  const title = `Run of ${path.basename(name ?? run)}`;
  await vscode.debug.startDebugging(vscode.workspace.getWorkspaceFolder(vscode.Uri.file(cwd)), { type: "prose", request: "attach", name: title, run, cwd });
}
