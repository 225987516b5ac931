// The details of a session in the panel: its attempts, the log of its agent, and its place in the program.

import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import { type AgentLog, readLog } from "./agentLog";
import type { Session } from "./session";
import type { Entry } from "./store";

/** What the panel shows of a session. */
export interface SessionDetails {
  /** The requests of its attempts, which identify it. */
  requests: number[];
  attempts: Session[];
  /** What the agent of the last attempt has reported. */
  log: AgentLog | null;
  /** The statement, as it was when the run started. */
  code: { line: number; text: string } | null;
}

/** How much of a log is read, from its end. */
const MAX_LOG = 256 << 10;
/** How many lines of a statement are shown. */
const MAX_LINES = 12;

/** Reads the details of a session. */
export async function detailsOf(client: LanguageClient | undefined, entry: Entry, requests: number[]): Promise<SessionDetails> {
  const folder = entry.summary?.folder;
  const read = async (request: number): Promise<Session[]> =>
    client === undefined || folder === undefined ? [] : [await client.sendRequest<Session>("prose/session", { folder, request })];
  const attempts = (await Promise.all(requests.map(read))).flat();
  const log = attempts.at(-1)?.log;
  return { requests, attempts, log: log == null ? null : await logAt(log), code: codeOf(entry, requests) };
}

async function logAt(uri: string): Promise<AgentLog | null> {
  try {
    const bytes = await vscode.workspace.fs.readFile(vscode.Uri.parse(uri));
    return readLog(new TextDecoder().decode(bytes.subarray(Math.max(0, bytes.length - MAX_LOG))));
  } catch {
    // Without it, the session is shown without tool calls.
    return null;
  }
}

function codeOf({ model, text }: Entry, requests: number[]): SessionDetails["code"] {
  const site = model.items.find(({ attempts }) => attempts.some(({ request }) => requests.includes(request)))?.site;
  if (site === undefined || text === undefined || (site.program ?? 0) !== 0) return null;
  const lines = text.split("\n").slice(site.line - 1, Math.min(site.last_line, site.line - 1 + MAX_LINES));
  return { line: site.line, text: lines.join("\n") };
}
