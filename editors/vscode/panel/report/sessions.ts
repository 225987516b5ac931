// The sessions of a run, each with its texts, which are read and drawn when it is opened.

import { readLog } from "../../src/runs/agentLog";
import { callsText, counted, denialText, duration, durationText, type Item, usageText } from "../../src/runs/run";
import { factsOf, SCOPES, type Session } from "../../src/runs/session";
import { element, icon, setText } from "../dom";
import { contains } from "../rows";
import type { OpenRun } from "./data";
import { part } from "./page";

/** How many sessions are listed at once. */
const PAGE = 100;
/** How many sessions are printed with their texts. */
const MAX_PRINTED = 500;

export class Sessions {
  readonly root: HTMLElement;
  private readonly list = element("div", "sessions");
  private readonly found = element("span", "facts");
  private readonly field = element("input", "search");
  private readonly failedOnly = element("input");
  private readonly more = element("button", "choice");
  private run: OpenRun | undefined;
  private items: Item[] = [];
  private shown = 0;
  private readonly opened = new Map<number, HTMLDetailsElement>();

  constructor() {
    const { root, body } = part("sessions", "Sessions");
    this.root = root;
    this.field.type = "search";
    this.field.placeholder = "Filter";
    this.field.setAttribute("aria-label", "Filter sessions");
    this.field.addEventListener("input", () => this.filter());
    this.failedOnly.type = "checkbox";
    this.failedOnly.addEventListener("change", () => this.filter());
    this.found.setAttribute("role", "status");
    this.more.type = "button";
    this.more.addEventListener("click", () => this.add(this.shown + PAGE));
    const tools = element("div", "list-tools", this.field, element("label", "", this.failedOnly, " failed only"), this.found);
    body.append(tools, this.list, this.more);
    // More of them are listed when the end comes into view.
    new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting) && !this.more.hidden) this.add(this.shown + PAGE);
    }, { rootMargin: "400px" }).observe(this.more);
  }

  show(run: OpenRun): void {
    this.run = run;
    this.field.value = "";
    this.failedOnly.checked = false;
    this.filter();
  }

  /** Opens the session with one of these requests, and leads to it. */
  open(requests: readonly number[]): void {
    const isMeant = ({ attempts }: Item): boolean => attempts.some(({ request }) => requests.includes(request));
    if (!this.items.some(isMeant)) {
      this.field.value = "";
      this.failedOnly.checked = false;
      this.filter();
    }
    const index = this.items.findIndex(isMeant);
    const item = this.items[index];
    if (item === undefined) return;
    this.add(index + 1);
    const entry = this.opened.get(item.id);
    if (entry === undefined) return;
    entry.open = true;
    this.fill(entry, item);
    entry.scrollIntoView({ block: "start" });
    entry.querySelector("summary")?.focus({ preventScroll: true });
  }

  /** Opens what is printed. Returns what closes it again. */
  print(): () => void {
    this.add(Math.min(this.items.length, MAX_PRINTED));
    const closed: HTMLDetailsElement[] = [];
    for (const item of this.items.slice(0, MAX_PRINTED)) {
      const entry = this.opened.get(item.id);
      if (entry === undefined || entry.open) continue;
      entry.open = true;
      this.fill(entry, item);
      closed.push(entry);
    }
    const rest = this.items.length - MAX_PRINTED;
    const note = element("p", "note-print", `${counted(rest, "more session is", "more sessions are")} not printed; filter the list to print others.`);
    if (rest > 0) this.root.append(note);
    return () => {
      note.remove();
      for (const entry of closed) entry.open = false;
    };
  }

  private filter(): void {
    const text = this.field.value.trim().toLowerCase();
    const all = this.run?.model.items.filter(({ kind }) => kind === "session") ?? [];
    const isFailed = ({ status, attempts }: Item): boolean => status === "failed" || attempts.some(({ status }) => status === "failed");
    this.items = all.filter((item) => (text === "" || contains(item, text)) && (!this.failedOnly.checked || isFailed(item)));
    const isFiltered = this.items.length < all.length;
    setText(this.found, isFiltered ? `${this.items.length} of ${counted(all.length, "session", "sessions")}` : counted(all.length, "session", "sessions"));
    this.opened.clear();
    this.list.replaceChildren();
    this.shown = 0;
    this.add(PAGE);
  }

  /** Lists so many sessions. */
  private add(count: number): void {
    const wanted = this.items.slice(this.shown, count);
    this.list.append(...wanted.map((item) => this.entry(item)));
    this.shown += wanted.length;
    const rest = this.items.length - this.shown;
    this.more.hidden = rest === 0;
    setText(this.more, `Show ${Math.min(rest, PAGE)} more of ${this.items.length}`);
  }

  private entry(item: Item): HTMLDetailsElement {
    const { run } = this;
    const facts = [
      item.agent,
      item.attempts.length > 1 && counted(item.attempts.length, "attempt", "attempts"),
      durationText(duration(item, run?.model.now ?? 0)),
      callsText(item),
      usageText(item.usage),
      item.site !== undefined && run?.model.lineOf(item.site),
    ];
    const status = element("span", "visually-hidden", `${STATUS[item.status] ?? item.status}: `);
    const summary = element("summary", "", icon(item.status), status, element("strong", "", item.label || "session"), element("span", "facts", facts.filter(Boolean).join(" · ")));
    const entry = element("details", "session", summary);
    entry.addEventListener("toggle", () => entry.open && this.fill(entry, item));
    this.opened.set(item.id, entry);
    return entry;
  }

  /** Draws the texts of a session, once. */
  private fill(entry: HTMLDetailsElement, item: Item): void {
    if (entry.childElementCount > 1 || this.run === undefined) return;
    const attempts = this.run.sessions(item.attempts.map(({ request }) => request));
    entry.append(sessionElement(attempts));
  }
}

