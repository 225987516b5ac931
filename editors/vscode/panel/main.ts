// The panel of a run: messages of the editor update the run, which is drawn once per frame.

import type { Ability, FromPanel, PanelCommand, SessionCommand, ToPanel } from "../src/runs/messages";
import { activityText, agentTexts, callsText, counted, denialsOf, denialText, duration, durationText, idleTexts, idleTextsOf, type Item, openRequest, pauseText, repliedRequest, Run, type RunDelta, usageText } from "../src/runs/run";
import { Details } from "./details";
import { button, element, icon, panelOf, roving, setIcon, setText } from "./dom";
import { Graph } from "./graph";
import type { FlowNode } from "./layout";
import { Finder } from "./finder";
import { Timeline, type TimelineEvents } from "./timeline";

interface Editor {
  postMessage(message: FromPanel): void;
  getState(): State | undefined;
  setState(state: State): void;
}

/** What is kept of the page when it is closed. */
interface State {
  split?: number;
  shows?: Shown;
  labels?: number;
  hasDetails?: boolean;
}

declare function acquireVsCodeApi(): Editor;

type Shown = "both" | "timeline" | "graph";

/** The interval of redrawing an active run without events, because its bars grow. */
const TICK = 100;
/** The minimum interval of drawing events. User actions are drawn in the next frame. */
const CALM = 33;

const FILTERS: Record<string, { label: string; wants: ((item: Item) => boolean) | undefined }> = {
  all: { label: "All", wants: undefined },
  running: { label: "Running", wants: ({ kind, to }) => kind === "session" && to === undefined },
  failed: { label: "Failed", wants: ({ kind, attempts }) => kind === "session" && attempts.some(({ status }) => status === "failed") },
};

const editor = acquireVsCodeApi();
/** The page of an editor shows nothing else; a report has more. */
const page = panelOf(document);
const model = new Run();
let run = "";
let follows = true;
let scheduled = false;
let isUrgent = false;
let drawnAt = 0;
let ticking: ReturnType<typeof setTimeout> | undefined;
/** The part whose details are shown. */
let described: Item | undefined;
/** The changes since the last frame. */
let pending: RunDelta[] = [];
/** Whether the run can be controlled, so that its sessions can be skipped and retried. */
let isControlled = false;
/** Whether the run can be forked from its sessions. */
let canFork = false;

// The heading.
const status = icon("idle");
const name = element("h1");
const facts = element("span", "facts");
/** What each agent has used. */
const agents = element("div", "facts agents");
const failure = element("p", "failure");
failure.setAttribute("role", "alert");
const says = element("span", "visually-hidden");
says.setAttribute("role", "status");
const commands: Record<PanelCommand, HTMLButtonElement> = {
  cancel: button("stop", "Stop the run", () => send("cancel")),
  pause: button("pause", "Pause the run: running sessions complete, and no new one starts", () => send("pause")),
  continue: button("play", "Continue the run", () => send("continue")),
  resume: button("play", "Resume the run", () => send("resume")),
  rerun: button("again", "Run the program again, with the same inputs", () => send("rerun")),
  state: button("file", "Open state.md", () => send("state")),
};
const tools = element("div", "tools", ...Object.values(commands));
tools.setAttribute("role", "toolbar");
tools.setAttribute("aria-label", "Run");

// The panes and filters.
const shows: Record<Shown, HTMLButtonElement> = {
  both: choice("Both", () => show("both")),
  timeline: choice("Timeline", () => show("timeline")),
  graph: choice("Flow", () => show("graph")),
};
const filters = Object.fromEntries(
  Object.entries(FILTERS).map(([key, { label }]) => [key, choice(label, () => filter(key))]),
);
const followButton = button("follow", "Follow the run", () => follow(!follows));
const view = element(
  "div",
  "view",
  group("Panes", ...Object.values(shows)),
  group("Sessions", ...Object.values(filters)),
  element("span", "space"),
  followButton,
  button("minus", "Zoom out", () => timeline.zoom(1.4)),
  button("plus", "Zoom in", () => timeline.zoom(1 / 1.4)),
  button("fit", "Show the whole run", () => {
    timeline.fit();
    graph.fit();
  }),
);
view.setAttribute("role", "toolbar");
view.setAttribute("aria-label", "View");

