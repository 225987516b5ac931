// The few functions of WASI preview 1 that a language module calls: clocks, random numbers and messages. It has no files, arguments or variables.

const SUCCESS = 0;
const BAD_DESCRIPTOR = 8;
const NOT_SUPPORTED = 52;

/** The sizes of the structures that poll_oneoff reads and writes. */
const SUBSCRIPTION = 48;
const EVENT = 32;

/** Longer lines are split, so that a message without an end does not take all memory. */
const MAX_LINE = 1 << 16;

type Imports = Record<string, (...values: never[]) => number>;

/** Thrown where the module ends itself. */
export class Exit extends Error {}

export class Wasi {
  private memory: WebAssembly.Memory | undefined;
  private readonly decoder = new TextDecoder();
  private line = "";

  /** `say` gets each line that the module writes. */
  constructor(private readonly say: (line: string) => void) {}

  /** The memory is that of the instance, which is created with the imports. */
  use(memory: WebAssembly.Memory): void {
    this.memory = memory;
  }

  /** Says what was written without an end of the line. */
  flush(): void {
    if (this.line !== "") this.say(this.line);
    this.line = "";
  }

  /** What the module imports: every function has a result, also those that do nothing. */
  importsOf(module: WebAssembly.Module): WebAssembly.Imports {
    const known = this.functions();
    const imports: WebAssembly.Imports = {};
    for (const { module: from, name } of WebAssembly.Module.imports(module)) {
      imports[from] ??= {};
      imports[from][name] = known[name] ?? (() => NOT_SUPPORTED);
    }
    return imports;
  }

  private functions(): Imports {
    const nothing = (count: number, size: number): number => {
      this.view.setUint32(count, 0, true);
      this.view.setUint32(size, 0, true);
      return SUCCESS;
    };
    const badDescriptor = (): number => BAD_DESCRIPTOR;
    return {
      args_get: () => SUCCESS,
      args_sizes_get: nothing,
      environ_get: () => SUCCESS,
      environ_sizes_get: nothing,
      clock_res_get: (_clock: number, result: number) => {
        this.view.setBigUint64(result, 1_000_000n, true);
        return SUCCESS;
      },
      clock_time_get: (clock: number, _precision: bigint, result: number) => {
        this.view.setBigUint64(result, time(clock), true);
        return SUCCESS;
      },
      random_get: (start: number, length: number) => {
        // The browser gives at most 65536 bytes at once.
        for (let at = 0; at < length; at += 65_536) {
          crypto.getRandomValues(new Uint8Array(this.buffer, start + at, Math.min(65_536, length - at)));
        }
        return SUCCESS;
      },
      fd_write: (descriptor: number, parts: number, count: number, written: number) => this.write(descriptor, parts, count, written),
      fd_close: badDescriptor,
      fd_fdstat_get: badDescriptor,
      fd_prestat_get: badDescriptor,
      fd_prestat_dir_name: badDescriptor,
      fd_read: badDescriptor,
      fd_seek: badDescriptor,
      poll_oneoff: (subscriptions: number, events: number, count: number, happened: number) => this.poll(subscriptions, events, count, happened),
      sched_yield: () => SUCCESS,
      proc_exit: (code: number) => {
        throw new Exit(`the module has ended with the status ${code}`);
      },
    };
  }

  /** The memory moves when it grows. */
  private get buffer(): ArrayBuffer {
    if (this.memory === undefined) throw new Exit("the module has no memory");
    return this.memory.buffer;
  }

  private get view(): DataView {
    return new DataView(this.buffer);
  }

  private write(descriptor: number, parts: number, count: number, written: number): number {
    if (descriptor !== 1 && descriptor !== 2) return BAD_DESCRIPTOR;
    let total = 0;
    for (let part = parts; part < parts + 8 * count; part += 8) {
      const [start, length] = [this.view.getUint32(part, true), this.view.getUint32(part + 4, true)];
      this.line += this.decoder.decode(new Uint8Array(this.buffer, start, length), { stream: true });
      total += length;
    }
    const lines = this.line.split("\n");
    this.line = lines.pop() ?? "";
    for (const line of lines) this.say(line);
    if (this.line.length > MAX_LINE) this.flush();
    this.view.setUint32(written, total, true);
    return SUCCESS;
  }

  /** Everything that is waited for happens at once: the page calls the module again when time has passed, so that nothing sleeps in it. */
  private poll(subscriptions: number, events: number, count: number, happened: number): number {
    for (let index = 0; index < count; index++) {
      const [subscription, event] = [subscriptions + SUBSCRIPTION * index, events + EVENT * index];
      new Uint8Array(this.buffer, event, EVENT).fill(0);
      this.view.setBigUint64(event, this.view.getBigUint64(subscription, true), true);
      this.view.setUint8(event + 10, this.view.getUint8(subscription + 8));
    }
    this.view.setUint32(happened, count, true);
    return SUCCESS;
  }
}

/** A clock in nanoseconds: 0 is the time of day, others only go forward. */
function time(clock: number): bigint {
  const milliseconds = clock === 0 ? Date.now() : performance.now();
  return BigInt(Math.round(milliseconds * 1000)) * 1000n;
}
