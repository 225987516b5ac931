// The details of a session in the panel: its attempts, the log of its agent, and its place in the program.

import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import { type AgentLog, readLog } from "./agentLog";
import { codeOf, ofRunAlone, type Session, type SessionDetails } from "./session";
import type { Entry } from "./store";

/** How much of a log is read, from its end. */
const MAX_LOG = 256 << 10;

/** Reads the details of a session. */
export async function detailsOf(client: LanguageClient | undefined, entry: Entry, requests: number[]): Promise<SessionDetails> {
  const folder = entry.summary?.folder;
  const read = async (request: number): Promise<Session[]> =>
    client === undefined || folder === undefined ? [] : [await client.sendRequest<Session>("prose/session", { folder, request })];
  const attempts = (await Promise.all(requests.map(read))).flat();
  const log = attempts.at(-1)?.log;
  return { requests, attempts, log: log == null ? null : await logAt(log), code: codeOf(entry.model, ofRunAlone(entry.text), requests) };
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
