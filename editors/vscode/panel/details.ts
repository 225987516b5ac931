// The details of a session: its place in the program, prompt, context, reply, tool calls and attempts next to each other.

import { durationText, usageText } from "../src/runs/run";
import type { Session, SessionDetails } from "../src/runs/session";
import { element, setText } from "./dom";

/** A column, whose content is replaced only if it has changed, so that its scroll position stays. */
interface Column {
  root: HTMLElement;
  heading: HTMLElement;
  body: HTMLElement;
  shown: string;
}

/** A part of a column: a heading of its own, and a text. */
type Part = [heading: string, text: string];

/** How near to the end a live text has to be scrolled to stay there. */
const NEAR = 24;

export class Details {
  readonly element = element("section", "details");
  private readonly columns: Record<"code" | "prompt" | "context" | "reply" | "tools", Column>;
  private requests: number[] = [];

  constructor() {
    this.element.setAttribute("aria-label", "Session");
    this.columns = {
      code: column("Statement and attempts"),
      prompt: column("Prompt"),
      context: column("Context"),
      reply: column("Reply"),
      tools: column("Tool calls"),
    };
    this.element.append(...Object.values(this.columns).map(({ root }) => root));
    this.element.hidden = true;
  }

  /** Shows another session, whose details come later. */
  open(requests: number[]): void {
    this.element.hidden = false;
    if (requests.join() === this.requests.join()) return;
    this.requests = requests;
    for (const shown of Object.values(this.columns)) fill(shown, [["", "…"]]);
  }

  close(): void {
    this.element.hidden = true;
    this.requests = [];
  }

  /** Shows the details of the session, unless another one was opened in the meantime. */
  show({ requests, attempts, log, code }: SessionDetails): void {
    const last = attempts.at(-1);
    if (requests.join() !== this.requests.join() || last === undefined) return;
    const { columns } = this;
    const statement: Part[] = code === null ? [] : [[`line ${code.line}`, code.text]];
    fill(columns.code, [...statement, ...attempts.map(attemptPart)]);
    fill(columns.prompt, [["", last.prompt], ...(last.system === null ? [] : [["System prompt", last.system] satisfies Part])]);
    const memory: Part[] = last.memory === null ? [] : [["Memory", last.memory.before ?? "No memory yet."]];
    const context = last.context.map(({ name, text }): Part => [name, text ?? "The file no longer exists."]);
    fill(columns.context, [...context, ...memory], "No context.");
    const isOpen = last.ended === null;
    const live = log === null || log.text === "" ? (log?.reasoning ?? "") : log.text;
    setText(columns.reply.heading, isOpen ? "Reply, being written" : "Reply");
    if (last.error !== null) fill(columns.reply, [["Error", last.error], ...(live === "" ? [] : [["", live] satisfies Part])]);
    else fill(columns.reply, [["", last.reply ?? live]], isOpen ? "No reply yet." : "No reply.", isOpen);
    const calls = (log?.tools ?? []).map(({ kind, status, title }): Part => [`${kind}, ${status}`, title]);
    const denials = last.denials.map(({ title, reason }): Part => [`denied (${reason})`, title]);
    fill(columns.tools, [...calls, ...denials], last.calls > 0 ? `${last.calls} tool calls, without a log` : "No tool calls.", isOpen);
  }
}

function attemptPart(session: Session): Part {
  const { attempt, retries, status, error, ended, took, waited, usage, model } = session;
  const facts = [
    status ?? "running",
    ended === null || took === null ? "" : durationText(took),
    waited > 0 ? `waited ${durationText(waited)} for answers` : "",
    model === null ? "" : model,
    usageText(usage ?? undefined),
  ];
  const name = retries > 0 ? `attempt ${attempt + 1} of ${retries + 1}` : "attempt";
  return [name, [facts.filter(Boolean).join(" · "), error ?? ""].filter(Boolean).join("\n")];
}

function column(title: string): Column {
  const [heading, body] = [element("h2", "", title), element("div", "column-text")];
  // It scrolls, so that the keyboard has to reach it.
  body.tabIndex = 0;
  body.setAttribute("role", "region");
  body.setAttribute("aria-label", title);
  return { root: element("div", "column", heading, body), heading, body, shown: "" };
}

function fill(column: Column, parts: Part[], without = "", isLive = false): void {
  const shown = parts.filter(([heading, text]) => heading !== "" || text !== "");
  const key = JSON.stringify([shown, without]);
  if (column.shown === key) return;
  column.shown = key;
  const { body } = column;
  const isAtEnd = body.scrollTop + body.clientHeight >= body.scrollHeight - NEAR;
  if (shown.length === 0) body.replaceChildren(element("p", "facts", without));
  else body.replaceChildren(...shown.flatMap(([heading, text]) => [...(heading === "" ? [] : [element("h3", "", heading)]), element("pre", "", text)]));
  if (isLive && isAtEnd) body.scrollTop = body.scrollHeight;
}
