// The document of a session, with its prompt and its reply. Independent of the editor, so that tests need no editor.

import { fenceFor } from "../narration";
import type { AgentLog } from "./agentLog";
import { type AgentSession, counted, type Denial, denialText, durationText, namedLine, type Run, type Usage, usageText } from "./run";

/** A session: the result of `prose/session`. Texts are complete. */
export interface Session {
  request: number;
  line: number | null;
  /** The imported program that has the line; none for the program of the run. */
  program?: string | null;
  agent: string | null;
  model: string | null;
  skills: string[];
  permissions: { about: string; rule: string | { patterns: string[] } }[];
  attempt: number;
  retries: number;
  task: string;
  prompt: string;
  system: string | null;
  context: { name: string; text: string | null; file: string | null }[];
  memory: { scope: string; resumes: boolean; before: string | null; after: string | null; file: string | null } | null;
  name: string;
  file: string | null;
  reply: string | null;
  usage: Usage | null;
  calls: number;
  denials: Denial[];
  agentSession: AgentSession | null;
  log: string | null;
  warnings: string[] | null;
  error: string | null;
  status: string | null;
  started: number;
  began: number | null;
  ended: number | null;
  /** How long the attempt took, without the time of waiting for an agent or for people. */
  took: number | null;
  /** How long the session waited for people. */
  waited: number;
}

/** What a panel shows of a session. */
export interface SessionDetails {
  /** The requests of its attempts, which identify it. */
  requests: number[];
  attempts: Session[];
  /** What the agent of the last attempt has reported. */
  log: AgentLog | null;
  /** The statement, as it was when the run started. */
  code: { line: number; text: string } | null;
}

/** How many lines of a statement are shown. */
const MAX_LINES = 12;

/** The texts of programs where only that of the run is known. */
export function ofRunAlone(text: string | null | undefined): (program: number) => string | null | undefined {
  return (program) => (program === 0 ? text : null);
}

/** The statement of a session in the text of its program, as far as the text is known: that of the run has the number 0. */
export function codeOf({ items }: Run, textOf: (program: number) => string | null | undefined, requests: number[]): SessionDetails["code"] {
  const site = items.find(({ attempts }) => attempts.some(({ request }) => requests.includes(request)))?.site;
  const text = site && textOf(site.program ?? 0);
  if (site === undefined || text == null) return null;
  const lines = text.split("\n").slice(site.line - 1, Math.min(site.last_line, site.line - 1 + MAX_LINES));
  return { line: site.line, text: lines.join("\n") };
}

/** The attempts of a session as one document: the last prompt and reply, and the errors of earlier attempts. */
export function sessionAsText(attempts: readonly Session[]): string {
  const session = attempts.at(-1);
  if (session === undefined) return "No data about this session.\n";
  const parts = [`# ${session.agent ?? "Session"}: ${firstLine(session.task) || session.name}\n`, `${factsOf(session).join(" · ")}\n`];
  for (const { attempt, error } of attempts.slice(0, -1)) {
    parts.push(`Attempt ${attempt + 1} failed: ${error ?? "it did not end"}\n`);
  }
  for (const warning of session.warnings ?? []) parts.push(`Warning: ${warning}\n`);
  for (const denial of session.denials) parts.push(`Warning: tool call denied: ${denialText(denial)}\n`);
  if (session.error !== null) parts.push(`## Error\n\n${fenced(session.error)}\n`);
  else if (session.reply !== null) parts.push(`## Reply\n\n${fenced(session.reply)}\n`);
  else parts.push(`## Reply\n\n*${session.ended === null ? "No reply yet." : "No reply."}*\n`);
  parts.push(`## Prompt\n\n${fenced(session.prompt)}\n`);
  if (session.system !== null) parts.push(`## System prompt\n\n${fenced(session.system)}\n`);
  parts.push(`## Context\n`);
  if (session.context.length === 0) parts.push("*No context.*\n");
  for (const { name, text } of session.context) {
    parts.push(`### ${name}\n\n${text === null ? "*The file no longer exists.*" : fenced(text)}\n`);
  }
  const { memory } = session;
  if (memory !== null) {
    parts.push(`## Memory\n\n${SCOPES[memory.scope] ?? ""}\n`);
    const before = memory.before ?? (memory.resumes ? "" : "*Started without memory.*");
    parts.push(`### Before\n\n${memory.before === null ? before || "*No memory yet.*" : fenced(memory.before)}\n`);
    if (memory.after !== null) parts.push(`### After\n\n${fenced(memory.after)}\n`);
  }
  const files: [string, string | null | undefined][] = [
    [session.name, session.file],
    ...session.context.map(({ name, file }): [string, string | null] => [name, file]),
    ["memory.md", memory?.file],
    ["Log of the agent", session.log],
  ];
  const links = files.flatMap(([name, file]) => (file == null ? [] : [`- [${name}](${file})`]));
  if (links.length > 0) parts.push(`## Files\n\n${links.join("\n")}\n`);
  return parts.join("\n");
}

/** What has a memory of a scope. */
export const SCOPES: Record<string, string> = {
  execution: "Scope: this run.",
  project: "Scope: this project.",
  user: "Scope: all projects of the user.",
  custom: "Scope: the folder that the program names.",
};

/** The facts about an attempt, in a few words each. */
export function factsOf(session: Session): string[] {
  const { line, program, model, retries, attempt, began, started, ended, took, waited, usage, calls, agentSession, status, skills, permissions, name } = session;
  const rules = permissions.map(({ about, rule }) => `${about}: ${typeof rule === "string" ? rule : rule.patterns.join(", ")}`);
  return [
    status ?? "running",
    model === null ? "" : `model ${model}`,
    line === null ? "" : namedLine(line, program ?? undefined),
    ended === null || took === null ? "" : `took ${durationText(took)}`,
    waited > 0 ? `waited ${durationText(waited)} for answers` : "",
    began === null ? "" : `waited ${durationText(began - started)}`,
    retries === 0 ? "" : `attempt ${attempt + 1} of ${retries + 1}`,
    usage === null ? "" : `${usage.input_tokens} tokens read, ${usage.output_tokens} written${usage.cost === undefined ? "" : `, ${usageText(usage).split(", ")[1]}`}`,
    calls === 0 ? "" : counted(calls, "tool call", "tool calls"),
    agentSession === null ? "" : `session \`${agentSession.id}\`${agentSession.model === undefined ? "" : ` with ${agentSession.model}`}`,
    agentSession?.transcript === undefined ? "" : `transcript \`${agentSession.transcript}\``,
    skills.length === 0 ? "" : `skills ${skills.join(", ")}`,
    ...rules,
    `bound to \`${name}\``,
  ].filter(Boolean);
}

function fenced(text: string): string {
  const fence = fenceFor(text);
  return `${fence}\n${text.trimEnd()}\n${fence}`;
}

function firstLine(text: string): string {
  const [line = ""] = text.trim().split("\n", 1);
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
}