const STATUS: Record<string, string> = { complete: "done", skipped: "not finished", interrupted: "stopped" };

/** The attempts of a session: earlier ones with their errors, the last one with all its texts. */
function sessionElement(attempts: readonly Session[]): HTMLElement {
  const body = element("div", "session-body");
  const session = attempts.at(-1);
  if (session === undefined) {
    body.append(element("p", "facts", "No data about this session."));
    return body;
  }
  for (const { attempt, error, usage } of attempts.slice(0, -1)) {
    const used = usageText(usage ?? undefined);
    body.append(element("p", "error", `Attempt ${attempt + 1} failed: ${error ?? "it did not end"}${used === "" ? "" : ` (${used})`}`));
  }
  body.append(element("p", "session-facts", factsOf(session).join(" · ")));
  for (const warning of session.warnings ?? []) body.append(element("p", "warning", `Warning: ${warning}`));
  for (const denial of session.denials) body.append(element("p", "warning", `Tool call denied: ${denialText(denial)}`));
  if (session.error !== null) text(body, "Error", session.error);
  else text(body, "Reply", session.reply, session.ended === null ? "No reply yet." : "No reply.");
  text(body, "Prompt", session.prompt);
  if (session.system !== null) text(body, "System prompt", session.system);
  for (const { name, text: value } of session.context) text(body, `Context: ${name}`, value, "The file is not part of this report.");
  const { memory } = session;
  if (memory !== null) {
    text(body, `Memory before. ${SCOPES[memory.scope] ?? ""}`, memory.before, memory.resumes ? "No memory yet." : "Started without memory.");
    if (memory.after !== null) text(body, "Memory after", memory.after);
  }
  const tools = session.log === null ? [] : readLog(session.log).tools;
  if (tools.length > 0) {
    const rows = tools.map(({ kind, status, title }) => element("li", "", `${kind}, ${status}: ${title}`));
    body.append(element("h3", "", "Tool calls"), element("ul", "", ...rows));
  }
  return body;
}

function text(body: HTMLElement, title: string, value: string | null, without = ""): void {
  const shown = value === null || value === "" ? element("p", "facts", without || "Empty.") : element("pre", "", value);
  body.append(element("h3", "", title), shown);
}
