// The settings that go to the server. What stands here is all that does; `package.json` describes each.

import * as vscode from "vscode";

/** Their names, which are those that the server knows them by, behind `prose.`. */
export const SERVER_SETTINGS = [
  "check.profile",
  "check.levels",
  "check.workspace",
  "registry.fetch",
  "run.harness",
  "run.command",
  "run.environment",
  "run.maxParallel",
  "run.allowOutside",
  "run.inlayHints",
  "inlayHints.models",
  "inlayHints.parameters",
  "inlayHints.contracts",
  "inlayHints.iterations",
  "markdown.enabled",
] as const;

/**
 * What the server is told: whether the workspace is trusted, since it fetches and runs nothing for one that is not, and what a person has set, by
 * table. About the rest `prose.toml` decides, so a default of the editor must not reach the server.
 */
export function serverSettings(): object {
  const configuration = vscode.workspace.getConfiguration("prose");
  const settings: Record<string, unknown> = { trusted: vscode.workspace.isTrusted };
  for (const name of SERVER_SETTINGS) {
    const found = configuration.inspect(name);
    const isSet = [found?.globalValue, found?.workspaceValue, found?.workspaceFolderValue].some((value) => value !== undefined);
    // What is set may be none of these: a folder that is not trusted sets nothing that counts.
    const value = configuration.get(name);
    if (!isSet || value === "") continue;
    const [table, key] = name.split(".") as [string, string];
    settings[table] = { ...(settings[table] as object | undefined), [key]: value };
  }
  return settings;
}
