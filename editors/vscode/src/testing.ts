// The Testing view: the cases of test files, with their results, coverage and debugging. `prose test` finds and runs them.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import * as vscode from "vscode";
import { errorText } from "./error-text";
import { program } from "./program";
import {
  type Attempt,
  branchesOf,
  calls,
  type CoveredFile,
  type Debugged,
  duration,
  type Ended,
  firstFailure,
  lineReader,
  type ListedFile,
  type Place,
  type Selected,
  type TestEvent,
} from "./testing/events";

/** The test files of a workspace. */
const TEST_FILES = "**/*.test.toml";

/** What an item of the view stands for. */
interface Meaning extends Selected {
  debug?: Debugged | null;
}

/** Whether a document is a test file. */
export function isTestFile(uri: vscode.Uri): boolean {
  return uri.scheme === "file" && uri.path.endsWith(".test.toml");
}

export class Testing implements vscode.Disposable {
  private readonly controller = vscode.tests.createTestController("prose", "OpenProse");
  private readonly watcher = vscode.workspace.createFileSystemWatcher(TEST_FILES);
  private readonly meanings = new WeakMap<vscode.TestItem, Meaning>();
  private readonly covered = new WeakMap<vscode.FileCoverage, vscode.StatementCoverage[]>();
  private readonly runProfile: vscode.TestRunProfile;

  constructor(
    private readonly extension: string,
    private readonly output: vscode.LogOutputChannel,
  ) {
    const { Run, Coverage, Debug } = vscode.TestRunProfileKind;
    const profile = (name: string, kind: vscode.TestRunProfileKind, run: Handler) =>
      this.controller.createRunProfile(name, kind, run, true);
    this.runProfile = profile("Run", Run, (request, token) => this.run(request, token, false));
    profile("Debug", Debug, (request, token) => this.debug(request, token));
    const coverage = profile("Coverage", Coverage, (request, token) => this.run(request, token, true));
    coverage.loadDetailedCoverage = async (_run, file) => this.covered.get(file) ?? [];
    this.controller.resolveHandler = async (item) => (item === undefined ? this.discover() : undefined);
    this.controller.refreshHandler = () => this.discover();
    this.watcher.onDidCreate((uri) => void this.update(uri));
    this.watcher.onDidChange((uri) => void this.update(uri));
    this.watcher.onDidDelete((uri) => this.controller.items.delete(uri.toString()));
  }

  dispose(): void {
    this.watcher.dispose();
    this.controller.dispose();
  }

  /** Runs what a lens names: a test file, the one of a program, or one of its cases. */
  async runNamed(argument: { uri: string; name?: string }): Promise<void> {
    const named = vscode.Uri.parse(argument.uri);
    const uri = named.path.endsWith(".prose") ? named.with({ path: named.path.replace(/\.prose$/, ".test.toml") }) : named;
    await vscode.workspace.saveAll(false);
    await this.update(uri);
    const file = this.controller.items.get(uri.toString());
    const item = argument.name === undefined ? file : file?.children.get(idOf(uri.fsPath, argument.name));
    if (item === undefined) {
      void vscode.window.showErrorMessage(`${path.basename(uri.fsPath)} has no such test.`);
      return;
    }
    const source = new vscode.CancellationTokenSource();
    await this.run(new vscode.TestRunRequest([item], undefined, this.runProfile), source.token, false);
  }

  /** Finds all test files of the workspace. */
  private async discover(): Promise<void> {
    const found = new Set<string>();
    for (const folder of vscode.workspace.workspaceFolders ?? []) {
      if (folder.uri.scheme !== "file") continue;
      for (const file of await this.list(folder.uri.fsPath, folder.uri.fsPath)) found.add(this.show(file));
    }
    this.controller.items.forEach((item) => {
      if (!found.has(item.id)) this.controller.items.delete(item.id);
    });
  }

  /** Reads a test file that was added or changed. */
  private async update(uri: vscode.Uri): Promise<void> {
    // Without a folder, the view has no tests.
    const files = await this.list(uri.fsPath, cwdOf(uri));
    for (const file of files) this.show(file);
  }

