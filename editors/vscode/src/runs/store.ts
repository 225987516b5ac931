// All runs: the list from the server, the live changes of active runs, and the content of finished runs.

import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import { errorText } from "../error-text";
import type { RunView } from "../narration";
import { LineMap } from "./lines";
import { type Pause, Run, type RunDelta, type Usage } from "./run";

/** A run in the list: `prose/runs`. */
export interface RunSummary {
  run: string;
  /** The folder of the run. */
  folder: string;
  program: string | null;
  /** The document of the program, if it is a file. */
  uri: string | null;
  block: string | null;
  harness: string | null;
  status: "running" | "paused" | "waiting" | "completed" | "completed with failures" | "failed" | "interrupted" | "foreign" | "newer" | "unreachable" | "damaged";
  canResume: boolean;
  /** Whether the server of this window executes it. */
  here: boolean;
  started: number | null;
  milliseconds: number | null;
  sessions: number | null;
  usage: Usage | null;
  error: string | null;
  /** The questions that wait for an answer. */
  waiting?: Question[];
  /** Only of a paused run. */
  pause: Pause | null;
  /** Whether its program is in no folder, and the run is removed after a while unless it is saved. */
  isTemporary?: boolean;
}

/** A question of a run for a person. */
export interface Question {
  prompt: string;
  /** When it was asked, in milliseconds since 1970-01-01 in UTC. */
  since: number;
}

interface RunDetails extends RunSummary {
  view: RunDelta;
  /** The program as it was when the run started. */
  text: string | null;
  problem: string | null;
}

/** A run with its data. */
export class Entry {
  summary: RunSummary | undefined;
  model = new Run();
  /** Whether the server sends its changes live. */
  isTold = false;
  isLoaded = false;
  text: string | undefined;
  uri: string | undefined;
  loading: Promise<void> | undefined;

  constructor(readonly run: string) {}

  get name(): string {
    const name = this.summary?.program ?? this.model.root?.label ?? this.run;
    return this.summary?.block ? `${name} · ${this.summary.block}` : name;
  }

  get isRunning(): boolean {
    if (this.isTold) return this.model.root !== undefined && !this.model.isOver;
    return this.summary?.status === "running" || this.summary?.status === "paused";
  }

  /** Its pause, if it starts no new session now. */
  get pause(): Pause | undefined {
    if (!this.isRunning) return undefined;
    return this.isTold ? this.model.pause : (this.summary?.pause ?? undefined);
  }

  /** What a run that this window does not execute asks. */
  get waiting(): Question[] {
    return this.isTold ? [] : (this.summary?.waiting ?? []);
  }

  /** Whether the server of this window executes it and can stop it. */
  get isHere(): boolean {
    return this.isRunning && (this.isTold || this.summary?.here === true);
  }

  /** Whether a new run can keep a part of it. */
  get canFork(): boolean {
    return this.uri !== undefined && this.summary !== undefined;
  }

  /** Maps lines of the program of the run to the current program. */
  lines(now: string): LineMap {
    return new LineMap(this.text ?? now, now);
  }
}

/** A change: of one run, with its delta if available, or of the list. */
export interface Change {
  entry?: Entry;
  delta?: RunDelta;
}

/** The interval for polling active runs of other processes, because file watchers can be slow or missing. */
const LOOK = 1000;

export class RunStore implements vscode.Disposable {
  readonly entries = new Map<string, Entry>();
  problems: string[] = [];
  /** The last result of `prose/runs`, as text. */
  private listed = "";
  private readonly changed = new vscode.EventEmitter<Change>();
  readonly onDidChange = this.changed.event;
  private readonly watcher = vscode.workspace.createFileSystemWatcher("**/.prose/runs/*/journal.jsonl");
  private readonly projects = vscode.workspace.createFileSystemWatcher("**/prose.toml", false, true, false);
  private refreshing: Promise<void> | undefined;
  private refreshTimer: ReturnType<typeof setTimeout> | undefined;
  private lookTimer: ReturnType<typeof setTimeout> | undefined;
  private roots: Promise<string[]> | undefined;
  private isDisposed = false;
  /** The runs that are shown in detail. */
  private readonly watched = new Set<Entry>();

  constructor(private readonly client: () => LanguageClient | undefined) {
    const changed = (uri: vscode.Uri): void => this.fileChanged(uri);
    this.watcher.onDidCreate(changed);
    this.watcher.onDidChange(changed);
    this.watcher.onDidDelete(() => this.refreshSoon());
    const forget = (): void => {
      this.roots = undefined;
      this.refreshSoon();
    };
    this.projects.onDidCreate(forget);
    this.projects.onDidDelete(forget);
  }

  dispose(): void {
    this.isDisposed = true;
    clearTimeout(this.refreshTimer);
    clearTimeout(this.lookTimer);
    this.watcher.dispose();
    this.projects.dispose();
    this.changed.dispose();
  }

  /** The runs, latest first. */
  get list(): Entry[] {
    return [...this.entries.values()].sort((a, b) => started(b) - started(a) || (a.run < b.run ? 1 : -1));
  }

  /** The last run of a program. */
  lastOf(uri: string): Entry | undefined {
    return this.list.find((entry) => entry.uri === uri);
  }

  /** Applies a live change of a run. */
  told({ run, uri, limits, view }: RunView): void {
    const delta = limits === undefined ? view : { ...view, limits };
    const entry = this.entry(run);
    const isNew = !entry.isTold;
    // If the start of a run is missing, the complete run is read first.
    if (isNew && !entry.isLoaded && !delta.whole) return this.refreshSoon();
    entry.isTold = true;
    entry.isLoaded = true;
    entry.uri = uri;
    entry.model.apply(delta);
    this.changed.fire({ entry, delta });
    if (isNew || delta.whole || delta.end !== undefined) this.refreshSoon();
  }

