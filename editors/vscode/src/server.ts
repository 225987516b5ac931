// Where the server is and how it is started. Nothing here knows the editor, so that it can be tested without one.

import { accessSync, constants, statSync } from "node:fs";
import * as path from "node:path";

/** What the user has set, as it is in the settings. */
export interface ServerSettings {
  path: string;
  logFile: string;
  logLevel: string;
}

/** What the search depends on besides the settings. */
export interface Surroundings {
  env: NodeJS.ProcessEnv;
  platform: NodeJS.Platform;
  home: string;
  workspaceFolder: string | undefined;
}

export interface ServerCommand {
  command: string;
  args: string[];
}

/** The server cannot be started. The message says why and what to do, in one sentence each. */
export class ServerNotFound extends Error {}

/** The command that starts the server: the program that is set, otherwise the first `prose` on `PATH`. */
export function serverCommand(settings: ServerSettings, surroundings: Surroundings): ServerCommand {
  const args = ["lsp"];
  const logFile = settings.logFile.trim();
  if (logFile !== "") {
    args.push("--log-file", expand(logFile, "prose.server.logFile", surroundings), "--log-level", settings.logLevel);
  }
  return { command: serverProgram(settings.path.trim(), surroundings), args };
}

function serverProgram(setting: string, surroundings: Surroundings): string {
  if (setting === "") {
    const found = searchPath("prose", surroundings);
    if (found === undefined) {
      throw new ServerNotFound(
        "The program `prose` is not on PATH. Install it, or set `prose.server.path` to where it is, and restart the server.",
      );
    }
    return found;
  }
  // A bare name is looked up as a shell would, so that `prose-nightly` can be set.
  if (!setting.includes("/") && !setting.includes("\\")) {
    const found = searchPath(setting, surroundings);
    if (found === undefined) {
      throw new ServerNotFound(
        `The setting \`prose.server.path\` is \`${setting}\`, and no program of that name is on PATH. Set it to the full path, or leave it empty to use \`prose\` from PATH.`,
      );
    }
    return found;
  }
  const program = expand(setting, "prose.server.path", surroundings);
  const problem = whyNotRunnable(program, surroundings.platform);
  if (problem !== undefined) {
    throw new ServerNotFound(
      `The setting \`prose.server.path\` is \`${program}\`, which ${problem}. Correct it, or leave it empty to use \`prose\` from PATH.`,
    );
  }
  return program;
}

function searchPath(name: string, { env, platform }: Surroundings): string | undefined {
  const windows = platform === "win32";
  const key = windows ? Object.keys(env).find((variable) => variable.toUpperCase() === "PATH") : "PATH";
  const folders = ((key && env[key]) ?? "").split(windows ? ";" : ":");
  const extensions = windows && path.extname(name) === "" ? (env.PATHEXT ?? ".EXE").split(";") : [""];
  for (const folder of folders) {
    // A relative entry would let the opened folder choose the program.
    if (!path.isAbsolute(folder)) continue;
    for (const extension of extensions) {
      const candidate = path.join(folder, name + extension);
      if (whyNotRunnable(candidate, platform) === undefined) return candidate;
    }
  }
  return undefined;
}

function expand(setting: string, name: string, { home, workspaceFolder }: Surroundings): string {
  let expanded = setting.replace(/^~(?=$|[/\\])/, () => home);
  if (expanded.includes("${workspaceFolder}")) {
    if (workspaceFolder === undefined) {
      throw new ServerNotFound(
        `The setting \`${name}\` is \`${setting}\`, but no folder is open. Open a folder, or use a full path.`,
      );
    }
    const folder = workspaceFolder;
    expanded = expanded.replaceAll("${workspaceFolder}", () => folder);
  }
  if (!path.isAbsolute(expanded)) {
    throw new ServerNotFound(
      `The setting \`${name}\` is \`${setting}\`, which is a relative path. Use a full path, or begin it with \`\${workspaceFolder}\`.`,
    );
  }
  return expanded;
}

function whyNotRunnable(program: string, platform: NodeJS.Platform): string | undefined {
  try {
    if (statSync(program).isDirectory()) return "is a folder";
    // Windows has no such permission.
    if (platform !== "win32") accessSync(program, constants.X_OK);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EACCES" ? "may not be executed" : "does not exist";
  }
}
