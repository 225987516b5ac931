// The output of the extension and the server, and its last lines for the report. Independent of the editor.

/** The methods of a log output. */
interface Writer {
  trace(message: string, ...rest: unknown[]): void;
  debug(message: string, ...rest: unknown[]): void;
  info(message: string, ...rest: unknown[]): void;
  warn(message: string, ...rest: unknown[]): void;
  error(message: string | Error, ...rest: unknown[]): void;
  append(text: string): void;
  appendLine(text: string): void;
}

const KEPT = 200;

/** Wraps an output and keeps its last lines. Trace messages are not kept, because they contain programs. */
export function remembering<W extends Writer>(output: W): { output: W; lastLines: () => string[] } {
  const lines: string[] = [];
  const keep = (text: string) => {
    lines.push(...text.trimEnd().split("\n"));
    lines.splice(0, lines.length - KEPT);
  };
  // The editor has no API to read an output, and its object may be frozen.
  const remembered = Object.create(output) as W;
  for (const level of ["debug", "info", "warn", "error"] as const) {
    remembered[level] = (message: string | Error, ...rest: unknown[]) => {
      keep(`${new Date().toISOString()} [${level}] ${String(message)}`);
      output[level](message as string, ...rest);
    };
  }
  for (const write of ["append", "appendLine"] as const) {
    remembered[write] = (text: string) => {
      keep(text);
      output[write](text);
    };
  }
  return { output: remembered, lastLines: () => [...lines] };
}
