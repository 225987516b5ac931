// The page is another host of the panel of runs: it answers what the panel asks an editor for.

import type { FromPanel, ToPanel } from "../../vscode/src/runs/messages";

type Receive = (message: FromPanel) => void;

let state: unknown;
let receive: Receive | undefined;
const early: FromPanel[] = [];

// The panel takes its host when it is loaded, before anything can answer.
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

/** Receives what the panel asks for. */
export function listen(listener: Receive): void {
  receive = listener;
  for (const message of early.splice(0)) listener(message);
}

/** Sends a message to the panel. */
export function send(data: ToPanel): void {
  window.dispatchEvent(new MessageEvent("message", { data }));
}
