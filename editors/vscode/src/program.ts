// The program `prose`, asked from outside of the server.

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

/** The program as it is set, or an error whose message says what to do. */
export function program(extension: string): Program {
  return findProgram(vscode.workspace.getConfiguration("prose.server").get("path", ""), surroundings(extension));
}

/** What starts the server as it is set, or an error whose message says what to do. */
export function serverAsSet(extension: string): ServerCommand {
  const configuration = vscode.workspace.getConfiguration("prose.server");
  const settings = {
    path: configuration.get("path", ""),
    logFile: configuration.get("logFile", ""),
    logLevel: configuration.get("logLevel", "trace"),
  };
  return serverCommand(settings, surroundings(extension));
}

/** What the program writes when it is called. It fails with what the program has to say when it fails. */
export function ask(command: string, args: string[], folder?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(command, args, { cwd: folder, maxBuffer: 64 << 20 }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout + stderr);
      else reject(new Error(stderr.trim() || error.message));
    });
  });
}
