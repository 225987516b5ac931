// The tree of runs, with the sessions, branches and iterations of each.

import * as vscode from "vscode";
import { activityText, agentTexts, callsText, denialsOf, denialText, type Item, type ItemKind, duration, durationText, idleTextsOf, openRequest, pauseText, repliedRequest, type Status, usageText } from "./run";
import type { Entry, RunStore } from "./store";

/** A node of the tree: a run, or a part of one. */
export interface Node {
  entry: Entry;
  item?: Item;
}

/** The minimum interval between updates of the tree, in milliseconds. */
const PAUSE = 250;

const STATUS_ICONS: Record<Status, vscode.ThemeIcon> = {
  running: new vscode.ThemeIcon("sync~spin", new vscode.ThemeColor("charts.blue")),
  waiting: new vscode.ThemeIcon("clock", new vscode.ThemeColor("charts.yellow")),
  complete: new vscode.ThemeIcon("pass", new vscode.ThemeColor("charts.green")),
  failed: new vscode.ThemeIcon("error", new vscode.ThemeColor("charts.red")),
  skipped: new vscode.ThemeIcon("circle-slash", new vscode.ThemeColor("disabledForeground")),
  interrupted: new vscode.ThemeIcon("debug-stop", new vscode.ThemeColor("charts.orange")),
};

const RUN_ICONS: Record<string, vscode.ThemeIcon> = {
  running: STATUS_ICONS.running,
  paused: new vscode.ThemeIcon("debug-pause", new vscode.ThemeColor("charts.yellow")),
  waiting: STATUS_ICONS.waiting,
  completed: STATUS_ICONS.complete,
  "completed with failures": new vscode.ThemeIcon("pass", new vscode.ThemeColor("charts.yellow")),
  failed: STATUS_ICONS.failed,
  interrupted: STATUS_ICONS.interrupted,
  foreign: STATUS_ICONS.interrupted,
  newer: new vscode.ThemeIcon("warning", new vscode.ThemeColor("charts.yellow")),
  damaged: new vscode.ThemeIcon("warning", new vscode.ThemeColor("charts.yellow")),
};

/** The kinds whose icon shows the kind instead of the status when they are complete. */
const KIND_ICONS: Partial<Record<ItemKind, string>> = {
  parallel: "git-merge",
  loop: "list-ordered",
  block: "symbol-method",
  program: "file-code",
  condition: "question",
  choice: "list-selection",
  pipeline: "filter",
};

export class RunTree implements vscode.TreeDataProvider<Node>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<Node | undefined>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly nodes = new WeakMap<object, Node>();
  private readonly subscription: vscode.Disposable;
  private readonly stale = new Set<Entry>();
  private isListStale = false;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly store: RunStore) {
    this.subscription = store.onDidChange(({ entry }) => {
      if (entry === undefined) this.isListStale = true;
      else this.stale.add(entry);
      this.timer ??= setTimeout(() => this.tell(), PAUSE);
    });
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.subscription.dispose();
    this.changed.dispose();
  }

  private tell(): void {
    this.timer = undefined;
    if (this.isListStale) this.changed.fire(undefined);
    else for (const entry of this.stale) this.changed.fire(this.node(entry));
    this.isListStale = false;
    this.stale.clear();
    // Durations of active parts increase without events.
    const running = this.store.list.filter((entry) => entry.isRunning && entry.isLoaded);
    if (running.length === 0) return;
    this.timer = setTimeout(() => {
      for (const entry of running) this.stale.add(entry);
      this.tell();
    }, 1000);
  }

  /** The unique node of a run or of a part: the editor identifies nodes by object identity. */
  node(entry: Entry, item?: Item): Node {
    const key = item ?? entry;
    let node = this.nodes.get(key);
    if (node === undefined) {
      node = item === undefined ? { entry } : { entry, item };
      this.nodes.set(key, node);
    }
    return node;
  }

  async getChildren(node?: Node): Promise<Node[]> {
    if (node === undefined) return this.store.list.map((entry) => this.node(entry));
    const { entry, item } = node;
    if (item === undefined) await this.store.load(entry);
    const { items } = entry.model;
    const parent = item ?? entry.model.root;
    return (parent?.children ?? []).map((child) => this.node(entry, items[child] as Item));
  }

  getParent({ entry, item }: Node): Node | undefined {
    if (item === undefined) return undefined;
    const parent = entry.model.items[item.parent ?? -1];
    return parent === undefined || parent.kind === "run" ? this.node(entry) : this.node(entry, parent);
  }

  getTreeItem({ entry, item }: Node): vscode.TreeItem {
    return item === undefined ? runItem(entry) : partItem(entry, item);
  }
}

