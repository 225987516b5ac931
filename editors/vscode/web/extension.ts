// The entry point of the extension in Visual Studio Code for the Web. There are no processes, so the language is a WebAssembly module in the worker
// of the extension: it knows the programs of the workspace, and runs them with generated replies or with those of a script.

import * as vscode from "vscode";
import { instantiate } from "../../playground/src/module";
import { Restarting } from "../../playground/src/restarting";
import { Diagnostics } from "./diagnostics";
import { features } from "./features";
import { Programs } from "./programs";
import { Runs } from "./runs";

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const output = vscode.window.createOutputChannel("OpenProse", { log: true });
  const dist = vscode.Uri.joinPath(context.extensionUri, "dist");
  const module = vscode.workspace.fs.readFile(vscode.Uri.joinPath(dist, "prose_web.wasm")).then((bytes) => WebAssembly.compile(Uint8Array.from(bytes)));
  const language = new Restarting(
    async () => instantiate(await module, (line) => output.error(line)),
    () => {
      output.warn("The language module has stopped unexpectedly; it was started again.");
      runs.lost();
    },
  );
  const programs = new Programs(language);
  const diagnostics = new Diagnostics(language, programs);
  const runs = new Runs(language, programs, dist, output);
  context.subscriptions.push(
    output,
    programs,
    diagnostics,
    runs,
    ...features(language, programs),
    vscode.commands.registerCommand("prose.runProgram", () => runs.start("offline")),
    vscode.commands.registerCommand("prose.runWithScript", () => runs.start("script")),
    vscode.commands.registerCommand("prose.cancel", () => runs.stop()),
  );
  await programs.load();
}
