// The runs in the editor: the tree, the panel, the documents of sessions, and their commands.

import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import type { FlowGraph } from "../../panel/layout";
import { debugRun } from "../debug";
import { errorText } from "../error-text";
import type { RunView } from "../narration";
import { ComparePanel } from "./compare";
import { detailsOf } from "./details";
import type { PanelCommand, SessionCommand } from "./messages";
import { RunPanel } from "./panel";
import { exportRun, importRun, saveRun } from "./portable";
import { ReplyEditor } from "./reply";
import { type Item, openRequest, repliedRequest, type Site } from "./run";
import { type Session, sessionAsText } from "./session";
import { type Entry, RunStore } from "./store";
import { type Node, RunTree } from "./tree";

const SESSION = "prose-session";

export class RunsView implements vscode.Disposable {
  /** Called when the runs become visible. */
  onSeen: () => void = () => {};
  private readonly store: RunStore;
  private readonly tree: RunTree;
  private readonly panel: RunPanel;
  private readonly comparePanel: ComparePanel;
  private readonly replies: ReplyEditor;
  private readonly shown: vscode.TreeView<Node>;
  private readonly watching = new Map<Entry, vscode.Disposable>();
  private readonly sessionChanged = new vscode.EventEmitter<vscode.Uri>();
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    extension: vscode.Uri,
    private readonly client: () => LanguageClient | undefined,
  ) {
    this.store = new RunStore(client);
    this.tree = new RunTree(this.store);
    this.shown = vscode.window.createTreeView("prose.runs", { treeDataProvider: this.tree, showCollapseAll: true, canSelectMany: true });
    this.replies = new ReplyEditor(client);
    this.comparePanel = new ComparePanel(vscode.Uri.joinPath(extension, "dist"), this.store, client);
    this.panel = new RunPanel(vscode.Uri.joinPath(extension, "dist"), this.store, {
      reveal: (entry, site, keepsFocus) => this.reveal(entry, site, keepsFocus),
      session: (entry, requests, label) => this.openSession(entry, requests, label),
      command: (entry, command) => this.command(entry, command),
      sessionCommand: (entry, command, request) => this.sessionCommand(entry, command, request),
      graph: (entry) => this.graph(entry),
      details: (entry, requests) => detailsOf(this.client(), entry, requests),
    });
    const register = (name: string, run: (node: Node | undefined, selected: Node[]) => unknown): vscode.Disposable =>
      vscode.commands.registerCommand(`prose.runs.${name}`, (node?: Node, selected?: Node[]) => run(node, selected ?? []));
    const ofSession = (command: SessionCommand) => (node: Node | undefined): unknown => {
      const open = node?.item && openRequest(node.item);
      return node !== undefined && open !== undefined && this.sessionCommand(node.entry, command, open.request);
    };
    const about = (name: string, command: PanelCommand): vscode.Disposable =>
      register(name, (node) => node !== undefined && this.command(node.entry, command));
    this.subscriptions = [
      this.store,
      this.tree,
      this.panel,
      this.comparePanel,
      this.replies,
      this.shown,
      this.sessionChanged,
      this.shown.onDidChangeVisibility(({ visible }) => {
        if (!visible) return;
        this.onSeen();
        void this.store.refresh();
      }),
      this.shown.onDidExpandElement(({ element }) => this.watch(element)),
      this.shown.onDidCollapseElement(({ element }) => this.unwatch(element)),
      this.store.onDidChange(({ entry }) => this.changed(entry)),
      vscode.workspace.registerTextDocumentContentProvider(SESSION, {
        onDidChange: this.sessionChanged.event,
        provideTextDocumentContent: (uri) => this.sessionText(uri),
      }),
      register("refresh", () => this.store.refresh()),
      vscode.commands.registerCommand("prose.runs.show", (shown?: ShownRun) => this.show(shown)),
      register("reveal", (node) => node?.item?.site && this.revealItem(node.entry, node.item)),
      register("openSession", (node) => node?.item && this.openSession(node.entry, requestsOf(node.item), node.item.label)),
      about("cancel", "cancel"),
      about("pause", "pause"),
      about("continue", "continue"),
      register("skip", ofSession("skip")),
      register("retry", ofSession("retry")),
      register("fork", (node) => node?.item && this.fork(node.entry, { from: node.item.place })),
      register("forkEdited", (node) => node !== undefined && this.fork(node.entry, {})),
      register("whatIf", (node) => node?.item && this.whatIf(node.entry, node.item)),
      register("compare", (node, selected) => this.compare(node, selected)),
      register("comparePrevious", (node) => node !== undefined && this.comparePrevious(node.entry)),
      register("debug", (node) => node?.entry.summary && debugRun(node.entry.summary)),
      register("export", (node) => node?.entry.summary && exportRun(extension.fsPath, node.entry.summary)),
      vscode.commands.registerCommand("prose.runs.save", (shown?: ShownRun) => this.save(shown)),
      register("import", () => importRun(extension.fsPath).then(() => this.store.refresh())),
      about("resume", "resume"),
      about("rerun", "rerun"),
      about("openState", "state"),
      register("openFolder", (node) => node?.entry.summary && openFolder(node.entry.summary.folder)),
    ];
  }

  dispose(): void {
    for (const watching of this.watching.values()) watching.dispose();
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  /** The server has started or restarted. */
  started(): void {
    if (this.shown.visible) void this.store.refresh();
  }

  /** The server has stopped. */
  stopped(): void {
    this.store.lost();
  }

  /** Applies a live change of a run. */
  told(view: RunView): void {
    this.store.told(view);
  }

  private changed(entry: Entry | undefined): void {
    this.shown.message = this.store.problems.length > 0 ? this.store.problems.join("\n") : undefined;
    const running = this.store.list.filter((known) => known.isRunning).length;
    this.shown.badge = running === 0 ? undefined : { value: running, tooltip: running === 1 ? "1 run in progress" : `${running} runs in progress` };
    if (entry === undefined) return;
    for (const { uri } of vscode.workspace.textDocuments) {
      if (uri.scheme !== SESSION) continue;
      const { run, requests } = JSON.parse(uri.query) as SessionQuery;
      const item = entry.model.items.find(({ attempts }) => attempts.at(-1)?.request === requests.at(-1));
      if (run === entry.run && item?.to !== undefined) this.sessionChanged.fire(uri);
    }
  }

  private watch({ entry, item }: Node): void {
    if (item === undefined && !this.watching.has(entry)) this.watching.set(entry, this.store.watch(entry));
  }

  private unwatch({ entry, item }: Node): void {
    if (item !== undefined) return;
    this.watching.get(entry)?.dispose();
    this.watching.delete(entry);
  }

  /** Shows a run in the panel: the one that is named, otherwise the last run of the active program, otherwise the last run. */
  private async show({ entry: named, run, keepsFocus = false }: ShownRun = {}): Promise<void> {
    const active = vscode.window.activeTextEditor?.document.uri.toString() ?? "";
    if (named === undefined) await this.store.refresh();
    const known = run === undefined ? undefined : this.store.entries.get(run);
    const entry = named ?? known ?? this.store.lastOf(active) ?? this.store.list[0];
    if (entry !== undefined) return this.panel.show(entry, keepsFocus);
    void vscode.window.showInformationMessage("No program has run in this workspace yet. Run a program first.");
  }

  /** Saves a run of a program that was never saved, with the program. */
  private async save({ entry: named, run = "" }: ShownRun = {}): Promise<void> {
    const entry = named ?? this.store.entries.get(run);
    if (entry === undefined) return;
    await this.store.loadText(entry);
    await saveRun(entry);
    await this.store.refresh();
  }

  private async graph({ summary }: Entry): Promise<FlowGraph | null> {
    const client = this.client();
    if (client === undefined || summary === undefined) return null;
    try {
      return await client.sendRequest<FlowGraph>("prose/flowGraph", { folder: summary.folder });
    } catch {
      // Runs of other machines may have no program. Their timeline is still shown.
      return null;
    }
  }

  private async revealItem(entry: Entry, item: Item): Promise<void> {
    if (item.site !== undefined) await this.reveal(entry, item.site, false);
  }

  /** Shows a line of an imported program in its file; false if that is not a file of this machine. */
  private async revealImported(entry: Entry, site: Site, keepsFocus: boolean): Promise<boolean> {
    const from = entry.model.programs.get(site.program ?? 0)?.from ?? "";
    if (!/^(\/|[A-Za-z]:[\\/])/.test(from)) return false;
    try {
      const document = await vscode.workspace.openTextDocument(vscode.Uri.file(from));
      await showLine(document, Math.min(site.line, document.lineCount) - 1, keepsFocus);
      return true;
    } catch {
      return false;
    }
  }

  private async reveal(entry: Entry, site: Site, keepsFocus: boolean): Promise<void> {
    if ((site.program ?? 0) !== 0) {
      if (await this.revealImported(entry, site, keepsFocus)) return;
      // Parts of a program from elsewhere are shown at its call.
      let at = entry.model.items.find((item) => item.site?.start === site.start && item.site.program === site.program);
      while (at?.site !== undefined && (at.site.program ?? 0) !== 0) at = entry.model.items[at.parent ?? -1];
      if (at?.site !== undefined) await this.reveal(entry, at.site, keepsFocus);
      return;
    }
    const folder = entry.summary?.folder;
    const own = folder === undefined ? undefined : vscode.Uri.joinPath(vscode.Uri.parse(folder), "program.prose");
    // A program from a registry is shown from its copy in the run.
    const uri = entry.uri === undefined ? own : vscode.Uri.parse(entry.uri);
    if (uri === undefined) return;
    await this.store.loadText(entry);
    const document = await vscode.workspace.openTextDocument(uri);
    const lines = entry.lines(document.getText());
    const first = lines.now(site.line - 1);
    if (first === undefined) {
      void vscode.window.setStatusBarMessage("This statement has changed since the run.", 4000);
      return;
    }
    await showLine(document, first, keepsFocus);
  }

  private async openSession({ run, summary, uri: program }: Entry, requests: number[], label: string): Promise<void> {
    if (summary === undefined || requests.length === 0) return;
    const name = label.replace(/[/\\?%*:|"<>\s]+/g, " ").trim().slice(0, 50) || "Session";
    const query: SessionQuery = { run, folder: summary.folder, requests };
    const uri = vscode.Uri.from({ scheme: SESSION, path: `/${name}.md`, query: JSON.stringify(query) });
    const document = await vscode.workspace.openTextDocument(uri);
    // In the column of the program, so that the panel stays visible.
    const beside = vscode.window.visibleTextEditors.find((editor) => editor.document.uri.toString() === program);
    await vscode.window.showTextDocument(document, { preview: true, viewColumn: beside?.viewColumn ?? vscode.ViewColumn.One });
  }

  private async sessionText(uri: vscode.Uri): Promise<string> {
    const { folder, requests } = JSON.parse(uri.query) as SessionQuery;
    const client = this.client();
    if (client === undefined) return "The language server is not running, so the session cannot be shown.\n";
    try {
      const attempts = await Promise.all(
        requests.map((request) => client.sendRequest<Session>("prose/session", { folder, request })),
      );
      return sessionAsText(attempts);
    } catch (error) {
      return `${errorText(error)}\n`;
    }
  }

  private async sessionCommand(entry: Entry, command: SessionCommand, request: number): Promise<void> {
    if (command === "skip" || command === "retry") {
      await vscode.commands.executeCommand(`prose.${command}`, { run: entry.run, request });
      return;
    }
    const item = entry.model.items.find(({ attempts }) => attempts.some((attempt) => attempt.request === request));
    if (item === undefined) return;
    if (command === "fork") await this.fork(entry, { from: item.place });
    else await this.whatIf(entry, item);
  }

  /** Starts a new run that keeps what a run did before a place; without one, all answers that still match. The server uses the open document. */
  private async fork({ run, uri }: Entry, point: { from?: string }): Promise<void> {
    if (uri === undefined) return;
    await vscode.workspace.openTextDocument(vscode.Uri.parse(uri));
    await vscode.commands.executeCommand("prose.fork", { uri, run, ...point });
  }

  /** Lets the user change the reply of a session, with which a new run continues. */
  private async whatIf({ run, uri, summary }: Entry, item: Item): Promise<void> {
    const request = repliedRequest(item);
    if (uri === undefined || summary === undefined || request === undefined) return;
    await this.replies.edit({ uri, run, folder: summary.folder, at: item.place, request });
  }

  /** Compares two selected runs, a run with one that the user picks, or two that the user picks. */
  private async compare(node: Node | undefined, selected: Node[]): Promise<void> {
    const chosen = new Set(selected.map(({ entry }) => entry));
    if (node !== undefined) chosen.add(node.entry);
    else await this.store.refresh();
    while (chosen.size < 2) {
      const others = this.store.list.filter((entry) => entry.summary !== undefined && !chosen.has(entry));
      const items = others.map((entry) => ({ label: entry.name, description: `${entry.summary?.status ?? ""}, ${entry.run}`, entry }));
      const placeHolder = chosen.size === 0 ? "Select the first run" : "Select the run to compare with";
      const picked = await vscode.window.showQuickPick(items, { placeHolder, matchOnDescription: true });
      if (picked === undefined) return;
      chosen.add(picked.entry);
    }
    const [a, b] = chosen;
    if (a !== undefined && b !== undefined) await this.comparePanel.show(a, b);
  }

  private async comparePrevious(entry: Entry): Promise<void> {
    const { list } = this.store;
    const previous = list.slice(list.indexOf(entry) + 1).find((other) => other.uri === entry.uri && other.summary?.block === entry.summary?.block);
    if (previous !== undefined) return this.comparePanel.show(previous, entry);
    void vscode.window.showInformationMessage("This is the first run of its program.");
  }

  private async command(entry: Entry, command: PanelCommand): Promise<void> {
    const { run, uri, summary } = entry;
    if (command === "state") {
      const file = summary && vscode.Uri.joinPath(vscode.Uri.parse(summary.folder), "state.md");
      if (file !== undefined) await vscode.window.showTextDocument(file, { preview: true });
      return;
    }
    if (command === "cancel" || command === "pause" || command === "continue") {
      await vscode.commands.executeCommand(`prose.${command}`, { run, ...(uri === undefined ? {} : { uri }) });
      return;
    }
    if (uri === undefined) return;
    // The server runs the open document.
    const block = summary?.block == null ? {} : { block: summary.block };
    await vscode.workspace.openTextDocument(vscode.Uri.parse(uri));
    if (command === "resume") await vscode.commands.executeCommand("prose.resume", { uri, run, ...block });
    else {
      await this.store.load(entry);
      const given = Object.fromEntries(entry.model.inputs);
      const values = summary?.block == null ? { inputs: given } : { arguments: given };
      await vscode.commands.executeCommand("prose.run", { uri, ...block, ...values });
    }
  }
}

/** What `prose.runs.show` shows: a node of the tree, or a run by its id. */
interface ShownRun {
  entry?: Entry;
  run?: string;
  keepsFocus?: boolean;
}

interface SessionQuery {
  run: string;
  folder: string;
  requests: number[];
}

function requestsOf({ attempts }: Item): number[] {
  return attempts.map(({ request }) => request);
}

function openFolder(folder: string): void {
  void vscode.commands.executeCommand("revealFileInOS", vscode.Uri.parse(folder));
}

/** Shows a line of a document, from 0, in the column where the document is. */
async function showLine(document: vscode.TextDocument, line: number, keepsFocus: boolean): Promise<void> {
  const range = document.lineAt(line).range;
  const start = range.start.translate(0, document.lineAt(line).firstNonWhitespaceCharacterIndex);
  const visible = vscode.window.visibleTextEditors.find((editor) => editor.document === document);
  const column = visible?.viewColumn ?? vscode.ViewColumn.One;
  const options = { viewColumn: column, preserveFocus: keepsFocus, selection: new vscode.Range(start, start) };
  const editor = await vscode.window.showTextDocument(document, options);
  editor.revealRange(range, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
}