const events: TimelineEvents = {
  select(item) {
    graph.select(item.site === undefined || (item.site.program ?? 0) !== 0 ? undefined : graph.nodeAt(item.site.start, item.site.end));
    describe(item);
  },
  reveal(item, keepsFocus) {
    if (item.site !== undefined) editor.postMessage({ type: "reveal", site: item.site, keepsFocus });
  },
  open: read,
  leave: () => follow(false),
  draw: schedule,
};
const timeline = new Timeline(events, undefined, {
  width: editor.getState()?.labels,
  keep: (labels) => editor.setState({ ...editor.getState(), labels }),
});

const graph = new Graph({
  select(node) {
    const item = lastOf(node);
    if (item !== undefined) {
      follow(false);
      timeline.select(item.id);
      describe(item);
    }
  },
  reveal(node, keepsFocus) {
    const [start, end] = node.bytes;
    const site = { start, end, line: node.range.start.line + 1, last_line: node.range.end.line + 1 };
    editor.postMessage({ type: "reveal", site, keepsFocus });
  },
});

// The details of the selected part.
const chosen = element("section", "chosen");
chosen.setAttribute("aria-label", "Selected part");
const chosenText = element("div", "chosen-text");
const readButton = element("button", "link", "Show session");
readButton.addEventListener("click", () => {
  const { selected } = timeline;
  if (selected !== undefined) read(selected);
});
/** What can be done with the selected session while it is open. */
const sessionButtons: Record<SessionCommand, HTMLButtonElement> = {
  skip: sessionButton("skip", "Skip", "End the session with an empty result"),
  retry: sessionButton("retry", "Retry", "Cancel the session and start it again"),
  fork: sessionButton("fork", "Run again from here", "Start a new run that keeps what came before this session"),
  whatIf: sessionButton("whatIf", "What if …", "Change the reply, and start a new run that continues with it"),
};
const detailsButton = element("button", "link", "Details");
detailsButton.type = "button";
detailsButton.title = "Show the prompt, the context, the reply and the tool calls next to each other";
detailsButton.addEventListener("click", () => {
  editor.setState({ ...editor.getState(), hasDetails: editor.getState()?.hasDetails !== true });
  showDetails();
});
const details = new Details();
chosen.append(chosenText, ...Object.values(sessionButtons), readButton, detailsButton);
chosen.hidden = true;
const finder = new Finder(timeline, () => model, page);

const separator = element("div", "separator");
separator.setAttribute("role", "separator");
separator.setAttribute("aria-label", "Size of the timeline");
separator.tabIndex = 0;
const split = element("div", "split", timeline.element, separator, graph.element);

page.append(
  element("header", "", element("div", "title", status, name, facts, element("span", "space"), tools), agents, failure, view, finder.element),
  element("main", "", split),
  chosen,
  details.element,
  says,
);
for (const toolbar of [tools, view]) roving(toolbar);

function sessionButton(command: SessionCommand, label: string, title: string): HTMLButtonElement {
  const created = element("button", "link", label);
  created.type = "button";
  created.title = title;
  created.addEventListener("click", () => {
    const last = described?.attempts.at(-1);
    if (last !== undefined) editor.postMessage({ type: "session-command", command, request: last.request });
  });
  return created;
}

function choice(label: string, press: () => void): HTMLButtonElement {
  const created = element("button", "choice", label);
  created.type = "button";
  created.addEventListener("click", press);
  return created;
}

function group(label: string, ...buttons: HTMLButtonElement[]): HTMLElement {
  const created = element("div", "group", ...buttons);
  created.setAttribute("role", "group");
  created.setAttribute("aria-label", label);
  return created;
}

function press(buttons: Record<string, HTMLButtonElement>, pressed: string): void {
  for (const [key, shown] of Object.entries(buttons)) shown.setAttribute("aria-pressed", String(key === pressed));
}

function show(shown: Shown): void {
  press(shows, shown);
  page.dataset.shows = shown;
  editor.setState({ ...editor.getState(), shows: shown });
  schedule();
}

function filter(key: string): void {
  press(filters, key);
  timeline.setFilter(key, FILTERS[key]?.wants);
}

function follow(wanted: boolean): void {
  follows = wanted;
  followButton.setAttribute("aria-pressed", String(wanted));
  if (wanted) schedule();
}

function send(command: PanelCommand): void {
  editor.postMessage({ type: "command", command });
}

