// What the browser keeps: the user's own program, and the last other one that was edited.

import { checkedProgram, type Program } from "./program";

const OWN = "openprose.playground.own";
const OTHER = "openprose.playground.other";

/** Reads the user's own program; undefined if there is none. */
export function ownProgram(): Program | undefined {
  return programAt(OWN);
}

/** Reads what became of a program that was opened from a link or an example. */
export function otherProgram(origin: string): Program | undefined {
  const kept = readAt(OTHER) as { origin?: unknown; program?: unknown } | undefined;
  if (kept?.origin !== origin) return undefined;
  return checked(kept.program);
}

/** Keeps a program: the user's own one without an origin. Returns whether the browser allows it. */
export function keep(program: Program, origin: string | undefined): boolean {
  try {
    if (origin === undefined) localStorage.setItem(OWN, JSON.stringify(program));
    else localStorage.setItem(OTHER, JSON.stringify({ origin, program }));
    return true;
  } catch {
    return false;
  }
}

function programAt(key: string): Program | undefined {
  return checked(readAt(key));
}

function checked(value: unknown): Program | undefined {
  try {
    return checkedProgram(value);
  } catch {
    return undefined;
  }
}

function readAt(key: string): unknown {
  try {
    return JSON.parse(localStorage.getItem(key) ?? "null") ?? undefined;
  } catch {
    // Without storage, or with something else in it, the playground starts as for the first time.
    return undefined;
  }
}
