// Two runs next to each other, as the server compares them. Independent of the editor, so that tests need no editor.

import { durationText, namedLine, type Usage, usageText } from "./run";

/** Something that a run did: a request with its outcome, or a decision of its program. */
export interface Step {
  kind: string;
  place: string;
  /** From 1; 0 if unknown. */
  line: number;
  /** The imported program that has the line; the program of the run without one. */
  program?: string;
  seq: number;
  agent?: string;
  asked: string;
  result: string;
  usage?: Usage;
  /** In milliseconds. */
  took?: number;
  is_reused?: boolean;
}

export type Part = "asked" | "result";

/** A step of one run or of both. */
export interface Pair {
  a?: Step;
  b?: Step;
  differs?: (Part | "usage" | "place")[];
  /** Whether what was asked or what came of it differs, or only one run has it. */
  different: boolean;
}

export interface Totals {
  run: string;
  program: string;
  status?: string;
  sessions: number;
  decisions: number;
  usage?: Usage;
  took: number;
}

/** The result of `prose/compareRuns`. */
export interface Comparison {
  a: Totals;
  b: Totals;
  steps: Pair[];
}

const KINDS: Record<string, string> = { judge: "condition", choose: "choice" };

/** `session writer at line 4 (s2)` */
export function titleOf({ a, b }: Pair): string {
  const step = a ?? b;
  if (step === undefined) return "";
  const kind = [KINDS[step.kind] ?? step.kind, step.agent, step.kind === "output" ? step.asked : ""].filter(Boolean).join(" ");
  const moved = a !== undefined && b !== undefined && a.place !== b.place ? `, now at ${namedLine(b.line, b.program)} (${b.place})` : "";
  return `${kind} at ${namedLine(step.line, step.program)} (${step.place})${moved}`;
}

/** What differs in a step, in a line each. */
export function differencesOf({ a, b, differs = [] }: Pair): string[] {
  if (a === undefined || b === undefined) {
    const [step, only] = a === undefined ? [b, "the second run"] : [a, "the first run"];
    return [`only in ${only}`, ...(step === undefined ? [] : [firstLine(step.asked), firstLine(step.result)])].filter(Boolean);
  }
  const lines: string[] = [];
  const change = (name: string, before: string, now: string): void => {
    const isShown = firstLine(before) !== firstLine(now);
    lines.push(isShown ? `${name}: ${firstLine(before) || "nothing"} → ${firstLine(now) || "nothing"}` : `${name}: ${firstLine(now)} …`);
  };
  if (differs.includes("asked")) change("asked", a.asked, b.asked);
  if (differs.includes("result")) change("result", a.result, b.result);
  if (differs.includes("usage")) lines.push(`used: ${usageText(a.usage) || "nothing reported"} → ${usageText(b.usage) || "nothing reported"}`);
  return lines;
}

/** `completed · 3 sessions · 1.2k tokens · 3.4 s` */
export function totalsText({ status, sessions, decisions, usage, took }: Totals): string {
  const parts = [
    status ?? "not ended",
    `${sessions} ${sessions === 1 ? "session" : "sessions"}`,
    decisions === 0 ? "" : `${decisions} ${decisions === 1 ? "decision" : "decisions"}`,
    usageText(usage),
    durationText(took),
  ];
  return parts.filter(Boolean).join(" · ");
}

function firstLine(text: string): string {
  const [line = ""] = text.trim().split("\n", 1);
  return line.length > 100 ? `${line.slice(0, 99)}…` : line;
}
