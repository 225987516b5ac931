// The worker with the language module: it answers calls in their order, and takes the turns of a run.

import { errorText } from "../../vscode/src/error-text";
import type { Turn } from "./language";
import type { FromWorker, ToWorker } from "./messages";
import { instantiate } from "./module";
import { Restarting } from "./restarting";

/** The time between two turns in milliseconds: while something happens, and at most while nothing does. */
const SHORTEST = 16;
const LONGEST = 64;

const post = (message: FromWorker): void => globalThis.postMessage(message);

let compiled: (module: WebAssembly.Module) => void;
const module = new Promise<WebAssembly.Module>((resolve) => (compiled = resolve));
const language = new Restarting(
  async () => instantiate(await module),
  () => {
    rest();
    post({ restarted: true });
  },
);

/** What has to be done before the next call. */
let queue: Promise<void> = Promise.resolve();
let timer: ReturnType<typeof setTimeout> | undefined;
let isRunning = false;
let pause = SHORTEST;
/** The questions that the page knows. */
let asked = "";

addEventListener("message", ({ data }: MessageEvent<ToWorker>) => {
  if ("module" in data) compiled(data.module);
  else queue = queue.then(() => answer(data));
});

async function answer({ id, method, params }: Extract<ToWorker, { id: number }>): Promise<void> {
  try {
    post({ id, result: await language.call(method, params as never) });
    if (method === "start") [isRunning, asked] = [true, ""];
    if (method === "start" || method === "answer" || method === "command") takeTurns();
  } catch (error) {
    post({ id, error: errorText(error) });
  }
}

/** Takes a turn now, and goes on until the run ends. */
function takeTurns(): void {
  clearTimeout(timer);
  pause = SHORTEST;
  if (isRunning) schedule(0);
}

function schedule(delay: number): void {
  timer = setTimeout(() => (queue = queue.then(turn)), delay);
}

async function turn(): Promise<void> {
  if (!isRunning) return;
  clearTimeout(timer);
  let happened: Turn;
  try {
    happened = await language.call("turn", {});
  } catch (error) {
    rest();
    console.error(error);
    return;
  }
  const { delta, questions, end } = happened;
  const open = questions.map(({ id }) => id).join();
  const isQuiet = delta === null && open === asked && end === null;
  asked = open;
  if (!isQuiet) post({ turn: happened });
  if (end !== null) return rest();
  // A run that is paused or waits for an answer does not keep the processor busy.
  pause = isQuiet ? Math.min(LONGEST, pause * 1.25) : SHORTEST;
  schedule(pause);
}

function rest(): void {
  isRunning = false;
  clearTimeout(timer);
}