function read(item: Item): void {
  if (item.kind !== "session") return;
  editor.postMessage({ type: "session", requests: item.attempts.map(({ request }) => request), label: item.label });
}

/** The latest part of a statement. */
function lastOf({ bytes: [start, end] }: FlowNode): Item | undefined {
  return model.items.findLast(({ site }) => site !== undefined && (site.program ?? 0) === 0 && start <= site.start && site.end <= end);
}

/** What the editor was asked for. */
let detailed = "";

/** Shows the details of the selected session, if they are wanted. */
function showDetails(): void {
  const isWanted = editor.getState()?.hasDetails === true;
  detailsButton.setAttribute("aria-expanded", String(isWanted));
  const session = isWanted && !chosen.hidden && described?.kind === "session" ? described : undefined;
  const requests = session?.attempts.map(({ request }) => request) ?? [];
  const key = session === undefined ? "" : `${run} ${session.id} ${requests.join()}`;
  if (key === detailed) return;
  detailed = key;
  if (session === undefined) details.close();
  else details.open(requests);
  editor.postMessage({ type: "details", node: session?.id ?? null, requests });
  schedule();
}

function describe(item: Item): void {
  described = item;
  const denials = denialsOf(item);
  const parts = [
    item.agent,
    item.attempts.at(-1)?.session?.model ?? item.model,
    durationText(duration(item, model.now)),
    ...idleTextsOf(item, model.now),
    callsText(item),
    usageText(item.usage),
    item.site === undefined ? "" : model.lineOf(item.site),
  ];
  chosen.hidden = false;
  readButton.hidden = item.kind !== "session";
  detailsButton.hidden = item.kind !== "session";
  const open = isControlled ? openRequest(item) : undefined;
  sessionButtons.skip.hidden = open === undefined;
  sessionButtons.retry.hidden = open?.isAtWork !== true;
  sessionButtons.fork.hidden = !canFork || item.kind !== "session";
  sessionButtons.whatIf.hidden = !canFork || repliedRequest(item) === undefined;
  chosenText.replaceChildren(
    element("strong", "", item.label || item.kind),
    element("span", "facts", parts.filter(Boolean).join(" · ")),
    element("span", item.error === undefined ? "note" : "note error", item.error ?? (activityText(item.activity, model.now) || (item.note ?? ""))),
    ...denials.slice(-3).map((denial) => element("span", "note error", `denied: ${denialText(denial)}`)),
  );
  showDetails();
}

function schedule(): void {
  isUrgent = true;
  scheduleCalmly();
}

function scheduleCalmly(): void {
  if (scheduled) return;
  scheduled = true;
  requestAnimationFrame(frame);
}

function frame(): void {
  scheduled = false;
  clearTimeout(ticking);
  const now = Date.now();
  if (!isUrgent && now - drawnAt < CALM) {
    scheduleCalmly();
    return;
  }
  isUrgent = false;
  drawnAt = now;
  if (pending.length > 0) {
    for (const delta of pending) model.apply(delta);
    pending = [];
    if (described !== undefined && !chosen.hidden) describe(described);
    if (follows && !model.isOver) timeline.follow();
  }
  drawHeading(model.now);
  finder.draw();
  if (page.dataset.shows !== "graph") timeline.draw(model.now);
  if (page.dataset.shows !== "timeline") graph.draw(model.now, follows);
  if (model.root !== undefined && !model.isOver) ticking = setTimeout(scheduleCalmly, TICK);
}

/** What the run asks for, in one version of it. */
let asked = { version: -1, input: false, permission: false };

