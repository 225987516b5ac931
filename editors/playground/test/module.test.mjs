// The module without a page: how it is called, what becomes of it when it stops, links and snippets.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const FOLDER = fileURLToPath(new URL("..", import.meta.url));
const MODULE = join(FOLDER, "dist/prose_web.wasm");
/** A module that stops in every call. */
const STOPS = Buffer.from("AGFzbQEAAAABDAJgAX8Bf2ACf38BfwMDAgABBQMBAAEHHAMGbWVtb3J5AgAIYWxsb2NhdGUAAARjYWxsAAEKCgIEAEEQCwMAAAs=", "base64");

let out;
let sources;
before(async () => {
  out = mkdtempSync(join(tmpdir(), "playground-"));
  const names = ["module", "restarting", "share", "snippet", "program"];
  const contents = names.map((name) => `export * from "./src/${name}";`).join("\n");
  await build({ stdin: { contents, resolveDir: FOLDER }, bundle: true, format: "esm", outfile: join(out, "sources.mjs"), logLevel: "warning" });
  sources = await import(join(out, "sources.mjs"));
});
after(() => rmSync(out, { recursive: true, force: true }));

test("a module is started outside of browsers, and refuses with a message", async () => {
  const said = [];
  const language = await sources.instantiate(readFileSync(MODULE), (line) => said.push(line));
  assert.equal(language.call("setFile", { name: "main.prose", text: 'session "Grüße 🌊"\n' }), null);
  assert.deepEqual(language.call("diagnostics", { name: "main.prose" }), []);
  assert.throws(() => language.call("diagnostics", { name: "other.prose" }), sources.Refusal);
  assert.throws(() => language.call("nothing", {}), sources.Refusal);
  // A large text makes the memory grow.
  language.call("setFile", { name: "main.prose", text: 'session "Write."\n'.repeat(50_000) });
  assert.ok(language.call("tokens", { name: "main.prose" }).length >= 100_000);
  assert.deepEqual(said, []);
});

test("a module that has stopped is not called again", async () => {
  const language = await sources.instantiate(STOPS);
  assert.throws(() => language.call("turn", {}), sources.Stopped);
  assert.throws(() => language.call("turn", {}), sources.Stopped);
});

test("a language that stops is started again with the same files", async () => {
  const instances = [];
  const start = async () => {
    const files = new Map();
    instances.push(files);
    return {
      call(method, params) {
        if (method === "setFile") files.set(params.name, params.text);
        if (method === "removeFile") files.delete(params.name);
        if (method === "hover") throw new sources.Stopped("unreachable");
        return files.size;
      },
    };
  };
  const restarts = [];
  const error = console.error;
  console.error = () => {};
  try {
    const language = new sources.Restarting(start, () => restarts.push(1));
    for (const name of ["a.prose", "b.prose", "c.prose"]) await language.call("setFile", { name, text: name });
    await language.call("removeFile", { name: "b.prose" });
    await assert.rejects(language.call("hover", { name: "a.prose", offset: 0 }), /stopped unexpectedly; it was started again/);
    assert.equal(await language.call("tokens", { name: "a.prose" }), 2);
    assert.deepEqual(instances.map((files) => [...files.keys()]), [["a.prose", "c.prose"], ["a.prose", "c.prose"]]);
    assert.equal(restarts.length, 1);
  } finally {
    console.error = error;
  }
});

test("snippets of the protocol have the form of the editor", () => {
  const { templateOf } = sources;
  assert.equal(templateOf("let ${1:name} = $2"), "let ${1:name} = ${2:}");
  assert.equal(templateOf("a $0 b"), "a ${1000:} b");
  assert.equal(templateOf("${1|yes,no|}:"), "${1:yes}:");
  assert.equal(templateOf('session "Write {topic\\}"$0'), 'session "Write \\{topic\\}"${1000:}');
  assert.equal(templateOf("\\$5 {x}"), "$5 \\{x\\}");
});

test("links have programs of any text, and are read again", async () => {
  const { fragmentOf, programIn, programOf } = sources;
  for (const text of ["", "a".repeat(200_000), "Grüße 🌊\u0000\r\n\"'<>&#"]) {
    const program = { ...programOf(text), files: [{ name: "main.prose", text }, { name: "sub/library.prose", text }], seed: 42 };
    const fragment = await fragmentOf(program);
    assert.match(fragment, /^#1\.[\w-]+$/);
    assert.deepEqual(await programIn(fragment), program);
    assert.deepEqual(await programIn(`#text=${encodeURIComponent(text)}`), programOf(text));
  }
  assert.equal(await programIn(""), undefined);
});

test("names of files stay in the folder", () => {
  for (const name of ["main.prose", "sub/library.prose", "Prüfung 1.prose", "script.toml"]) assert.equal(sources.nameError(name), undefined, name);
  for (const name of ["", ".prose", "a.txt", "/a.prose", "../a.prose", "a/../b.prose", "a//b.prose", "a\\b.prose", "c:a.prose", "a\n.prose", " a.prose", `${"a".repeat(100)}.prose`]) {
    assert.notEqual(sources.nameError(name), undefined, name);
  }
});
