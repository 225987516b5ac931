#!/usr/bin/env node
// Starts the program `prose` in the package for this system, which npm has installed as an optional dependency.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const { platform, arch } = process;

// The report of a process names the version of glibc, if that is the C library.
function isGlibc() {
  return process.report?.getReport().header.glibcVersionRuntime !== undefined;
}

function program() {
  const systems = require("./systems.json").filter(({ os, cpu }) => os === platform && cpu === arch);
  if (systems.length > 1) {
    // A program for musl contains its C library and runs with any, so it comes second where there is glibc.
    const first = isGlibc() ? "glibc" : "musl";
    systems.sort((one, other) => Number(other.libc === first) - Number(one.libc === first));
    if (first === "musl") systems.length = 1;
  }
  const names = systems.map(({ package: name }) => name);
  for (const name of names) {
    try {
      return require.resolve(`${name}/bin/prose${platform === "win32" ? ".exe" : ""}`);
    } catch (error) {
      if (error.code !== "MODULE_NOT_FOUND") throw error;
    }
  }
  const reason =
    names.length === 0
      ? `there is no package of prose for ${platform} on ${arch}; build it with cargo`
      : `the package ${names[0]} is not installed; install again without --omit=optional`;
  console.error(`error: ${reason}`);
  process.exit(2);
}

// The program has the input and the outputs of this process: nothing passes through here, also not for editors.
const child = spawn(program(), process.argv.slice(2), { stdio: "inherit", windowsHide: true });

// A terminal sends the first three to both processes, so the program decides how it ends, and this process waits for it. Only a request to end
// that reaches this process alone is passed on; a second Ctrl-C would end a run at once.
const { signals } = constants;
for (const signal of ["SIGINT", "SIGQUIT", "SIGHUP"].filter((name) => name in signals)) process.on(signal, () => {});
process.on("SIGTERM", () => child.kill("SIGTERM"));

child.on("error", (error) => {
  console.error(`error: cannot start ${error.path}: ${error.message}`);
  process.exit(2);
});
child.on("exit", (status, signal) => {
  if (signal === null) process.exit(status);
  // Ends the same way, so that a shell sees the reason.
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
