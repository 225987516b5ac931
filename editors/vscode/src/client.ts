// The lifecycle of the server: started for the first program, restarted, stopped.

import * as vscode from "vscode";
import type { LanguageClient, LanguageClientOptions, Middleware } from "vscode-languageclient/node";
import { linkCodes } from "./explain";
import { serverAsSet } from "./program";
import type { Runs } from "./runs";
import { ServerNotFound } from "./server";
import { serverSettings } from "./settings";
import type { Status } from "./status";

/** The documents that are sent to the server. */
const DOCUMENTS = [
  ...["prose", "markdown"].flatMap((language) => [
    { language, scheme: "file" },
    { language, scheme: "untitled" },
  ]),
  // The settings files of projects, which the server checks too.
  { pattern: "**/prose.toml", scheme: "file" },
  // Test files, with their mistakes and lenses.
  { pattern: "**/*.test.toml", scheme: "file" },
];

/** The extensions of the protocol that this client announces. */
const experimental = {
  proseInput: true,
  proseRunViews: true,
  proseRunEnds: true,
  proseRename: true,
  proseReplies: true,
  proseReferences: true,
  proseDebug: true,
};

export class Server {
  /** The client of the running server. */
  client: LanguageClient | undefined;
  /** Notified when the server starts and stops. */
  onDidStart: () => void = () => {};
  onDidStop: () => void = () => {};
  /** Runs the tests that a lens names, in the Testing view. */
  onTest: (argument: { uri: string; name?: string }) => Promise<void> = async () => {};
  private wanted = false;
  // Starts and stops run one after another, in the order of the requests.
  private lifecycle: Promise<void> = Promise.resolve();

  constructor(
    private readonly extension: string,
    private readonly output: vscode.LogOutputChannel,
    private readonly runs: Runs,
    private readonly status: Status,
  ) {}

  /** Whether a start was requested. */
  get isWanted(): boolean {
    return this.wanted;
  }

  /** The version that the running server reports. */
  get version(): string | undefined {
    return this.client?.initializeResult?.serverInfo?.version;
  }

  /** Starts the server, unless it was started. */
  start(): Promise<void> {
    if (this.wanted) return this.lifecycle;
    this.wanted = true;
    return this.inOrder(() => this.startNow());
  }

  /** Restarts the server with the current settings. */
  restart(): Promise<void> {
    this.wanted = true;
    return this.inOrder(async () => {
      await this.stopNow();
      await this.startNow();
    });
  }

  stop(): Promise<void> {
    return this.inOrder(() => this.stopNow());
  }

  /** Sends the current settings to the server. */
  tellSettings(): Promise<void> {
    return this.inOrder(async () => {
      await this.client?.sendNotification("workspace/didChangeConfiguration", { settings: serverSettings() });
    });
  }

  private inOrder(step: () => Promise<void>): Promise<void> {
    this.lifecycle = this.lifecycle.then(step);
    return this.lifecycle;
  }

  private async startNow(): Promise<void> {
    this.status.starting();
    try {
      const client = await this.newClient();
      this.client = client;
      await client.start();
      this.onDidStart();
    } catch (error) {
      // The client never ran, so there is nothing to stop.
      this.client = undefined;
      this.report(error);
    }
  }

  private async stopNow(): Promise<void> {
    const stopping = this.client;
    this.client = undefined;
    this.runs.endAll();
    this.onDidStop();
    if (stopping === undefined) return;
    try {
      const { State } = await import("vscode-languageclient/node");
      // A client that gave up after crashes cannot be stopped, only disposed.
      if (stopping.state === State.Running) await stopping.stop();
      await stopping.dispose();
    } catch (error) {
      this.output.warn(`The server did not stop properly: ${String(error)}`);
    }
  }

  private async newClient(): Promise<LanguageClient> {
    const server = serverAsSet(this.extension);
    // Most of the code of the extension. Windows without programs do not load it.
    const { LanguageClient, State } = await import("vscode-languageclient/node");
    this.output.info(`Starting ${server.command} ${server.args.join(" ")}, from ${server.source}`);
    const options: LanguageClientOptions = {
      documentSelector: DOCUMENTS,
      outputChannel: this.output,
      initializationOptions: { ...serverSettings(), experimental },
      middleware: this.middleware(),
    };
    // The id is also the prefix of the setting `prose.trace.server`.
    const client = new LanguageClient("prose", "OpenProse", server, options);
    client.onDidChangeState(({ newState }) => {
      if (newState === State.Starting) this.status.starting();
      else if (newState === State.Stopped) this.status.stopped();
      else this.status.running(client.initializeResult?.serverInfo?.version, `from ${server.source}`);
    });
    this.runs.attach(client);
    return client;
  }

  private middleware(): Middleware {
    const ofRuns = this.runs.middleware(() => this.client);
    return {
      ...ofRuns,
      executeCommand: (command, args, next) => {
        if (command === "prose.test") return this.onTest(args[0] as { uri: string; name?: string });
        return ofRuns.executeCommand?.(command, args, next);
      },
      handleDiagnostics: (uri, diagnostics, next) => next(uri, linkCodes(diagnostics)),
      provideDiagnostics: async (document, previous, token, next) => {
        const found = await next(document, previous, token);
        if (found !== null && found !== undefined && "items" in found) linkCodes(found.items);
        return found;
      },
      handleWorkDoneProgress: (token, params, next) => {
        if (String(token).startsWith("fetching-")) {
          this.status.fetching(params.kind === "end" ? undefined : (params.message ?? ""));
        }
        ofRuns.handleWorkDoneProgress?.(token, params, next);
      },
    };
  }

  private report(error: unknown): void {
    const message =
      error instanceof ServerNotFound ? error.message : `The OpenProse server could not be started: ${String(error)}`;
    this.output.error(message);
    this.status.failed(message);
    // Not awaited: the message may stay open forever, and a restart must not wait for it.
    void vscode.window.showErrorMessage(message, "Open Settings", "Show Output").then(async (choice) => {
      if (choice === "Open Settings") {
        await vscode.commands.executeCommand("workbench.action.openSettings", "prose.server.path");
      } else if (choice === "Show Output") {
        this.output.show();
      }
    });
  }
}
