// Builds the playground into a folder: a page, its style, its scripts, and the language as a WebAssembly module.
//
//   node build.mjs [--out FOLDER] [--skip-cargo]
//
// With --skip-cargo, the module is taken as it was built before.
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { licencesOf } from "../vscode/licences.mjs";

const FOLDER = fileURLToPath(new URL(".", import.meta.url));
const REPOSITORY = resolve(FOLDER, "../..");
/** What the module has at most when it is sent, in bytes. */
const MAX_MODULE = 2 << 20;

const { values } = parseArgs({
  options: { out: { type: "string", default: join(FOLDER, "dist") }, "skip-cargo": { type: "boolean", default: process.env.SKIP_CARGO === "1" } },
});
const out = resolve(values.out);
const inOut = (name) => join(out, name);
const target = resolve(REPOSITORY, process.env.CARGO_TARGET_DIR ?? "target");

if (!values["skip-cargo"]) {
  run("cargo", ["build", "--locked", "--profile", "web", "--target", "wasm32-wasip1", "-p", "prose-web"], REPOSITORY);
}
const module = join(target, "wasm32-wasip1/web/prose_web.wasm");
mkdirSync(out, { recursive: true });
// As it is: what wasm-opt makes of it is at best 6 % smaller once it is compressed, and takes minutes.
copyFileSync(module, inOut("prose_web.wasm"));
const inputs = await bundle();
writeFileSync(inOut("third-party-licenses.txt"), licencesOf(FOLDER, inputs));
copyFileSync(join(FOLDER, "src/index.html"), inOut("index.html"));
report();

async function bundle() {
  for (const name of ["playground.js", "playground.css", "worker.js"]) rmSync(inOut(name), { force: true });
  const { metafile } = await build({
    absWorkingDir: FOLDER,
    bundle: true,
    platform: "browser",
    target: "es2022",
    format: "esm",
    logLevel: "warning",
    entryPoints: { playground: "src/main.ts", worker: "src/worker.ts" },
    outdir: out,
    loader: { ".prose": "text" },
    minify: true,
    metafile: true,
  });
  const style = await build({
    absWorkingDir: FOLDER,
    bundle: true,
    target: "es2022",
    logLevel: "warning",
    entryPoints: { playground: "src/style.css" },
    outdir: out,
    minify: true,
    metafile: true,
  });
  return [...Object.keys(metafile.inputs), ...Object.keys(style.metafile.inputs)];
}

function report() {
  let total = 0;
  for (const name of ["index.html", "playground.css", "playground.js", "worker.js", "prose_web.wasm"]) {
    const bytes = readFileSync(inOut(name));
    const packed = gzipSync(bytes, { level: 9 }).length;
    total += packed;
    console.log(`${name.padEnd(16)} ${kilobytes(bytes.length)} raw  ${kilobytes(packed)} gzip`);
    if (name === "prose_web.wasm" && packed > MAX_MODULE) {
      console.error(`error: ${name} has ${packed} bytes in gzip, and may have ${MAX_MODULE}`);
      process.exitCode = 1;
    }
  }
  console.log(`${"together".padEnd(16)} ${" ".repeat(14)}  ${kilobytes(total)} gzip`);
}

function kilobytes(bytes) {
  return `${(bytes / 1000).toFixed(1).padStart(7)} kB`;
}

function run(program, options, folder) {
  execFileSync(program, options, { cwd: folder, stdio: ["ignore", "inherit", "inherit"] });
}