  private async list(what: string, cwd: string): Promise<ListedFile[]> {
    // Nothing is fetched only to see which tests there are.
    const ended = await this.prose(["test", what, "--list", "--json", "--offline"], cwd);
    try {
      return (JSON.parse(ended.stdout) as { files: ListedFile[] }).files;
    } catch {
      this.output.warn(`prose test --list in ${cwd}: ${ended.stderr.trim()}`);
      return [];
    }
  }

  /** Shows a test file with its cases. Returns its id. */
  private show({ path: name, cases, problems }: ListedFile): string {
    const uri = vscode.Uri.file(name);
    const id = uri.toString();
    const item = this.controller.items.get(id) ?? this.controller.createTestItem(id, vscode.workspace.asRelativePath(uri), uri);
    item.error = problems.length === 0 ? undefined : problems.map(({ line, message }) => `line ${line}: ${message}`).join("\n");
    this.meanings.set(item, { file: name });
    item.children.replace(
      cases.map((found) => {
        const [only, ...others] = found.variants;
        const child = this.item(uri, found.name, found, { file: name, name: found.name, debug: only?.debug });
        if (found.skipped !== undefined) child.description = `skipped: ${found.skipped}`;
        if (only !== undefined && (others.length > 0 || only.name !== found.name)) {
          const variant = ({ name: label, debug }: (typeof found.variants)[number]) =>
            this.item(uri, label, found, { file: name, name: label, debug });
          child.children.replace(found.variants.map(variant));
        }
        return child;
      }),
    );
    this.controller.items.add(item);
    return id;
  }

  private item(uri: vscode.Uri, label: string, place: Place, meaning: Meaning): vscode.TestItem {
    const item = this.controller.createTestItem(idOf(meaning.file, label), label, uri);
    item.range = rangeOf(place);
    this.meanings.set(item, meaning);
    return item;
  }

  /** The cases that a request selects, with those that are left out removed, and what `prose test` is to run for them. */
  private selected(request: vscode.TestRunRequest): { leaves: vscode.TestItem[]; wanted: Selected[] } {
    const excluded = new Set(request.exclude);
    const leaves: vscode.TestItem[] = [];
    const wanted: Selected[] = [];
    const hasExcluded = (item: vscode.TestItem): boolean => excluded.has(item) || childrenOf(item).some(hasExcluded);
    const take = (item: vscode.TestItem, isCovered: boolean): void => {
      if (excluded.has(item)) return;
      const meaning = this.meanings.get(item);
      // A file or a case is run as a whole, unless parts of it are left out.
      const isWhole = !isCovered && !hasExcluded(item);
      if (isWhole && meaning !== undefined) wanted.push(meaning);
      const children = childrenOf(item);
      if (children.length === 0) leaves.push(item);
      for (const child of children) take(child, isCovered || isWhole);
    };
    for (const item of request.include ?? itemsOf(this.controller.items)) take(item, false);
    return { leaves, wanted };
  }

  private async run(request: vscode.TestRunRequest, token: vscode.CancellationToken, covers: boolean): Promise<void> {
    if (!isTrusted()) return;
    // What is run is what the view shows after the last change.
    if (request.include === undefined) await this.discover();
    const run = this.controller.createTestRun(request);
    const { leaves, wanted } = this.selected(request);
    const byId = new Map(leaves.map((item) => [item.id, item]));
    for (const item of leaves) run.enqueued(item);
    try {
      for (const [cwd, selected] of byFolder(wanted)) {
        for (const call of calls(selected)) {
          if (token.isCancellationRequested) return;
          await this.execute([...call, ...(covers ? ["--coverage"] : [])], cwd, run, byId, token);
        }
      }
    } finally {
      run.end();
    }
  }

  private async execute(
    args: string[],
    cwd: string,
    run: vscode.TestRun,
    items: Map<string, vscode.TestItem>,
    token: vscode.CancellationToken,
  ): Promise<void> {
    const reader = lineReader((line) => {
      let event: TestEvent;
      try {
        event = JSON.parse(line) as TestEvent;
      } catch {
        // Not an event: `prose` writes JSON.
        return print(run, line);
      }
      this.take(event, cwd, run, items);
    });
    // The editor asks for trust in the folder before it runs tests.
    const { stderr, failure } = await this.prose(["test", ...args, "--format", "events", "--trust"], cwd, (text) => reader.push(text), token);
    reader.end();
    if (stderr.trim() !== "") print(run, stderr.trim());
    if (failure !== undefined) void vscode.window.showErrorMessage(failure);
  }

