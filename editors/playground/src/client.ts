// The language as the page calls it: in a worker, so that the page never waits for it.

import { errorText } from "../../vscode/src/error-text";
import type { Method, Params, Result, Turn } from "./language";
import type { FromWorker, ToWorker } from "./messages";

interface Waiting {
  resolve(result: never): void;
  reject(error: Error): void;
}

/** What a client tells the page. */
export interface ClientEvents {
  /** Something has happened in the run. */
  turn(turn: Turn): void;
  /** The language was started again, since it has stopped or was asked to: its run is lost. */
  restarted(why: "stopped" | "asked"): void;
}

export class Client {
  /** Settled when the language has answered for the first time; rejected if it cannot be loaded. */
  readonly ready: Promise<void>;
  private isReady: () => void = () => {};
  private isLost: (error: Error) => void = () => {};
  private worker: Worker;
  private readonly waiting = new Map<number, Waiting>();
  private last = 0;
  /** The files as the language has them, for another worker. */
  private readonly files = new Map<string, string>();

  constructor(
    private readonly module: Promise<WebAssembly.Module>,
    private readonly events: ClientEvents,
  ) {
    this.worker = this.started();
    this.ready = new Promise((resolve, reject) => ([this.isReady, this.isLost] = [resolve, reject]));
    module.catch((error) => this.giveUp(new Error(`the language module could not be loaded: ${errorText(error)}`)));
  }

  call<M extends Method>(method: M, params: Params<M>): Promise<Result<M>> {
    if (method === "setFile") {
      const { name, text } = params as Params<"setFile">;
      this.files.set(name, text);
    } else if (method === "removeFile") {
      this.files.delete((params as Params<"removeFile">).name);
    }
    const id = ++this.last;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.worker.postMessage({ id, method, params } satisfies ToWorker);
    });
  }

  /** Ends a call that takes too long, with everything else: the files are given to a new worker. */
  restart(): void {
    this.worker.terminate();
    this.giveUp(new Error("the language module was started again"));
    this.worker = this.started();
    for (const [name, text] of this.files) this.tell("setFile", { name, text });
    this.events.restarted("asked");
  }

  /** Calls a method whose answer nobody needs. */
  tell<M extends Method>(method: M, params: Params<M>): void {
    this.call(method, params).catch(() => {
      // Whoever calls a method next is told.
    });
  }

  private started(): Worker {
    const worker = new Worker(new URL("worker.js", document.baseURI), { type: "module" });
    worker.addEventListener("message", ({ data }: MessageEvent<FromWorker>) => this.receive(data));
    worker.addEventListener("error", () => this.giveUp(new Error("the language module could not be started")));
    this.module.then(
      (module) => worker.postMessage({ module } satisfies ToWorker),
      () => {},
    );
    return worker;
  }

  private receive(message: FromWorker): void {
    if ("turn" in message) return this.events.turn(message.turn);
    if ("restarted" in message) return this.events.restarted("stopped");
    this.isReady();
    const waiting = this.waiting.get(message.id);
    this.waiting.delete(message.id);
    if ("error" in message) waiting?.reject(new Error(message.error));
    else waiting?.resolve(message.result as never);
  }

  private giveUp(error: Error): void {
    this.isLost(error);
    for (const { reject } of this.waiting.values()) reject(error);
    this.waiting.clear();
  }
}

/** Compiles the module while it is loaded. */
export async function loadModule(address: string): Promise<WebAssembly.Module> {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`the server answered ${response.status}`);
  // Some servers do not know the type of modules, without which they cannot be compiled while they are loaded.
  if (response.headers.get("content-type") === "application/wasm") return WebAssembly.compileStreaming(response);
  return WebAssembly.compile(await response.arrayBuffer());
}
