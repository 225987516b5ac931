// What the agent of a session has reported, from its log in the folder of the run. Independent of the editor.

/** A tool call of an agent. */
export interface ToolCall {
  kind: string;
  /** Its last status. */
  status: string;
  title: string;
}

/** The content of a log. */
export interface AgentLog {
  /** The reply, as far as it was written. */
  text: string;
  reasoning: string;
  tools: ToolCall[];
  /** Everything else, in lines. */
  notes: string[];
}

/** The first line of an entry, after its time. */
const ENTRY = /^\[\d{4}-\d\d-\d\dT[\d:.]+Z\] (.*)$/;
const TOOL = /^tool (\S+) (\S+) (\S+): (.*)$/;

/** Reads a log, which an agent may still be writing. */
export function readLog(log: string): AgentLog {
  const texts = { text: "", reasoning: "" };
  const tools = new Map<string, ToolCall>();
  const notes: string[] = [];
  let current: keyof typeof texts | undefined;
  for (const line of log.split(/(?<=\n)/)) {
    const entry = ENTRY.exec(line.trimEnd())?.[1];
    if (entry === undefined) {
      if (current !== undefined) texts[current] += line;
      continue;
    }
    current = entry === "text" || entry === "reasoning" ? entry : undefined;
    if (current !== undefined) continue;
    const [, id, kind = "", status = "", title = ""] = TOOL.exec(entry) ?? [];
    // A call is reported again whenever its status changes.
    if (id !== undefined) tools.set(id, { kind, status, title });
    else notes.push(entry);
  }
  return { ...texts, tools: [...tools.values()], notes };
}
