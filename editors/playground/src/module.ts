// The language as a WebAssembly module: how it is started and called. Nothing here needs a page or a worker, so that extensions of editors can use it too.

import type { Method, Params, Result } from "./language";
import { Wasi } from "./wasi";

/** A started module. */
export interface Language {
  /** Calls a method. Throws a {@link Refusal} with a message for the user, or a {@link Stopped} if the module cannot be called any more. */
  call<M extends Method>(method: M, params: Params<M>): Result<M>;
}

/** What a method was not able to do, as a message for the user. */
export class Refusal extends Error {}

/** The module has stopped in the middle of a call. */
export class Stopped extends Error {}

interface Exports {
  memory: WebAssembly.Memory;
  _initialize?: () => void;
  allocate(length: number): number;
  call(start: number, length: number): number;
  release(start: number): void;
}

/** Starts a module. `say` gets the lines that it writes, such as why it stopped. */
export async function instantiate(source: BufferSource | WebAssembly.Module, say: (line: string) => void = console.error): Promise<Language> {
  const module = source instanceof WebAssembly.Module ? source : await WebAssembly.compile(source);
  const wasi = new Wasi(say);
  const instance = await WebAssembly.instantiate(module, wasi.importsOf(module));
  const exports = instance.exports as unknown as Exports;
  wasi.use(exports.memory);
  exports._initialize?.();
  return new Started(exports, wasi);
}

class Started implements Language {
  private readonly encoder = new TextEncoder();
  private readonly decoder = new TextDecoder();
  private hasStopped = false;

  constructor(
    private readonly exports: Exports,
    private readonly wasi: Wasi,
  ) {}

  call<M extends Method>(method: M, params: Params<M>): Result<M> {
    if (this.hasStopped) throw new Stopped("the module has stopped");
    let text: string;
    try {
      text = this.answerTo(JSON.stringify({ method, params }));
    } catch (error) {
      // A panic leaves the memory as it was in the middle of something.
      this.hasStopped = true;
      this.wasi.flush();
      throw new Stopped(String(error));
    }
    const answer = JSON.parse(text) as { result: Result<M> } | { error: string };
    if ("error" in answer) throw new Refusal(answer.error);
    return answer.result;
  }

  private answerTo(request: string): string {
    const { exports } = this;
    const bytes = this.encoder.encode(request);
    const start = exports.allocate(bytes.length);
    // The memory moves when it grows, so that each step looks for it again.
    new Uint8Array(exports.memory.buffer, start, bytes.length).set(bytes);
    const answer = exports.call(start, bytes.length);
    const length = new DataView(exports.memory.buffer).getUint32(answer, true);
    const text = this.decoder.decode(new Uint8Array(exports.memory.buffer, answer + 4, length));
    exports.release(answer);
    return text;
  }
}