  /** The server has stopped: its runs receive no more live changes. */
  lost(): void {
    this.listed = "";
    for (const entry of this.entries.values()) {
      if (!entry.isTold) continue;
      entry.isTold = false;
      entry.isLoaded = false;
    }
  }

  refreshSoon(): void {
    clearTimeout(this.refreshTimer);
    this.refreshTimer = setTimeout(() => void this.refresh(), 200);
  }

  /** Requests the list of runs from the server. */
  refresh(): Promise<void> {
    this.refreshing ??= this.read().finally(() => (this.refreshing = undefined));
    return this.refreshing;
  }

  private async read(): Promise<void> {
    const client = this.client();
    if (client === undefined) return;
    this.roots ??= this.projectFolders();
    const folders = await this.roots;
    let isNews = true;
    try {
      const answer = await client.sendRequest<{ runs: RunSummary[]; problems: string[] }>("prose/runs", { folders });
      this.problems = answer.problems;
      const known = new Set(answer.runs.map(({ run }) => run));
      const gone = [...this.entries.values()].filter((entry) => !known.has(entry.run) && !entry.isHere);
      for (const entry of gone) this.entries.delete(entry.run);
      const listed = JSON.stringify(answer);
      isNews = gone.length > 0 || listed !== this.listed;
      this.listed = listed;
      for (const summary of answer.runs) {
        const entry = this.entry(summary.run);
        entry.summary = summary;
        entry.uri = summary.uri ?? entry.uri;
      }
    } catch (error) {
      this.problems = [errorText(error)];
      this.listed = "";
    }
    // Each change replaces the rows, and a button that is replaced between press and release has no effect.
    if (isNews) this.changed.fire({});
    this.lookLater();
  }

  /** The folders with settings, which contain runs in addition to the open folders. */
  private async projectFolders(): Promise<string[]> {
    const files = await vscode.workspace.findFiles("**/prose.toml", "**/node_modules/**", 200);
    return files.map((file) => vscode.Uri.joinPath(file, "..").toString());
  }

  private entry(run: string): Entry {
    let entry = this.entries.get(run);
    if (entry === undefined) {
      entry = new Entry(run);
      this.entries.set(run, entry);
    }
    return entry;
  }

  /** Reads a run, or its changes since the last read. */
  async load(entry: Entry): Promise<void> {
    if (entry.isLoaded && (entry.isTold || !this.isBehind(entry))) return;
    entry.loading ??= this.readEvents(entry).finally(() => (entry.loading = undefined));
    await entry.loading;
  }

  private isBehind(entry: Entry): boolean {
    return entry.isRunning || !entry.model.isOver;
  }

  private async readEvents(entry: Entry): Promise<void> {
    const [client, folder] = [this.client(), entry.summary?.folder];
    if (client === undefined || folder === undefined) return;
    // A resumed run has new events instead of its end.
    const after = entry.isLoaded && !entry.model.isOver ? entry.model.seq : 0;
    const details = await client.sendRequest<RunDetails>("prose/runView", { folder, after });
    if (entry.isTold) return;
    entry.isLoaded = true;
    entry.text = details.text ?? entry.text;
    const { view: delta, text: _, problem: __, ...summary } = details;
    entry.summary = summary;
    if (!delta.whole && delta.seq === after) return;
    entry.model.apply(delta);
    this.changed.fire({ entry, delta });
  }

  /** Reads the program of a run at its start. */
  async loadText(entry: Entry): Promise<void> {
    if (entry.text !== undefined || entry.summary === undefined) return;
    const file = vscode.Uri.joinPath(vscode.Uri.parse(entry.summary.folder), "program.prose");
    try {
      entry.text = new TextDecoder().decode(await vscode.workspace.fs.readFile(file));
    } catch {
      // Without it, lines are assumed to be lines of the current program.
    }
  }

  /** Polls an active run of another process. */
  watch(entry: Entry): vscode.Disposable {
    this.watched.add(entry);
    this.lookLater();
    return new vscode.Disposable(() => this.watched.delete(entry));
  }

  private fileChanged(uri: vscode.Uri): void {
    const run = uri.path.split("/").at(-2) ?? "";
    const entry = this.entries.get(run);
    // Runs with live changes need no polling.
    if (entry?.isTold && entry.isRunning) return;
    if (entry !== undefined && this.watched.has(entry) && entry.isRunning) return this.lookLater();
    this.refreshSoon();
  }

  private lookLater(): void {
    if (this.lookTimer !== undefined || this.isDisposed) return;
    const foreign = [...this.entries.values()].filter((entry) => entry.isRunning && !entry.isTold);
    if (foreign.length === 0) return;
    this.lookTimer = setTimeout(() => {
      this.lookTimer = undefined;
      void this.look(foreign);
    }, LOOK);
  }

  private async look(foreign: readonly Entry[]): Promise<void> {
    await Promise.allSettled(foreign.filter((entry) => this.watched.has(entry)).map((entry) => this.load(entry)));
    await this.refresh();
    // Runs that have ended in the meantime get their last events now.
    const over = foreign.filter((entry) => this.watched.has(entry) && !entry.isRunning);
    await Promise.allSettled(over.map((entry) => this.load(entry)));
  }
}

function started({ summary, model }: Entry): number {
  return summary?.started ?? model.root?.from ?? 0;
}
