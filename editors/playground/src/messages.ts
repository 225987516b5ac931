// The messages between the page and the worker that has the language module.

import type { Method, Turn } from "./language";

/** Messages to the worker. */
export type ToWorker =
  /** The first message: the compiled module. */
  | { module: WebAssembly.Module }
  | { id: number; method: Method; params: unknown };

/** Messages of the worker. */
export type FromWorker =
  | { id: number; result: unknown }
  | { id: number; error: string }
  /** What has happened in the run. */
  | { turn: Turn }
  /** The module has stopped, and was started again: its run is lost. */
  | { restarted: true };
