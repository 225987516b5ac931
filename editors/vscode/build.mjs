// Builds what the package holds: one file of code, and copies of the grammars, the schema and the licences, whose only source is at the top
// of the repository. With `--tests`, builds the tests instead.
import { copyFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { licencesOf } from "./licences.mjs";

process.chdir(fileURLToPath(new URL(".", import.meta.url)));

const shared = { bundle: true, platform: "node", target: "node20", format: "cjs", logLevel: "warning" };

if (process.argv.includes("--tests")) {
  rmSync("dist-tests", { recursive: true, force: true });
  const tests = readdirSync("test").filter((name) => name.endsWith(".test.ts"));
  await build({
    ...shared,
    entryPoints: [...tests.map((name) => `test/${name}`), "src/runs.ts", "src/runs/view.ts", "src/settings.ts", "src/testing.ts", "src/flow.ts", "src/status.ts", "src/description.ts"],
    outdir: "dist-tests",
    external: ["vscode"],
    sourcemap: "inline",
  });
} else {
  rmSync("dist", { recursive: true, force: true });
  mkdirSync("dist");
  const { metafile } = await build({
    ...shared,
    entryPoints: ["src/extension.ts"],
    outdir: "dist",
    external: ["vscode"],
    minify: true,
    metafile: true,
  });
  // The panels of runs are pages, and have no part of the editor or of Node.
  await build({
    bundle: true,
    platform: "browser",
    target: "es2022",
    format: "iife",
    logLevel: "warning",
    entryPoints: { panel: "panel/main.ts", compare: "panel/compare.ts", flow: "panel/flow.ts", "panel-style": "panel/style.css" },
    outdir: "dist",
    minify: true,
  });
  writeFileSync("dist/third-party-licenses.txt", licencesOf(".", Object.keys(metafile.inputs)));
  for (const file of ["syntaxes/prose.tmLanguage.json", "syntaxes/prose.markdown.tmLanguage.json", "docs/prose.schema.json", "docs/test.schema.json"]) {
    copyFileSync(`../../${file}`, `dist/${basename(file)}`);
  }
  for (const file of readdirSync("../..").filter((name) => name.startsWith("LICENSE"))) {
    copyFileSync(`../../${file}`, file);
  }
}
