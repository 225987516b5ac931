// What the module of OpenProse for browsers offers: the methods of crates/prose-web, with their parameters and results.
//
// Offsets count UTF-16 code units of the text of a file, as strings of JavaScript do.

import type { FlowGraph } from "../../vscode/panel/layout";
import type { RunDelta } from "../../vscode/src/runs/run";
import type { SessionDetails } from "../../vscode/src/runs/session";

/** A part of a file. */
export interface Span {
  from: number;
  to: number;
}

export interface Edit extends Span {
  insert: string;
}

/** A part of one of the files. */
export interface Place extends Span {
  name: string;
}

export interface Fix {
  title: string;
  /** Whether it surely has the intended meaning. */
  isSafe: boolean;
  edits: Edit[];
}

export interface Diagnostic extends Span {
  severity: "error" | "warning" | "information" | "hint";
  /** Its code, such as E007. */
  code: string;
  message: string;
  tag: "unnecessary" | "deprecated" | null;
  /** The preferred fix first. */
  fixes: Fix[];
  related: (Place & { message: string })[];
}

export interface Completion extends Span {
  label: string;
  kind: "keyword" | "agent" | "block" | "program" | "variable" | "parameter" | "constant" | "property" | "value" | "field" | "file" | "snippet";
  detail: string | null;
  /** As Markdown. */
  documentation: string | null;
  insert: string;
  /** With gaps as the Language Server Protocol has them: `${1:name}`, `$0`. */
  snippet: string | null;
  /** What the typed text is compared with, instead of the label. */
  filter: string | null;
  /** Whether there is more to complete after it. */
  continues: boolean;
}

export interface Hover extends Span {
  /** As Markdown. */
  markdown: string;
}

export interface Symbol extends Span {
  name: string;
  detail: string | null;
  kind: "agent" | "block" | "import" | "input" | "output" | "variable" | "constant" | "session";
  selection: Span;
  children: Symbol[];
}

/** A token on one line: its type and modifiers have the names that VS Code knows. */
export interface Token extends Span {
  type: string;
  modifiers: string[];
}

export interface Input {
  name: string;
  prompt: string;
}

export interface RunOptions {
  /** The file with the program. */
  name: string;
  harness: "offline" | "script";
  /** The file with the script; needed for the harness `script`. */
  script?: string;
  /** The seed of generated replies; 0 by default. */
  seed?: number;
  /** The time of each generated reply in milliseconds; 0 by default. */
  delay?: number;
  /** Inputs that are given in advance. Others are asked. */
  inputs?: Record<string, string>;
}

export interface Question {
  id: number;
  kind: "input" | "permission";
  /** What is asked. */
  text: string;
  /** The line of the program, from 1. */
  line: number;
  /** The answers that it offers; empty if any text is one. */
  choices: { value: string; title: string }[];
  /** An optional input may be left out. */
  isOptional: boolean;
}

export interface RunEnd {
  status: "completed" | "failed" | "interrupted" | "waiting";
  /** Why, unless it is complete. */
  error: string | null;
  outputs: { name: string; text: string }[];
  /** The value of the program without named outputs; null if there is none. */
  value: string | null;
}

/** What has happened since the last turn. */
export interface Turn {
  /** The change of the view; null if nothing has changed. */
  delta: RunDelta | null;
  questions: Question[];
  /** Set from the last turn on. */
  end: RunEnd | null;
}

export type RunCommand = { command: "pause" } | { command: "continue" } | { command: "stop" } | { command: "skip" | "retry"; request: number };

/** The methods by their names: what they take and what they give. An error has a message for the user. */
export interface Methods {
  /** Adds or replaces a file. Its name is a relative path, such as `main.prose`. */
  setFile: [{ name: string; text: string }, null];
  removeFile: [{ name: string }, null];
  diagnostics: [{ name: string }, Diagnostic[]];
  completions: [{ name: string; offset: number }, Completion[]];
  hover: [{ name: string; offset: number }, Hover | null];
  definition: [{ name: string; offset: number }, Place[]];
  references: [{ name: string; offset: number }, Place[]];
  /** The name at an offset; an error if it cannot be renamed. */
  renameable: [{ name: string; offset: number }, Span & { placeholder: string }];
  rename: [{ name: string; offset: number; newName: string }, { name: string; edits: Edit[] }[]];
  symbols: [{ name: string }, Symbol[]];
  tokens: [{ name: string }, Token[]];
  folds: [{ name: string }, (Span & { kind: "block" | "inside" | "comment" | "imports" | "region" })[]];
  format: [{ name: string }, Edit[]];
  graph: [{ name: string }, FlowGraph];
  inputs: [{ name: string }, Input[]];
  /** The explanation of a code, as Markdown. */
  explain: [{ code: string }, string];
  /** Starts a run; there is one at a time. An error if the program has errors. */
  start: [RunOptions, { run: string }];
  /** Performs what can be performed now. While a run is executed, it is called every few milliseconds. */
  turn: [Record<string, never>, Turn];
  answer: [{ id: number; text: string }, null];
  command: [RunCommand, null];
  /** All attempts of a session with all texts. */
  sessions: [{ requests: number[] }, SessionDetails["attempts"]];
}

export type Method = keyof Methods;
export type Params<M extends Method> = Methods[M][0];
export type Result<M extends Method> = Methods[M][1];
