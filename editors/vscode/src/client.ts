// The server as long as the extension lives: started when there is something to say, started anew, stopped.

import * as vscode from "vscode";
import type { LanguageClient, LanguageClientOptions, Middleware } from "vscode-languageclient/node";
import { linkCodes } from "./explain";
import { serverAsSet } from "./program";
import type { Runs } from "./runs";
import { ServerNotFound } from "./server";
import { serverSettings } from "./settings";
import type { Status } from "./status";

/** The documents that the server is told of. */
const DOCUMENTS = [
  ...["prose", "markdown"].flatMap((language) => [
    { language, scheme: "file" },
    { language, scheme: "untitled" },
  ]),
  // The settings of projects, which it checks as they are written.
  { pattern: "**/prose.toml", scheme: "file" },
];

/** What the server is told that this client can do. */
const experimental = { proseInput: true, proseRunEvents: true, proseRename: true };

export class Server {
  /** Who speaks to it, while it runs. */
  client: LanguageClient | undefined;
  /** Who else wants to know that it is there, or gone. */
  onDidStart: () => void = () => {};
  onDidStop: () => void = () => {};
  private wanted = false;
  // Starts and stops happen one after the other, in the order in which they were asked for.
  private lifecycle: Promise<void> = Promise.resolve();

  constructor(
    private readonly extension: string,
    private readonly output: vscode.LogOutputChannel,
    private readonly runs: Runs,
    private readonly status: Status,
  ) {}

  /** Whether anything has asked for it. */
  get isWanted(): boolean {
    return this.wanted;
  }

  /** The version that it says it is, while it runs. */
  get version(): string | undefined {
    return this.client?.initializeResult?.serverInfo?.version;
  }

  /** Starts it, unless that was done. */
  start(): Promise<void> {
    if (this.wanted) return this.lifecycle;
    this.wanted = true;
    return this.inOrder(() => this.startNow());
  }

  /** Starts it anew with what is set now. */
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

  /** Tells it what is set now. */
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
      // The client has not run, so there is nothing to stop.
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
      // One that has crashed for good cannot be stopped, only disposed of.
      if (stopping.state === State.Running) await stopping.stop();
      await stopping.dispose();
    } catch (error) {
      this.output.warn(`The server did not stop properly: ${String(error)}`);
    }
  }

  private async newClient(): Promise<LanguageClient> {
    const server = serverAsSet(this.extension);
    // Most of what the extension is made of. Windows without a program do without it.
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
    // Not awaited: the message may stay open for ever, and a restart must not wait for it.
    void vscode.window.showErrorMessage(message, "Open Settings", "Show Output").then(async (choice) => {
      if (choice === "Open Settings") {
        await vscode.commands.executeCommand("workbench.action.openSettings", "prose.server.path");
      } else if (choice === "Show Output") {
        this.output.show();
      }
    });
  }
}
