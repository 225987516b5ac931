import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { after, test } from "node:test";
import { ServerNotFound, type Surroundings, serverCommand } from "../src/server";

const folder = mkdtempSync(path.join(tmpdir(), "prose-server-"));
after(() => rmSync(folder, { recursive: true }));

function program(name: string, mode = 0o755): string {
  const file = path.join(folder, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, "");
  chmodSync(file, mode);
  return file;
}

function command(settings: { path?: string; logFile?: string }, surroundings: Partial<Surroundings> = {}) {
  return serverCommand(
    { path: "", logFile: "", logLevel: "trace", ...settings },
    {
      extension: path.join(folder, "extension"),
      env: {},
      platform: "linux",
      home: path.join(folder, "home"),
      workspaceFolder: undefined,
      ...surroundings,
    },
  );
}

function message(settings: { path?: string; logFile?: string }, surroundings: Partial<Surroundings> = {}): string {
  try {
    command(settings, surroundings);
  } catch (error) {
    assert.ok(error instanceof ServerNotFound, String(error));
    return error.message;
  }
  return assert.fail("the server was found");
}

test("without a setting the first runnable program on PATH is taken", () => {
  program("not-executable/prose", 0o644);
  mkdirSync(path.join(folder, "a-folder/prose"), { recursive: true });
  const found = program("first/prose");
  program("second/prose");
  const folders = ["missing", "not-executable", "a-folder", "first", "second"].map((name) => path.join(folder, name));
  assert.deepEqual(command({}, { env: { PATH: folders.join(":") } }), { command: found, args: ["lsp"], source: "PATH" });
});

test("a relative entry of PATH is passed over", () => {
  program("first/prose");
  const relative = path.relative(process.cwd(), path.join(folder, "first"));
  assert.match(message({}, { env: { PATH: `${relative}::.` } }), /^The program `prose` is neither in this package of the extension nor on PATH\. Install it/);
});

test("without a program anywhere the message says what to set", () => {
  assert.match(message({}), /set `prose\.server\.path` to its path/);
  assert.match(message({}, { env: { PATH: "" } }), /nor on PATH/);
});

test("the setting comes before the program of the extension, and that before PATH", () => {
  const set = program("set/prose");
  const bundled = program("with-program/server/prose");
  const onPath = program("first/prose");
  const env = { PATH: path.dirname(onPath) };
  const extension = path.join(folder, "with-program");
  const from = (setting: string, extension: string) => {
    const { command: found, source } = command({ path: setting }, { env, extension });
    return [found, source];
  };
  assert.deepEqual(from(set, extension), [set, "the setting `prose.server.path`"]);
  assert.deepEqual(from(` ${set} `, extension), [set, "the setting `prose.server.path`"]);
  assert.deepEqual(from("", extension), [bundled, "the extension"]);
  assert.deepEqual(from(" ", path.join(folder, "without-program")), [onPath, "PATH"]);
});

test("a program of the extension that cannot be started is reported and not replaced by PATH", () => {
  program("damaged/server/prose", 0o644);
  const env = { PATH: path.dirname(program("first/prose")) };
  const found = message({}, { env, extension: path.join(folder, "damaged") });
  assert.match(found, /damaged\/server\/prose`, is not executable\. Reinstall the extension/);
});

test("the program of the extension has the name of its system", () => {
  const bundled = program("for-windows/server/prose.exe");
  assert.equal(command({}, { platform: "win32", extension: path.join(folder, "for-windows") }).command, bundled);
});

test("a setting that is wrong is reported and not replaced by PATH", () => {
  const env = { PATH: path.dirname(program("first/prose")) };
  const missing = path.join(folder, "nowhere/prose");
  assert.match(message({ path: missing }, { env }), /nowhere\/prose`, which does not exist\. Correct it/);
  assert.match(message({ path: folder }, { env }), /which is a folder/);
  assert.match(message({ path: "bin/prose" }, { env }), /which is a relative path/);
  assert.match(message({ path: "prose-nightly" }, { env }), /there is no such program on PATH/);
});

test("a program without the permission is reported as such", () => {
  assert.match(message({ path: program("plain/prose", 0o644) }), /which is not executable/);
});

test("a bare name is looked for on PATH", () => {
  const nightly = program("first/prose-nightly");
  assert.equal(command({ path: "prose-nightly" }, { env: { PATH: path.dirname(nightly) } }).command, nightly);
});

test("the home folder and the workspace folder are expanded", () => {
  const atHome = program("home/bin/prose");
  assert.equal(command({ path: "~/bin/prose" }).command, atHome);
  const inWorkspace = program("$& work/target/prose");
  const workspaceFolder = path.join(folder, "$& work");
  assert.equal(command({ path: "${workspaceFolder}/target/prose" }, { workspaceFolder }).command, inWorkspace);
  assert.match(message({ path: "${workspaceFolder}/target/prose" }), /no folder is open/);
});

test("on Windows extensions are tried and the variable may be spelt Path", () => {
  const found = program("windows/prose.EXE");
  const env = { Path: `C:\\nowhere;${path.dirname(found)}`, PATHEXT: ".COM;.EXE" };
  assert.equal(command({}, { env, platform: "win32" }).command, found);
});

test("the log file is passed on with its level", () => {
  const env = { PATH: path.dirname(program("first/prose")) };
  const args = (logFile: string) => command({ logFile }, { env }).args;
  assert.deepEqual(args("~/prose.log"), ["lsp", "--log-file", path.join(folder, "home/prose.log"), "--log-level", "trace"]);
  assert.match(message({ logFile: "prose.log" }, { env }), /`prose\.server\.logFile` is `prose\.log`, which is a relative path/);
});
