// The program `prose` for the tests: what PROSE_BINARY says, otherwise what cargo has built.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

export const binary = process.env.PROSE_BINARY ?? fileURLToPath(new URL("../../../target/debug/prose", import.meta.url));

/** What the program writes. A status other than 0 is no failure here. */
export function prose(args, options = {}) {
  assert.ok(existsSync(binary), `${binary} does not exist; \`cargo build -p prose-cli\` makes it, and PROSE_BINARY names another`);
  try {
    return execFileSync(binary, args, { encoding: "utf8", ...options });
  } catch (error) {
    if (error.stdout === undefined) throw error;
    return error.stdout;
  }
}