  private take(event: TestEvent, cwd: string, run: vscode.TestRun, items: Map<string, vscode.TestItem>): void {
    if (event.event === "finished") {
      for (const file of event.coverage ?? []) this.cover(file, cwd, run);
      return;
    }
    if (event.event === "problem") {
      const message = new vscode.TestMessage(event.message);
      message.location = new vscode.Location(vscode.Uri.file(event.path), rangeOf(event));
      for (const [id, item] of items) if (id.startsWith(`${event.path}::`)) run.errored(item, message);
      return;
    }
    const item = items.get(idOf(event.path, event.name));
    if (item === undefined) return;
    if (event.event === "started") run.started(item);
    else this.end(event, item, run);
  }

  private end(event: Ended, item: vscode.TestItem, run: vscode.TestRun): void {
    const word = { passed: "pass", failed: "FAIL", skipped: "skip", stopped: "stop" }[event.status];
    print(run, `${word} ${event.name}`, item);
    if (event.status === "passed") run.passed(item, duration(event));
    else if (event.status === "skipped") run.skipped(item);
    else if (event.status === "failed") {
      const failure = firstFailure(event);
      const messages = failure === undefined ? [] : messagesOf(failure, event);
      for (const { message } of messages) print(run, `  ${text(message)}`, item);
      if (failure?.status === "error") run.errored(item, messages, duration(event));
      else run.failed(item, messages, duration(event));
    }
  }

  private cover(file: CoveredFile, cwd: string, run: vscode.TestRun): void {
    const branches = branchesOf(file);
    const details = file.statements.map(({ line, column, hits }, index) => {
      const place = lineOf(line, column);
      const of = (branches.get(index) ?? []).map((branch) => new vscode.BranchCoverage(branch.hits, place, branch.name));
      return new vscode.StatementCoverage(hits, place, of);
    });
    const coverage = vscode.FileCoverage.fromDetails(vscode.Uri.file(path.resolve(cwd, file.path)), details);
    this.covered.set(coverage, details);
    run.addCoverage(coverage);
  }

  /** Debugs cases one after another. The debugger shows what a case does, and compares nothing. */
  private async debug(request: vscode.TestRunRequest, token: vscode.CancellationToken): Promise<void> {
    if (!isTrusted()) return;
    const run = this.controller.createTestRun(request);
    try {
      for (const item of this.selected(request).leaves) {
        const meaning = this.meanings.get(item);
        if (token.isCancellationRequested) break;
        if (meaning?.debug === undefined || meaning.debug === null) continue;
        run.started(item);
        await debugCase(item, meaning.debug, token);
        run.skipped(item);
      }
    } finally {
      run.end();
    }
  }

  /** Runs `prose` to its end. A status other than 0 is no failure here: standard output has the results. */
  private prose(
    args: string[],
    cwd: string,
    take?: (text: string) => void,
    token?: vscode.CancellationToken,
  ): Promise<{ stdout: string; stderr: string; failure?: string }> {
    return new Promise((resolve) => {
      let [stdout, stderr] = ["", ""];
      let command: string;
      try {
        ({ command } = program(this.extension));
      } catch (error) {
        // The message explains the reason and the solution.
        resolve({ stdout, stderr, failure: errorText(error) });
        return;
      }
      const child = spawn(command, [...args, "--color", "never"], { cwd, stdio: ["ignore", "pipe", "pipe"] });
      // The first signal ends the runs cleanly, with their results.
      const stop = token?.onCancellationRequested(() => child.kill("SIGINT"));
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        if (take === undefined) stdout += text;
        else take(text);
      });
      child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
      child.on("error", (error) => resolve({ stdout, stderr, failure: error.message }));
      child.on("close", () => {
        stop?.dispose();
        resolve({ stdout, stderr });
      });
    });
  }
}

type Handler = (request: vscode.TestRunRequest, token: vscode.CancellationToken) => Promise<void>;

