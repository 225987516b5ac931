// A report is another host of the panel: it answers what the panel asks an editor for.

import type { FromPanel, ToPanel } from "../../src/runs/messages";

type Receive = (message: FromPanel) => void;

let state: unknown = { hasDetails: true };
let receive: Receive = () => {};
const early: FromPanel[] = [];

Object.assign(globalThis, {
  acquireVsCodeApi: () => ({
    postMessage: (message: FromPanel) => {
      if (listens) receive(message);
      else early.push(message);
    },
    getState: () => state,
    setState: (next: unknown) => (state = next),
  }),
});

let listens = false;

/** Receives what the panel asks for. */
export function listen(listener: Receive): void {
  receive = listener;
  listens = true;
  for (const message of early.splice(0)) receive(message);
}

/** Sends a message to the panel. */
export function send(data: ToPanel): void {
  window.dispatchEvent(new MessageEvent("message", { data }));
}
