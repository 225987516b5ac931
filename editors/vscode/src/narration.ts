// What the output says of a run. Nothing here knows the editor, so that it can be tested without one.

/** Events of a run, as the server tells them: `prose/runEvent`. */
export interface RunEvents {
  run: string;
  uri: string;
  events: RunEvent[];
}

/** What happened. Only the parts that are told are named here. */
export interface RunEvent {
  event: string;
  nesting?: number;
  program?: unknown;
  harness?: string;
  request?: number;
  status?: string;
  message?: string;
  name?: string | null;
  prompt?: string;
  task?: { agent?: string; task: string };
  error?: { message: string; line: number } | null;
  sessions?: number;
}

/** Says in lines how runs go. */
export class Narrator {
  // What the sessions under way are called, by run and request.
  private readonly sessions = new Map<string, string>();

  /** The lines for some events. */
  lines({ run, events }: RunEvents): string[] {
    return events.flatMap((event) => {
      const line = this.line(run, event);
      return line === undefined ? [] : ["  ".repeat(event.nesting ?? 0) + line];
    });
  }

  private line(run: string, event: RunEvent): string | undefined {
    const key = `${run} ${event.request}`;
    switch (event.event) {
      case "run-started":
        return `Run ${run} of ${String(event.program)} with ${event.harness}`;
      case "resumed":
        return `Run ${run} goes on with ${event.harness}`;
      case "session-started": {
        const agent = event.task?.agent === undefined ? "" : `${event.task.agent}: `;
        const name = agent + firstLine(event.task?.task ?? "");
        this.sessions.set(key, name);
        return `… ${name}`;
      }
      case "session-ended": {
        const name = this.sessions.get(key) ?? `session ${event.request}`;
        this.sessions.delete(key);
        if (event.status === "complete") return `✓ ${name}`;
        return event.status === "failed" ? `✗ ${name}: ${firstLine(event.error?.message ?? "")}` : `■ ${name}`;
      }
      case "branch-ended":
        // The sessions in it are not told the end of.
        return event.status === "skipped" ? `■ ${event.name}` : undefined;
      case "input-asked":
        return `waits for ${event.name ?? "an input"}: ${firstLine(event.prompt ?? "")}`;
      case "caught":
        return `caught: ${firstLine(event.error?.message ?? "")}`;
      case "warning":
        return `warning: ${event.message}`;
      case "run-ended":
        for (const other of this.sessions.keys()) {
          if (other.startsWith(`${run} `)) this.sessions.delete(other);
        }
        return ended(run, event);
      default:
        return undefined;
    }
  }
}

function ended(run: string, { status, sessions, error }: RunEvent): string {
  const done = sessions === 1 ? "1 session" : `${sessions} sessions`;
  const place = error && error.line > 0 ? ` at line ${error.line}` : "";
  const why = error ? `${place}: ${error.message}` : "";
  return `Run ${run} ${status} after ${done}${why}`;
}

/** The first line of a text, shortened. */
function firstLine(text: string): string {
  const [line = ""] = text.trim().split("\n", 1);
  return line.length > 100 ? `${line.slice(0, 99)}…` : line;
}

/** What a program asks a person for: `prose/input`. */
export interface InputQuestion {
  run: string;
  name: string | null;
  prompt: string;
  mayRephrase: boolean;
  optional: boolean;
}

/** The answers that a question names itself, such as `Go on? (yes/no)`; none if it leaves the answer open. */
export function choices(prompt: string): string[] {
  const named = /[([]([^()[\]]+)[)\]]\s*[?:.]?\s*$/.exec(prompt)?.[1] ?? "";
  const parts = named.split(/[/|]/).map((part) => part.trim());
  return parts.length > 1 && parts.every((part) => part !== "" && part.length <= 40) ? parts : [];
}

/** What a session would be told, as the result of `prose.dryRun` says. */
export interface DryRun {
  prompts: { line: number | null; agent: string | null; model: string | null; prompt: string; system: string | null }[];
  failed: { line: number; message: string } | null;
}

/** A dry run as a text to read. */
export function promptsAsText(name: string, { prompts, failed }: DryRun): string {
  const parts = [`# Prompts of ${name}\n\nNo agent was called; replies in between are generated.\n`];
  prompts.forEach(({ line, agent, model, prompt, system }, index) => {
    const where = line === null ? "in an imported program" : `line ${line}`;
    const facts = [where, agent && `agent ${agent}`, model && `model ${model}`].filter(Boolean);
    const fence = fenceFor(prompt + (system ?? ""));
    parts.push(`## ${index + 1}: ${facts.join(", ")}\n\n${fence}\n${prompt}\n${fence}\n`);
    if (system) parts.push(`System:\n\n${fence}\n${system}\n${fence}\n`);
  });
  if (failed) parts.push(`With these replies, the program fails at line ${failed.line}: ${failed.message}\n`);
  return parts.join("\n");
}

/** A fence that does not stand in the text that it goes around. */
export function fenceFor(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  return "`".repeat(longest + 1);
}
