// The messages between the editor and the panel of a run.

import type { FlowGraph, FlowNode } from "../../panel/layout";
import type { Comparison, Part } from "./comparison";
import type { SessionDetails } from "./session";
import type { RunDelta, Site } from "./run";

/** The actions on a run. */
export type PanelCommand = "cancel" | "pause" | "continue" | "resume" | "rerun" | "state";

/** What is available: the actions on the run, and forks from its sessions. */
export type Ability = PanelCommand | "fork";

/** The actions on a session of a run. */
export type SessionCommand = "skip" | "retry" | "fork" | "whatIf";

/** Messages to the panel. */
export type ToPanel =
  /** The complete run that the panel shows. */
  | { type: "run"; run: string; delta: RunDelta; graph: FlowGraph | null; can: Ability[] }
  /** Its changes since then. */
  | { type: "delta"; run: string; delta: RunDelta }
  /** The available actions. */
  | { type: "can"; can: Ability[] }
  /** The session whose details are shown, or what has changed in it. */
  | { type: "details"; details: SessionDetails }
  /** The line of the cursor in the program, from 1. */
  | { type: "cursor"; line: number | null };

/** Messages to the editor. */
export type FromPanel =
  | { type: "ready" }
  /** Show the statement. */
  | { type: "reveal"; site: Site; keepsFocus: boolean }
  /** Open a session. */
  | { type: "session"; requests: number[]; label: string }
  /** The session whose details are shown from now on: its node and the requests of its attempts; none without a node. */
  | { type: "details"; node: number | null; requests: number[] }
  | { type: "command"; command: PanelCommand }
  | { type: "session-command"; command: SessionCommand; request: number };

/** The message to the panel that compares two runs: both with their complete views. */
export interface ToComparePanel {
  type: "comparison";
  a: RunDelta;
  b: RunDelta;
  comparison: Comparison;
}

/** Messages of the panel that compares two runs. */
export type FromComparePanel =
  | { type: "ready" }
  /** Open the editor's diff of a text of a step. */
  | { type: "diff"; step: number; part: Part };

/** Messages to the page with the flow of a program. */
export type ToFlowPanel =
  | { type: "flow"; name: string; graph: FlowGraph | null }
  /** The line of the cursor, from 1. */
  | { type: "cursor"; line: number | null };

/** Messages of the page with the flow of a program. */
export type FromFlowPanel =
  | { type: "ready" }
  /** Show a statement. */
  | { type: "show"; range: FlowNode["range"]; keepsFocus: boolean };
