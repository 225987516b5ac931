// Runs of programs in the editor: commands, inputs, progress and messages.

import * as vscode from "vscode";
import type { LanguageClient, Middleware } from "vscode-languageclient/node";
import { errorText } from "./error-text";
import { type DryRun, type InputQuestion, narrated, promptsAsText, type RunView } from "./narration";

const COMMANDS = ["prose.run", "prose.dryRun", "prose.resume", "prose.cancel", "prose.pause", "prose.continue", "prose.skip", "prose.retry", "prose.fork", "prose.saveRun"];

/** The scheme of the documents with the prompts of dry runs. */
const PROMPTS = "prose-prompts";

/** The end of a run: `prose/runEnded`. */
interface RunEnded {
  run: string;
  uri: string;
  /** 1 for an error, 2 for a warning, 3 for information. */
  type: 1 | 2 | 3;
  message: string;
  canResume: boolean;
  /** The limit that the run has stopped at, as `prose.resume` raises it. */
  raise: keyof typeof UNITS | null;
}

/** What the limits of a run count, by the keys of `prose.resume`. */
const UNITS = { maxCost: "US dollars", maxTokens: "tokens", maxSessions: "sessions" };

/** Connects the editor to runs. */
export class Runs implements vscode.Disposable {
  private readonly output = vscode.window.createOutputChannel("OpenProse Runs");
  /** The items of the status bar, by the tokens of their progress. */
  private readonly shown = new Map<string | number, vscode.StatusBarItem>();
  /** The prompts of dry runs by the names of their documents. */
  private readonly prompts = new Map<string, string>();
  private readonly promptsChanged = new vscode.EventEmitter<vscode.Uri>();
  private readonly provider: vscode.Disposable;
  /** Receives the views of runs. */
  onView: (view: RunView) => void = () => {};

  constructor() {
    this.provider = vscode.workspace.registerTextDocumentContentProvider(PROMPTS, {
      onDidChange: this.promptsChanged.event,
      provideTextDocumentContent: (uri) => this.prompts.get(uri.toString()) ?? "The dry run was shown in another window. Start it again.\n",
    });
  }

  dispose(): void {
    this.output.dispose();
    this.provider.dispose();
    this.promptsChanged.dispose();
    this.endAll();
  }

  /** Removes the progress of runs whose server has stopped. */
  endAll(): void {
    for (const shown of this.shown.values()) shown.dispose();
    this.shown.clear();
  }

  /** Subscribes to a server before it starts. */
  attach(client: LanguageClient): void {
    client.onRequest("prose/input", (question: InputQuestion, token: vscode.CancellationToken) => ask(question, token));
    client.onNotification("prose/runView", (view: RunView) => {
      for (const line of narrated(view)) this.output.appendLine(line);
      this.onView(view);
    });
    client.onNotification("prose/runEnded", (ended: RunEnded) => void reportEnd(ended));
  }

  middleware(client: () => LanguageClient | undefined): Middleware {
    return {
      executeCommand: (command, args, next) => {
        if (!COMMANDS.includes(command)) return next(command, args);
        // By default, the client shows each refusal as a failed request.
        const request: Request = (command, argument) =>
          client()?.sendRequest("workspace/executeCommand", { command, arguments: [argument] });
        return fromPalette(command, args, (argument) => this.execute(command, argument, request));
      },
      handleWorkDoneProgress: (token, params, next) => {
        if (!String(token).startsWith("run-")) return next(token, params);
        if (params.kind === "end") {
          this.shown.get(token)?.dispose();
          this.shown.delete(token);
          return;
        }
        const run = String(token).slice("run-".length);
        if (params.kind === "begin") this.shown.set(token, statusOf(run, params.title));
        const shown = this.shown.get(token);
        if (shown === undefined) return;
        shown.tooltip = tipOf(run, shown.name ?? "", params.message);
        // What the run may use, with which it begins, has no place in the bar.
        const state = params.kind === "begin" ? "" : firstPart(params.message);
        shown.text = [`$(sync~spin) ${shown.name ?? ""}`, state].filter(Boolean).join(": ");
        shown.show();
      },
    };
  }