function runItem(entry: Entry): vscode.TreeItem {
  const { summary, model, isRunning, isHere, pause, waiting } = entry;
  const shown = new vscode.TreeItem(
    entry.name,
    isRunning ? vscode.TreeItemCollapsibleState.Expanded : vscode.TreeItemCollapsibleState.Collapsed,
  );
  const status = pause !== undefined ? "paused" : isRunning ? "running" : (summary?.status ?? "running");
  const isAsking = isRunning && model.items.some(({ kind, to }) => kind === "input" && to === undefined);
  const needsPermission = isRunning && model.items.some(({ activity }) => (activity?.questions ?? []).length > 0);
  const live = isRunning && entry.isLoaded ? model.root : undefined;
  const took = live === undefined ? summary?.milliseconds : duration(live, model.now);
  const sessions = live === undefined ? summary?.sessions : `${live.sessions.complete}/${live.sessions.total}`;
  shown.id = entry.run;
  const asked = waiting[0] === undefined ? "" : `waits for an answer: ${waiting[0].prompt}`;
  shown.iconPath = isAsking || needsPermission || asked ? STATUS_ICONS.waiting : (RUN_ICONS[status] ?? STATUS_ICONS.interrupted);
  shown.description = [
    asked ? asked : isAsking ? "waits for an input" : needsPermission ? "waits for permission" : pause !== undefined ? pauseText(pause) : status === "completed" ? "" : status,
    timeText(summary?.started ?? model.root?.from),
    took == null ? "" : durationText(took),
    sessions == null ? "" : `${sessions} ${sessions === 1 ? "session" : "sessions"}`,
    usageText(live?.usage ?? summary?.usage ?? undefined),
  ]
    .filter(Boolean)
    .join(" · ");
  const hasProgram = entry.uri !== undefined;
  const can = [
    isHere ? "cancel" : "",
    !isHere ? "" : pause === undefined ? "pause" : "continue",
    hasProgram && !isRunning && summary?.canResume ? "resume" : "",
    hasProgram && summary !== undefined ? "rerun" : "",
    summary === undefined ? "" : "state",
    entry.canFork ? "fork" : "",
    !isRunning && summary?.isTemporary ? "save" : "",
  ];
  shown.contextValue = `run ${can.filter(Boolean).join(" ")}`;
  shown.tooltip = runTip(entry);
  shown.command = { title: "Show Run", command: "prose.runs.show", arguments: [{ entry, keepsFocus: true }] };
  shown.accessibilityInformation = { label: `run of ${entry.name}, ${shown.description}` };
  return shown;
}

function runTip({ run, summary, model, isRunning, waiting }: Entry): vscode.MarkdownString {
  const tip = new vscode.MarkdownString();
  const facts = [`Run \`${run}\``, summary?.harness && `harness \`${summary.harness}\``, summary?.here === false && isRunning && "in another process"];
  tip.appendMarkdown(facts.filter(Boolean).join(" · "));
  for (const { prompt, since } of waiting) tip.appendText(`\n\nWaits since ${timeText(since)}: ${prompt}`);
  const money = [...agentTexts(model), model.limits ?? ""].filter(Boolean);
  if (money.length > 0) tip.appendText(`\n\n${money.join("\n")}`);
  if (model.census !== undefined) tip.appendText(`\n\n${model.census.lines.join("\n")}`);
  const error = summary?.error ?? model.root?.error;
  if (error) tip.appendText(`\n\n${error}`);
  return tip;
}

function partItem(entry: Entry, item: Item): vscode.TreeItem {
  const hasChildren = item.children.length > 0;
  const isOpen = item.to === undefined && item.children.length <= 20;
  const shown = new vscode.TreeItem(
    item.label || item.kind,
    !hasChildren
      ? vscode.TreeItemCollapsibleState.None
      : isOpen
        ? vscode.TreeItemCollapsibleState.Expanded
        : vscode.TreeItemCollapsibleState.Collapsed,
  );
  shown.id = `${entry.run} ${item.id}`;
  const kind = item.status === "complete" ? KIND_ICONS[item.kind] : undefined;
  shown.iconPath = kind === undefined ? STATUS_ICONS[item.status] : new vscode.ThemeIcon(kind);
  const { total, complete, failed } = item.sessions;
  const isLeaf = item.kind === "session";
  const denials = denialsOf(item);
  shown.description = [
    isLeaf ? item.agent : item.detail,
    item.kind === "condition" || item.kind === "choice" || item.kind === "loop" ? item.note : "",
    item.kind === "choice" ? "" : item.status === "waiting" ? "waiting" : durationText(duration(item, entry.model.now)),
    ...(item.status === "waiting" ? [] : idleTextsOf(item, entry.model.now)),
    item.attempts.length > 1 ? `attempt ${item.attempts.length}` : "",
    !isLeaf && total > 1 ? `${complete + failed}/${total} sessions` : "",
    activityText(item.activity, entry.model.now),
    callsText(item),
    denials.length > 0 ? `${denials.length} denied` : "",
    usageText(item.usage),
  ]
    .filter(Boolean)
    .join(" · ");
  const tip = new vscode.MarkdownString();
  const denied = denials.map((denial) => `Denied: ${denialText(denial)}`);
  tip.appendText([`${item.kind}: ${item.label}`, item.error ?? item.note, ...denied].filter(Boolean).join("\n\n"));
  shown.tooltip = tip;
  const open = entry.isHere ? openRequest(item) : undefined;
  const can = [
    item.kind,
    open === undefined ? "" : "skip",
    open?.isAtWork ? "retry" : "",
    entry.canFork && item.place !== "" ? "fork" : "",
    entry.canFork && repliedRequest(item) !== undefined ? "whatIf" : "",
  ];
  shown.contextValue = `part ${can.filter(Boolean).join(" ")}`;
  shown.command = { title: "Show Statement", command: "prose.runs.reveal", arguments: [{ entry, item }] };
  shown.accessibilityInformation = { label: `${item.kind} ${item.label}, ${item.status}, ${shown.description}` };
  return shown;
}

/** The time of today, or the day. */
function timeText(at: number | null | undefined): string {
  if (at == null) return "";
  const [then, now] = [new Date(at), new Date()];
  const isToday = then.toDateString() === now.toDateString();
  return isToday
    ? then.toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" })
    : then.toLocaleDateString(undefined, { day: "numeric", month: "short" });
}
