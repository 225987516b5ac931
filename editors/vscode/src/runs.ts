// Runs of programs in the editor: commands, inputs, progress and messages.

import * as vscode from "vscode";
import type { LanguageClient, Middleware } from "vscode-languageclient/node";
import { type DryRun, type InputQuestion, narrated, promptsAsText, type RunView } from "./narration";

const COMMANDS = ["prose.run", "prose.dryRun", "prose.resume", "prose.cancel", "prose.pause", "prose.continue", "prose.skip", "prose.retry", "prose.fork"];

/** The progress of runs, with a button to stop them. The default progress of the client has no button. */
interface Shown {
  report(message: string | undefined): void;
  end(): void;
}

/** Connects the editor to runs. */
export class Runs implements vscode.Disposable {
  private readonly output = vscode.window.createOutputChannel("OpenProse Runs");
  private readonly shown = new Map<string | number, Shown>();
  /** Receives the views of runs. */
  onView: (view: RunView) => void = () => {};

  dispose(): void {
    this.output.dispose();
    this.endAll();
  }

  /** Removes the progress of runs whose server has stopped. */
  endAll(): void {
    for (const shown of this.shown.values()) shown.end();
    this.shown.clear();
  }

  /** Subscribes to a server before it starts. */
  attach(client: LanguageClient): void {
    client.onRequest("prose/input", (question: InputQuestion, token: vscode.CancellationToken) => ask(question, token));
    client.onNotification("prose/runView", (view: RunView) => {
      for (const line of narrated(view)) this.output.appendLine(line);
      this.onView(view);
    });
  }

  middleware(client: () => LanguageClient | undefined): Middleware {
    return {
      executeCommand: (command, args, next) => {
        if (!COMMANDS.includes(command)) return next(command, args);
        // By default, the client shows each refusal as a failed request.
        const request: Request = (command, argument) =>
          client()?.sendRequest("workspace/executeCommand", { command, arguments: [argument] });
        return fromPalette(command, args, (argument) => execute(command, argument, request));
      },
      handleWorkDoneProgress: (token, params, next) => {
        if (!String(token).startsWith("run-")) return next(token, params);
        if (params.kind === "begin") {
          const stop = () => void client()?.sendNotification("window/workDoneProgress/cancel", { token });
          this.shown.set(token, show(params.title, stop));
        } else if (params.kind === "report") {
          this.shown.get(token)?.report(params.message);
        } else {
          this.shown.get(token)?.end();
          this.shown.delete(token);
        }
      },
    };
  }
}

function show(title: string, stop: () => void): Shown {
  let report: Shown["report"] = () => {};
  let end: Shown["end"] = () => {};
  const ended = new Promise<void>((resolve) => (end = resolve));
  const options = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
  void vscode.window.withProgress(options, (progress, token) => {
    token.onCancellationRequested(stop);
    report = (message) => progress.report({ message });
    return ended;
  });
  return { report: (message) => report(message), end };
}

interface Argument {
  uri?: string;
  /** A run is known by its id alone. */
  run?: string;
  acceptChanges?: boolean;
  /** The line of a fork. */
  line?: number;
  /** Whether the user has confirmed a fork. */
  confirmed?: boolean;
}

type Request = (command: string, argument: Argument) => unknown;

/** What a fork reuses and asks: the result of `prose.planFork`. */
interface ForkPlan {
  title: string;
  details: string[];
  notes: string[];
}

function isArgument(given: unknown): given is Argument {
  return typeof given === "object" && given !== null && ("uri" in given || "run" in given);
}

/** Without the arguments of a lens, as from the palette, a command applies to the program in the active editor. */
async function fromPalette(command: string, args: unknown[], run: (argument: Argument) => Promise<unknown>): Promise<unknown> {
  const [given] = args;
  if (isArgument(given)) return run(given);
  const editor = vscode.window.activeTextEditor;
  if (editor?.document.languageId === "prose") {
    // A fork starts at the statement of the cursor.
    const place = command === "prose.fork" ? { line: editor.selection.active.line + 1 } : {};
    return run({ uri: editor.document.uri.toString(), ...place });
  }
  void vscode.window.showErrorMessage("Open the program first: the command applies to the active editor.");
  return undefined;
}

const RESUME_ANYWAY = "Resume Anyway";

/** Executes a command on the server. */
async function execute(command: string, argument: Argument, request: Request): Promise<unknown> {
  try {
    if (command === "prose.fork" && !argument.confirmed) {
      const plan = (await request("prose.planFork", argument)) as ForkPlan;
      return (await isConfirmed(plan)) ? await execute(command, { ...argument, confirmed: true }, request) : undefined;
    }
    const result = await request(command, argument);
    if (command === "prose.dryRun" && result) {
      const name = vscode.Uri.parse(argument.uri ?? "").path.split("/").at(-1) ?? "";
      const content = promptsAsText(name, result as DryRun);
      const document = await vscode.workspace.openTextDocument({ language: "markdown", content });
      await vscode.window.showTextDocument(document, { preview: true });
    }
    return result;
  } catch (error) {
    // The message of the server explains the reason and the solution.
    const message = error instanceof Error ? error.message : String(error);
    const canAccept = command === "prose.resume" && !argument.acceptChanges && message.includes("`acceptChanges`");
    const chosen = await vscode.window.showErrorMessage(message, ...(canAccept ? [RESUME_ANYWAY] : []));
    return chosen === RESUME_ANYWAY ? execute(command, { ...argument, acceptChanges: true }, request) : undefined;
  }
}

const START = "Start";

/** Shows what a fork reuses and asks, and whether the user starts it. */
async function isConfirmed({ title, details, notes }: ForkPlan): Promise<boolean> {
  const detail = [...details, ...notes.map((note) => `Note: ${note}`)].join("\n");
  return (await vscode.window.showInformationMessage(title, { modal: true, detail }, START)) === START;
}

async function ask(
  { name, prompt, optional, choices = [], problem }: InputQuestion,
  token: vscode.CancellationToken,
): Promise<{ value: string } | null> {
  const title = name ?? "Input";
  if (choices.length > 0) {
    const items = choices.map(({ value, title }) => ({ label: title, value }));
    const options = { title, placeHolder: problem ?? prompt, ignoreFocusOut: true };
    const picked = await vscode.window.showQuickPick(items, options, token);
    return picked === undefined ? null : { value: picked.value };
  }
  const value = await vscode.window.showInputBox(
    {
      title,
      prompt: optional ? `${prompt} (leave empty for none)` : prompt,
      ignoreFocusOut: true,
      validateInput: (value) => (optional || value.trim() !== "" ? undefined : "This input is required."),
    },
    token,
  );
  return value === undefined || value.trim() === "" ? null : { value };
}