function drawHeading(now: number): void {
  const { root } = model;
  if (root === undefined) return;
  const { total, running, waiting, complete, failed } = root.sessions;
  if (asked.version !== model.version) {
    const input = model.items.some(({ kind, to }) => kind === "input" && to === undefined);
    const permission = model.items.some(({ activity }) => (activity?.questions ?? []).length > 0);
    asked = { version: model.version, input, permission };
  }
  const { input: asksInput, permission: asksPermission } = asked;
  const isOpen = root.to === undefined;
  const pause = isOpen ? model.pause : undefined;
  const state = (asksInput || asksPermission) && isOpen ? "waiting" : root.status;
  setIcon(status, state === "running" && pause !== undefined ? "paused" : state);
  setText(name, root.label);
  if (page === document.body) document.title = root.label;
  const failures = model.census?.failureCount ?? 0;
  const completed = failures === 0 ? "completed" : `completed with ${counted(failures, "failure", "failures")}`;
  const words = { complete: completed, failed: "failed", interrupted: "stopped", running: pause === undefined ? "running" : pauseText(pause), waiting: asksInput ? "waits for an input" : "waits for permission", skipped: "" };
  const parts = [
    words[state],
    durationText((root.to ?? Math.max(now, model.last)) - root.from),
    ...idleTexts(model.times),
    root.to === undefined ? `${complete + failed} of ${counted(total, "session", "sessions")}` : counted(total, "session", "sessions"),
    running > 0 && `${running} running`,
    waiting > 0 && `${waiting} waiting`,
    failed > 0 && `${failed} failed`,
    usageText(root.usage),
    model.harness,
    root.to === undefined && model.limits,
  ];
  setText(facts, parts.filter(Boolean).join(" · "));
  const used = [...agentTexts(model), ...(failures === 0 ? [] : (model.census?.lines ?? []))];
  setText(agents, used.join(" · "));
  agents.hidden = used.length === 0;
  setText(failure, root.error ?? "");
  failure.hidden = root.error === undefined || root.status === "interrupted";
  // For screen readers, which should not announce a change every second.
  setText(says, `${root.label}: ${words[state]}`);
}

function can(wanted: Ability[]): void {
  for (const [key, shown] of Object.entries(commands)) shown.hidden = !wanted.includes(key as PanelCommand);
  tools.hidden = Object.values(commands).every(({ hidden }) => hidden);
  isControlled = wanted.includes("cancel");
  canFork = wanted.includes("fork");
  if (described !== undefined && !chosen.hidden) describe(described);
}

window.addEventListener("message", ({ data }: MessageEvent<ToPanel>) => {
  switch (data.type) {
    case "run":
      run = data.run;
      pending = [];
      model.apply(data.delta);
      can(data.can);
      chosen.hidden = true;
      described = undefined;
      showDetails();
      finder.show();
      follow(!model.isOver);
      timeline.show(model);
      graph.show(model, data.graph);
      if (!model.isOver) timeline.follow();
      schedule();
      break;
    case "delta":
      if (data.run !== run) break;
      pending.push(data.delta);
      scheduleCalmly();
      break;
    case "can":
      can(data.can);
      break;
    case "details":
      details.show(data.details);
      break;
    case "cursor": {
      graph.setCursor(data.line);
      const item = data.line === null ? undefined : model.itemAtLine(data.line);
      timeline.setCursor(item === undefined ? [] : sameStatement(item));
      break;
    }
  }
});

/** The parts of the same statement, one per execution. */
function sameStatement({ site }: Item): number[] {
  return model.items.filter((item) => item.site?.start === site?.start && item.site?.end === site?.end).map(({ id }) => id);
}

function setSplit(share: number): void {
  const kept = Math.min(0.85, Math.max(0.15, share));
  split.style.setProperty("--share", `${kept * 100}%`);
  separator.setAttribute("aria-valuenow", String(Math.round(kept * 100)));
  editor.setState({ ...editor.getState(), split: kept });
}

function splitShare(event: PointerEvent): number {
  const bounds = split.getBoundingClientRect();
  const isBeside = getComputedStyle(split).flexDirection === "row";
  return isBeside ? (event.clientX - bounds.left) / bounds.width : (event.clientY - bounds.top) / bounds.height;
}

separator.addEventListener("pointerdown", (event) => {
  separator.setPointerCapture(event.pointerId);
  separator.onpointermove = (moved) => setSplit(splitShare(moved));
});
separator.addEventListener("pointerup", () => (separator.onpointermove = null));
separator.addEventListener("keydown", (event) => {
  const step = { ArrowUp: -0.05, ArrowLeft: -0.05, ArrowDown: 0.05, ArrowRight: 0.05 }[event.key];
  if (step === undefined) return;
  setSplit((editor.getState()?.split ?? 0.55) + step);
  event.preventDefault();
});

new MutationObserver(() => timeline.themeChanged()).observe(document.body, { attributes: true, attributeFilter: ["class"] });
new MutationObserver(() => timeline.themeChanged()).observe(document.documentElement, { attributes: true, attributeFilter: ["style"] });

show(editor.getState()?.shows ?? "both");
setSplit(editor.getState()?.split ?? 0.55);
filter("all");
follow(true);
can([]);
editor.postMessage({ type: "ready" });
