// What the editor and the panel of a run tell each other.

import type { FlowGraph } from "../../panel/layout";
import type { RunDelta, Site } from "./run";

/** What the panel can have done. */
export type PanelCommand = "cancel" | "resume" | "rerun" | "state";

/** What the editor tells the panel. */
export type ToPanel =
  /** The run that the panel shows, from its beginning. */
  | { type: "run"; run: string; delta: RunDelta; graph: FlowGraph | null; can: PanelCommand[] }
  /** What happened since. */
  | { type: "delta"; run: string; delta: RunDelta }
  /** What can be done now. */
  | { type: "can"; can: PanelCommand[] }
  /** The line of the program that the cursor is in, from 1. */
  | { type: "cursor"; line: number | null };

/** What the panel tells the editor. */
export type FromPanel =
  | { type: "ready" }
  /** A person wants to see the statement. */
  | { type: "reveal"; site: Site; keepsFocus: boolean }
  /** A person wants to read a session. */
  | { type: "session"; requests: number[]; label: string }
  | { type: "command"; command: PanelCommand };
