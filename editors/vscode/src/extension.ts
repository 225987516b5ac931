import { homedir } from "node:os";
import * as vscode from "vscode";
import { LanguageClient, type LanguageClientOptions, State } from "vscode-languageclient/node";
import { experimental, Runs, runSettings } from "./runs";
import { ServerNotFound, serverCommand } from "./server";

let output: vscode.LogOutputChannel;
let runs: Runs;
let client: LanguageClient | undefined;
// Starts and stops happen one after the other, in the order in which they were asked for.
let lifecycle: Promise<void> = Promise.resolve();

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  output = vscode.window.createOutputChannel("OpenProse", { log: true });
  runs = new Runs();
  context.subscriptions.push(
    output,
    runs,
    vscode.commands.registerCommand("prose.restartServer", () => inOrder(restart)),
    vscode.commands.registerCommand("prose.showOutput", () => output.show()),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("prose.server")) void inOrder(restart);
      if (["prose.run", "prose.inlayHints"].some((section) => change.affectsConfiguration(section))) void inOrder(tellSettings);
    }),
    // The settings that a folder was not trusted with count from now on.
    vscode.workspace.onDidGrantWorkspaceTrust(() => void inOrder(restart)),
  );
  await inOrder(start);
}

export async function deactivate(): Promise<void> {
  await inOrder(stop);
}

function inOrder(step: () => Promise<void>): Promise<void> {
  lifecycle = lifecycle.then(step);
  return lifecycle;
}

async function restart(): Promise<void> {
  await stop();
  await start();
}

async function start(): Promise<void> {
  try {
    client = newClient();
    await client.start();
  } catch (error) {
    // The client has not run, so there is nothing to stop.
    client = undefined;
    await report(error);
  }
}

async function tellSettings(): Promise<void> {
  await client?.sendNotification("workspace/didChangeConfiguration", { settings: settings() });
}

async function stop(): Promise<void> {
  const stopping = client;
  client = undefined;
  runs.endAll();
  if (stopping === undefined) return;
  try {
    // One that has crashed for good cannot be stopped, only disposed of.
    if (stopping.state === State.Running) await stopping.stop();
    await stopping.dispose();
  } catch (error) {
    output.warn(`The server did not stop properly: ${String(error)}`);
  }
}

function newClient(): LanguageClient {
  const configuration = vscode.workspace.getConfiguration("prose.server");
  const server = serverCommand(
    {
      path: configuration.get("path", ""),
      logFile: configuration.get("logFile", ""),
      logLevel: configuration.get("logLevel", "trace"),
    },
    {
      env: process.env,
      platform: process.platform,
      home: homedir(),
      workspaceFolder: vscode.workspace.workspaceFolders?.[0]?.uri.fsPath,
    },
  );
  output.info(`Starting ${server.command} ${server.args.join(" ")}`);
  const options: LanguageClientOptions = {
    documentSelector: [
      { language: "prose", scheme: "file" },
      { language: "prose", scheme: "untitled" },
    ],
    outputChannel: output,
    initializationOptions: { ...settings(), experimental },
    middleware: runs.middleware(() => client),
  };
  // The id is also the prefix of the setting `prose.trace.server`.
  const created = new LanguageClient("prose", "OpenProse", server, options);
  runs.attach(created);
  return created;
}

// The server fetches and runs nothing for a workspace that is not trusted.
function settings(): object {
  const inlayHints = vscode.workspace.getConfiguration("prose").get("inlayHints");
  return { trusted: vscode.workspace.isTrusted, run: runSettings(), inlayHints };
}

async function report(error: unknown): Promise<void> {
  const message =
    error instanceof ServerNotFound ? error.message : `The OpenProse server could not be started: ${String(error)}`;
  output.error(message);
  // Not awaited: the message may stay open for ever, and a restart must not wait for it.
  void vscode.window.showErrorMessage(message, "Open Settings", "Show Output").then(async (choice) => {
    if (choice === "Open Settings") {
      await vscode.commands.executeCommand("workbench.action.openSettings", "prose.server.path");
    } else if (choice === "Show Output") {
      output.show();
    }
  });
}
