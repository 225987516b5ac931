// Calls the program `prose` directly, without the server.

import { execFile } from "node:child_process";
import { homedir } from "node:os";
import * as vscode from "vscode";
import { findProgram, type Program, type ServerCommand, type Surroundings, serverCommand } from "./server";

function surroundings(extension: string): Surroundings {
  return {
    extension,
    env: process.env,
    platform: process.platform,
    home: homedir(),
    workspaceFolder: vscode.workspace.workspaceFolders?.[0]?.uri.fsPath,
  };
}

/** The configured program, or an error whose message explains the solution. */
export function program(extension: string): Program {
  return findProgram(vscode.workspace.getConfiguration("prose.server").get("path", ""), surroundings(extension));
}

/** The command that starts the configured server, or an error whose message explains the solution. */
export function serverAsSet(extension: string): ServerCommand {
  const configuration = vscode.workspace.getConfiguration("prose.server");
  const settings = {
    path: configuration.get("path", ""),
    logFile: configuration.get("logFile", ""),
    logLevel: configuration.get("logLevel", "trace"),
  };
  return serverCommand(settings, surroundings(extension));
}

/** Runs the program and returns its output. Fails with its error output if the program fails. */
export function ask(command: string, args: string[], folder?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(command, args, { cwd: folder, maxBuffer: 64 << 20 }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout + stderr);
      else reject(new Error(stderr.trim() || error.message));
    });
  });
}
