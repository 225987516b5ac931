// The settings that go to the server. What stands here is all that does; `package.json` describes each.

import * as vscode from "vscode";

/** Their names, which are those that the server knows them by, behind `prose.`. */
export const SERVER_SETTINGS = [
  "check.profile",
  "check.levels",
  "registry.fetch",
  "run.harness",
  "run.inlayHints",
  "markdown.enabled",
] as const;

/** What the server is told: what a person has set, by table, and whether the workspace is trusted. It fetches and runs nothing for one that is not. */
export function serverSettings(): object {
  const configuration = vscode.workspace.getConfiguration("prose");
  const settings: Record<string, unknown> = { trusted: vscode.workspace.isTrusted };
  for (const name of SERVER_SETTINGS) {
    const value = configuration.get(name);
    // What is empty is not set: `prose.toml` says it then.
    if (value === undefined || value === null || value === "") continue;
    const [table, key] = name.split(".") as [string, string];
    settings[table] = { ...(settings[table] as object | undefined), [key]: value };
  }
  return settings;
}
