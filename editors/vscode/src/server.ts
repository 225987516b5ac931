// Finds and starts the server. Independent of the editor, so that tests need no editor.

import { accessSync, constants, statSync } from "node:fs";
import * as path from "node:path";

/** The settings of the user. */
export interface ServerSettings {
  path: string;
  logFile: string;
  logLevel: string;
}

/** The inputs of the search in addition to the settings. */
export interface Surroundings {
  /** The folder of the extension. Packages for one system contain the program. */
  extension: string;
  env: NodeJS.ProcessEnv;
  platform: NodeJS.Platform;
  home: string;
  workspaceFolder: string | undefined;
}

export interface Program {
  command: string;
  /** The source of the program, as text for users. */
  source: "the setting `prose.server.path`" | "the extension" | "PATH";
}

export interface ServerCommand extends Program {
  args: string[];
}

/** The server cannot be started. The message explains the reason and the solution, in one sentence each. */
export class ServerNotFound extends Error {}

/** The command that starts the server. */
export function serverCommand(settings: ServerSettings, surroundings: Surroundings): ServerCommand {
  const args = ["lsp"];
  const logFile = settings.logFile.trim();
  if (logFile !== "") {
    args.push("--log-file", expand(logFile, "prose.server.logFile", surroundings), "--log-level", settings.logLevel);
  }
  return { ...findProgram(settings.path, surroundings), args };
}

/** The program `prose`: the one in the settings, otherwise the one in the extension, otherwise the first on `PATH`. */
export function findProgram(setting: string, surroundings: Surroundings): Program {
  const set = setting.trim();
  if (set !== "") return { command: programThatIsSet(set, surroundings), source: "the setting `prose.server.path`" };
  const bundled = bundledProgram(surroundings);
  if (bundled !== undefined) return { command: bundled, source: "the extension" };
  const found = searchPath("prose", surroundings);
  if (found !== undefined) return { command: found, source: "PATH" };
  throw new ServerNotFound(
    "The program `prose` is neither in this package of the extension nor on PATH. Install it, or set `prose.server.path` to its path, and restart the server.",
  );
}

function bundledProgram({ extension, platform }: Surroundings): string | undefined {
  const program = path.join(extension, "server", platform === "win32" ? "prose.exe" : "prose");
  const problem = whyNotRunnable(program, platform);
  if (problem === undefined) return program;
  // The package for all systems does not contain the program.
  if (problem === MISSING) return undefined;
  throw new ServerNotFound(
    `The program of the extension, \`${program}\`, ${problem}. Reinstall the extension, or set \`prose.server.path\` to another \`prose\`.`,
  );
}

function programThatIsSet(setting: string, surroundings: Surroundings): string {
  // A bare name is resolved on `PATH`, as by a shell, so that `prose-nightly` works.
  if (!setting.includes("/") && !setting.includes("\\")) {
    const found = searchPath(setting, surroundings);
    if (found === undefined) {
      throw new ServerNotFound(
        `The setting \`prose.server.path\` is \`${setting}\`, and there is no such program on PATH. Set it to the full path, or leave it empty to use the bundled program or the one on PATH.`,
      );
    }
    return found;
  }
  const program = expand(setting, "prose.server.path", surroundings);
  const problem = whyNotRunnable(program, surroundings.platform);
  if (problem !== undefined) {
    throw new ServerNotFound(
      `The setting \`prose.server.path\` is \`${program}\`, which ${problem}. Correct it, or leave it empty to use the bundled program or the one on PATH.`,
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
    // With a relative entry, the opened folder could select the program.
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
      `The setting \`${name}\` is \`${setting}\`, which is a relative path. Use a full path, or start it with \`\${workspaceFolder}\`.`,
    );
  }
  return expanded;
}

const MISSING = "does not exist";

function whyNotRunnable(program: string, platform: NodeJS.Platform): string | undefined {
  try {
    if (statSync(program).isDirectory()) return "is a folder";
    // Windows has no execute permission.
    if (platform !== "win32") accessSync(program, constants.X_OK);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EACCES" ? "is not executable" : MISSING;
  }
}