  /** Executes a command on the server. */
  private async execute(command: string, argument: Argument, request: Request): Promise<unknown> {
    try {
      if (command === "prose.fork" && !argument.confirmed) {
        const plan = (await request("prose.planFork", argument)) as ForkPlan;
        return (await isConfirmed(plan)) ? await this.execute(command, { ...argument, confirmed: true }, request) : undefined;
      }
      const result = await request(command, argument);
      if (command === "prose.dryRun" && result) await this.showPrompts(argument.uri ?? "", result as DryRun);
      return result;
    } catch (error) {
      // The message of the server explains the reason and the solution.
      const message = errorText(error);
      const canAccept = command === "prose.resume" && !argument.acceptChanges && message.includes("`acceptChanges`");
      const chosen = await vscode.window.showErrorMessage(message, ...(canAccept ? [RESUME_ANYWAY] : []));
      return chosen === RESUME_ANYWAY ? this.execute(command, { ...argument, acceptChanges: true }, request) : undefined;
    }
  }

  /** Shows the prompts of a dry run in a document that cannot be edited and need not be saved; the next dry run of the program replaces them. */
  private async showPrompts(program: string, dryRun: DryRun): Promise<void> {
    const name = vscode.Uri.parse(program).path.split("/").at(-1) ?? "";
    const uri = vscode.Uri.from({ scheme: PROMPTS, path: `/Prompts of ${name}.md`, query: program });
    this.prompts.set(uri.toString(), promptsAsText(name, dryRun));
    this.promptsChanged.fire(uri);
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.window.showTextDocument(document, { preview: true });
  }
}

const SHOW_RUN = "Show Run";
const RESUME = "Resume";
const RAISE_LIMIT = "Raise the Limit…";
const SAVE_RUN = "Save Run";

/** Reports the end of a run. A message with buttons is not cut off. */
async function reportEnd({ run, uri, type, message, canResume, raise }: RunEnded): Promise<void> {
  const isUnsaved = uri.startsWith("untitled:");
  // Without another limit, the run would stop again.
  const resume = raise ? RAISE_LIMIT : RESUME;
  const buttons = [SHOW_RUN, ...(canResume ? [resume] : []), ...(isUnsaved ? [SAVE_RUN] : [])];
  const { showErrorMessage, showInformationMessage, showWarningMessage } = vscode.window;
  const show = { 1: showErrorMessage, 2: showWarningMessage, 3: showInformationMessage }[type];
  const chosen = await show(message, ...buttons);
  if (chosen === SHOW_RUN) await vscode.commands.executeCommand("prose.runs.show", { run });
  else if (chosen === SAVE_RUN) await vscode.commands.executeCommand("prose.runs.save", { run });
  else if (chosen === RESUME) await vscode.commands.executeCommand("prose.resume", { uri, run });
  else if (chosen === RAISE_LIMIT && raise) await resumeWithLimit(uri, run, raise);
}

/** Resumes a run that has stopped at a limit with the one that the user enters. */
async function resumeWithLimit(uri: string, run: string, raise: keyof typeof UNITS): Promise<void> {
  const pattern = raise === "maxCost" ? /^\d+(\.\d+)?$/ : /^\d+$/;
  const limit = await vscode.window.showInputBox({
    title: "Resume with Another Limit",
    prompt: `The limit of the whole run in ${UNITS[raise]}, with what it has used`,
    ignoreFocusOut: true,
    validateInput: (text) => (pattern.test(text.trim()) ? undefined : `Enter a number of ${UNITS[raise]}`),
  });
  if (limit !== undefined) await vscode.commands.executeCommand("prose.resume", { uri, run, [raise]: Number(limit) });
}

/** The item of the status bar for a run: it shows the run, and its tooltip stops it. */
function statusOf(run: string, title: string): vscode.StatusBarItem {
  const created = vscode.window.createStatusBarItem(`prose.run.${run}`, vscode.StatusBarAlignment.Left);
  // The server says `Running review.prose`.
  created.name = title.replace(/^Running /, "");
  created.command = { title: SHOW_RUN, command: "prose.runs.show", arguments: [{ run }] };
  return created;
}

function tipOf(run: string, name: string, message: string | undefined): vscode.MarkdownString {
  const tip = new vscode.MarkdownString();
  tip.isTrusted = { enabledCommands: ["prose.runs.show", "prose.cancel"] };
  tip.appendText([`Running ${name}`, message].filter(Boolean).join(": "));
  const link = (title: string, command: string): string => `[${title}](command:${command}?${encodeURIComponent(JSON.stringify([{ run }]))})`;
  tip.appendMarkdown(`\n\n${link(SHOW_RUN, "prose.runs.show")} · ${link("Stop", "prose.cancel")}`);
  return tip;
}

/** The numbers of sessions, which come first in a message of progress. */
function firstPart(message: string | undefined): string {
  const [first = ""] = (message ?? "").split(/[,:;] /, 1);
  return first;
}

interface Argument {
  uri?: string;
  /** A run is known by its id alone. */
  run?: string;
  acceptChanges?: boolean;
  /** The line of a fork, or of the part to run. */
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
