// The messages between the editor and the panel of a run.

import type { FlowGraph } from "../../panel/layout";
import type { RunDelta, Site } from "./run";

/** The actions on a run. */
export type PanelCommand = "cancel" | "pause" | "continue" | "resume" | "rerun" | "state";

/** The actions on a session of a run. */
export type SessionCommand = "skip" | "retry";

/** Messages to the panel. */
export type ToPanel =
  /** The complete run that the panel shows. */
  | { type: "run"; run: string; delta: RunDelta; graph: FlowGraph | null; can: PanelCommand[] }
  /** Its changes since then. */
  | { type: "delta"; run: string; delta: RunDelta }
  /** The available actions. */
  | { type: "can"; can: PanelCommand[] }
  /** The line of the cursor in the program, from 1. */
  | { type: "cursor"; line: number | null };

/** Messages to the editor. */
export type FromPanel =
  | { type: "ready" }
  /** Show the statement. */
  | { type: "reveal"; site: Site; keepsFocus: boolean }
  /** Open a session. */
  | { type: "session"; requests: number[]; label: string }
  | { type: "command"; command: PanelCommand }
  | { type: "session-command"; command: SessionCommand; request: number };
