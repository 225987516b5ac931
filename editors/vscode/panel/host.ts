// A host of the panel in a page without an editor: it answers what the panel asks an editor for.

import type { FromPanel, ToPanel } from "../src/runs/messages";

type Receive = (message: FromPanel) => void;

export interface Host {
  /** Receives what the panel asks for, also what it asked for before. */
  listen(listener: Receive): void;
  /** Sends a message to the panel. */
  send(data: ToPanel): void;
}

/**
 * Becomes the host of the panel. The panel takes its host when it is loaded, so that a module of its own has to do this, which the page imports first.
 * `state` is what the panel has kept.
 */
export function becomeHost(state: unknown): Host {
  let receive: Receive | undefined;
  const early: FromPanel[] = [];
  Object.assign(globalThis, {
    acquireVsCodeApi: () => ({
      postMessage: (message: FromPanel) => {
        if (receive === undefined) early.push(message);
        else receive(message);
      },
      getState: () => state,
      setState: (next: unknown) => (state = next),
    }),
  });
  return {
    listen(listener) {
      receive = listener;
      for (const message of early.splice(0)) listener(message);
    },
    send(data) {
      window.dispatchEvent(new MessageEvent("message", { data }));
    },
  };
}