function isTrusted(): boolean {
  if (vscode.workspace.isTrusted) return true;
  void vscode.window.showErrorMessage("Tests of an untrusted workspace do not run. Trust the workspace first.");
  return false;
}

/** The id of a case, or of a combination of its matrix. */
function idOf(file: string, name: string): string {
  return `${file}::${name}`;
}

function itemsOf(items: vscode.TestItemCollection): vscode.TestItem[] {
  const list: vscode.TestItem[] = [];
  items.forEach((item) => void list.push(item));
  return list;
}

function childrenOf(item: vscode.TestItem): vscode.TestItem[] {
  return itemsOf(item.children);
}

function cwdOf(uri: vscode.Uri): string {
  return vscode.workspace.getWorkspaceFolder(uri)?.uri.fsPath ?? path.dirname(uri.fsPath);
}

/** What is run in each folder of the workspace, whose programs see its settings. */
function byFolder(selected: Selected[]): Map<string, Selected[]> {
  const folders = new Map<string, Selected[]>();
  for (const one of selected) {
    const cwd = cwdOf(vscode.Uri.file(one.file));
    folders.set(cwd, [...(folders.get(cwd) ?? []), one]);
  }
  return folders;
}

function rangeOf({ line, column, endLine, endColumn }: Place): vscode.Range {
  return new vscode.Range(line - 1, column - 1, endLine - 1, endColumn - 1);
}

/** A line from a column to its end: what a statement with others inside of it marks. */
function lineOf(line: number, column: number): vscode.Range {
  return new vscode.Range(line - 1, column - 1, line - 1, Number.MAX_SAFE_INTEGER);
}

/** Why a run failed, each at its expectation, with a diff where there is exactly one expected text. */
function messagesOf({ message, mismatches }: Attempt, { path: file, line, column }: Ended): vscode.TestMessage[] {
  const at = (shown: vscode.TestMessage, range: vscode.Range) => {
    shown.location = new vscode.Location(vscode.Uri.file(file), range);
    return shown;
  };
  if (mismatches === undefined) return [at(new vscode.TestMessage(message ?? "The run failed."), lineOf(line, column))];
  return mismatches.map(({ message, expected, actual, ...place }) => {
    const hasBoth = expected !== undefined && actual !== undefined;
    const shown = hasBoth ? vscode.TestMessage.diff(message, expected, actual) : new vscode.TestMessage(message);
    return at(shown, rangeOf(place));
  });
}

function text(message: string | vscode.MarkdownString): string {
  return typeof message === "string" ? message : message.value;
}

/** Writes to the output of a run, which is a terminal. */
function print(run: vscode.TestRun, text: string, item?: vscode.TestItem): void {
  run.appendOutput(`${text.replaceAll(/\r?\n/g, "\r\n")}\r\n`, undefined, item);
}

/** Debugs a case until its session ends. */
async function debugCase(item: vscode.TestItem, debugged: Debugged, token: vscode.CancellationToken): Promise<void> {
  const { script, run, ...settings } = debugged;
  const folder = item.uri && vscode.workspace.getWorkspaceFolder(item.uri);
  const scratch = mkdtempSync(path.join(tmpdir(), "prose-test-"));
  const sessionName = `Debug ${item.label}`;
  const ended = new Promise<void>((resolve) => {
    const listeners = [
      vscode.debug.onDidTerminateDebugSession((session) => {
        if (session.name !== sessionName) return;
        for (const listener of listeners) listener.dispose();
        resolve();
      }),
      token.onCancellationRequested(() => void vscode.debug.stopDebugging()),
    ];
  });
  const stopOnEntry = !vscode.debug.breakpoints.some((breakpoint) => breakpoint.enabled);
  const common = { type: "prose", name: sessionName, cwd: path.dirname(settings.program), stopOnEntry };
  let configuration: vscode.DebugConfiguration;
  if (run !== undefined) configuration = { ...common, request: "attach", run };
  else {
    configuration = { ...common, request: "launch", ...settings };
    if (script !== undefined) {
      configuration.script = path.join(scratch, "answers.toml");
      writeFileSync(configuration.script as string, script);
    }
  }
  try {
    if (await vscode.debug.startDebugging(folder, configuration)) await ended;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
