// The settings that are sent to the server; `package.json` describes each.

import * as vscode from "vscode";

/** Their names, as in the server, without the prefix `prose.`. */
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
  "run.estimates",
  "lenses.references",
  "lenses.outputs",
  "lenses.parts",
  "inlayHints.models",
  "inlayHints.parameters",
  "inlayHints.contracts",
  "inlayHints.iterations",
  "markdown.enabled",
] as const;

/**
 * The settings for the server: the trust of the workspace, and the settings that the user has changed, by table. Defaults of the editor must not
 * reach the server, because they would override `prose.toml`.
 */
export function serverSettings(): object {
  const configuration = vscode.workspace.getConfiguration("prose");
  const settings: Record<string, unknown> = { trusted: vscode.workspace.isTrusted };
  for (const name of SERVER_SETTINGS) {
    const found = configuration.inspect(name);
    const isSet = [found?.globalValue, found?.workspaceValue, found?.workspaceFolderValue].some((value) => value !== undefined);
    // An untrusted folder can contain restricted settings, which are ignored.
    const value = configuration.get(name);
    if (!isSet || value === "") continue;
    const [table, key] = name.split(".") as [string, string];
    settings[table] = { ...(settings[table] as object | undefined), [key]: value };
  }
  return settings;
}
