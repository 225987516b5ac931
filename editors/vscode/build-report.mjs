// Builds the script and the style of the reports that `prose runs report` writes, from the panel:
//
//   node build-report.mjs
//
// They are part of the repository, so that the command is built without Node. A test compares them with what this makes.
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const FOLDER = fileURLToPath(new URL(".", import.meta.url));
export const ASSETS = fileURLToPath(new URL("../../crates/prose-report/assets/", import.meta.url));

/** The files by their names. */
export async function built() {
  const { outputFiles } = await build({
    absWorkingDir: FOLDER,
    bundle: true,
    platform: "browser",
    target: "es2022",
    format: "iife",
    logLevel: "warning",
    entryPoints: { report: "panel/report/main.ts", "report-style": "panel/report/style.css" },
    outdir: "dist-report",
    minify: true,
    write: false,
  });
  return Object.fromEntries(outputFiles.map(({ path, text }) => [path.endsWith(".css") ? "report.css" : "report.js", text]));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [name, text] of Object.entries(await built())) writeFileSync(`${ASSETS}${name}`, text);
}
