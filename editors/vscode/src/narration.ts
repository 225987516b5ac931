// The lines about a run in the output. Independent of the editor, so that tests need no editor.

import { counted, durationText, type Entry, type Item, namedLine, type RunDelta } from "./runs/run";

/** The changes of a run: `prose/runView`. */
export interface RunView {
  run: string;
  uri: string;
  /** What the run may use, at its start. */
  limits?: string;
  view: RunDelta;
}

/** Renders the changes of a run as lines. */
export function narrated({ run, limits, view }: RunView): string[] {
  const nodes = new Map(view.nodes.map((node) => [node.id, node]));
  return view.entries.flatMap((entry) => {
    const said = line(run, view, entry, nodes.get(entry.node), limits);
    return said === undefined ? [] : said.split("\n").map((part) => "  ".repeat(entry.nesting) + part);
  });
}

function line(run: string, view: RunDelta, entry: Entry, node?: Partial<Item>, limits?: string): string | undefined {
  const { kind, attempt: index, message, harness } = entry;
  const name = [node?.agent, firstLine(node?.label ?? "")].filter((part) => part !== undefined).join(": ");
  switch (kind) {
    case "started":
      return `Run ${run} of ${view.program} with ${harness}${limits === undefined ? "" : `, ${limits}`}`;
    case "resumed":
      return `Run ${run} resumes with ${harness}${limits === undefined ? "" : `, ${limits}`}`;
    case "attempt":
      return `… ${name}`;
    case "attempt-ended": {
      const attempt = node?.attempts?.[index ?? 0];
      if (attempt?.status === "complete") return `✓ ${name}`;
      return attempt?.status === "failed" ? `✗ ${name}: ${firstLine(attempt.error ?? "")}` : `■ ${name}`;
    }
    case "cancelled":
      // The ends of its sessions are not shown.
      return `■ ${node?.label}`;
    case "node":
      if (node?.kind === "input") return `waits for ${node.label || "an input"}: ${firstLine(node.detail ?? "")}`;
      return node?.kind === "part" ? `caught: ${node.detail}` : undefined;
    case "warning":
      return `warning: ${message}`;
    case "asked":
      return `${name} asks for permission: ${firstLine(entry.title ?? "")}`;
    case "provider-retry": {
      const status = entry.status == null ? "" : ` with status ${entry.status}`;
      return `${name}: provider failed${status}, retrying in ${durationText(entry.delay ?? 0)}: ${firstLine(message ?? "")}`;
    }
    case "stalled":
      return `warning: ${name}: no activity for ${durationText(entry.silent ?? 0)}`;
    case "ended":
      return view.end === undefined ? undefined : ended(run, view.end, view.census);
    default:
      return undefined;
  }
}

function ended(run: string, { status, sessions, error }: NonNullable<RunDelta["end"]>, census?: RunDelta["census"]): string {
  const done = sessions === 1 ? "1 session" : `${sessions} sessions`;
  const place = error && error.line > 0 ? ` at line ${error.line}` : "";
  const why = error ? `${place}: ${error.message}` : "";
  const failures = census?.failureCount ?? 0;
  if (status !== "completed" || failures === 0) return `Run ${run} ${status} after ${done}${why}`;
  const handled = census?.lines.map((line) => `\n  ${line}`) ?? [];
  return `Run ${run} completed with ${counted(failures, "failure", "failures")} after ${done}${handled.join("")}`;
}

/** The first line of a text, shortened. */
function firstLine(text: string): string {
  const [line = ""] = text.trim().split("\n", 1);
  return line.length > 100 ? `${line.slice(0, 99)}…` : line;
}

/** The request of a program for an input: `prose/input`. */
export interface InputQuestion {
  run: string;
  name: string | null;
  prompt: string;
  mayRephrase: boolean;
  optional: boolean;
  /** The answers that the prompt offers; any text is an answer without them. */
  choices?: { value: string; title: string }[];
  /** Why the previous answer was not taken. */
  problem?: string;
}

/** A prompt of a session, condition or choice, in the result of `prose.dryRun`. */
interface Prompt {
  kind: string;
  line: number;
  /** The imported program that has the line; null for the program that is run. */
  program: string | null;
  agent: string | null;
  model: string | null;
  prompt: string;
  system: string | null;
}

/** The result of `prose.dryRun`. */
export interface DryRun {
  prompts: Prompt[];
  failed: { line: number; message: string } | null;
}

/** Renders a dry run as text. */
export function promptsAsText(name: string, { prompts, failed }: DryRun): string {
  const parts = [`# Prompts of ${name}\n\nNo agent was called; replies in between are generated.\n`];
  prompts.forEach(({ kind, line, program, agent, model, prompt, system }, index) => {
    const where = namedLine(line, program ?? undefined);
    const facts = [where, kind !== "session" && kind, agent && `agent ${agent}`, model && `model ${model}`].filter(Boolean);
    const fence = fenceFor(prompt + (system ?? ""));
    parts.push(`## ${index + 1}: ${facts.join(", ")}\n\n${fence}\n${prompt}\n${fence}\n`);
    if (system) parts.push(`System:\n\n${fence}\n${system}\n${fence}\n`);
  });
  if (failed) parts.push(`With these replies, the program fails at line ${failed.line}: ${failed.message}\n`);
  return parts.join("\n");
}

/** A fence that does not occur in its content. */
export function fenceFor(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  return "`".repeat(longest + 1);
}
