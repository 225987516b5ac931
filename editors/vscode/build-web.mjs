// Builds the extension for Visual Studio Code for the Web into a folder of its own, from which `package --target web` makes a package:
//
//   node build-web.mjs FOLDER
//
// It has what works without processes: the same languages, grammars and colours as the extension for desktops, and a few commands.
import { copyFileSync, cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { licencesOf } from "./licences.mjs";

const FOLDER = fileURLToPath(new URL(".", import.meta.url));
const REPOSITORY = resolve(FOLDER, "../..");
const MODULE = join(REPOSITORY, process.env.CARGO_TARGET_DIR ?? "target", "wasm32-wasip1/web/prose_web.wasm");
const out = resolve(process.argv[2] ?? join(FOLDER, "dist-web"));

const COMMANDS = [
  { command: "prose.runProgram", title: "Run Program Offline", icon: "$(play)", enablement: "!prose.isRunning" },
  { command: "prose.runWithScript", title: "Run Program with Script…", enablement: "!prose.isRunning" },
  { command: "prose.cancel", title: "Stop the Program", icon: "$(debug-stop)", enablement: "prose.isRunning" },
].map((command) => ({ ...command, category: "OpenProse" }));

/** What the extension for desktops contributes that needs no process. */
const CONTRIBUTED = ["languages", "grammars", "semanticTokenTypes", "semanticTokenModifiers", "semanticTokenScopes", "tomlValidation", "configurationDefaults"];

process.chdir(FOLDER);
rmSync(out, { recursive: true, force: true });
mkdirSync(join(out, "dist"), { recursive: true });
const web = { bundle: true, platform: "browser", target: "es2022", minify: true, logLevel: "warning" };
const { metafile } = await build({ ...web, format: "cjs", entryPoints: ["web/extension.ts"], outdir: join(out, "dist"), external: ["vscode"], metafile: true });
await build({ ...web, format: "iife", entryPoints: { panel: "panel/main.ts", "panel-style": "panel/style.css" }, outdir: join(out, "dist") });
copyFileSync(MODULE, join(out, "dist/prose_web.wasm"));
// None is bundled today.
const licences = licencesOf(".", Object.keys(metafile.inputs));
if (licences !== "") writeFileSync(join(out, "dist/third-party-licenses.txt"), licences);
for (const file of ["syntaxes/prose.tmLanguage.json", "syntaxes/prose.markdown.tmLanguage.json", "docs/prose.schema.json", "docs/test.schema.json"]) {
  copyFileSync(join(REPOSITORY, file), join(out, "dist", basename(file)));
}
for (const file of readdirSync(REPOSITORY).filter((name) => name.startsWith("LICENSE"))) copyFileSync(join(REPOSITORY, file), join(out, file));
copyFileSync("language-configuration.json", join(out, "language-configuration.json"));
copyFileSync("web/README.md", join(out, "README.md"));
cpSync("images", join(out, "images"), { recursive: true });
writeFileSync(join(out, "package.json"), `${JSON.stringify(manifest(), undefined, 2)}\n`);
writeFileSync(join(out, ".vscodeignore"), "");

function manifest() {
  const desktop = JSON.parse(readFileSync("package.json", "utf8"));
  const { name, displayName, description, version, publisher, license, engines, categories, keywords, icon } = desktop;
  const contributes = Object.fromEntries(CONTRIBUTED.map((key) => [key, desktop.contributes[key]]));
  const isProgram = "resourceLangId == prose";
  return {
    name,
    displayName,
    description,
    version,
    publisher,
    license,
    private: true,
    engines,
    categories,
    keywords,
    icon,
    browser: "./dist/extension.js",
    activationEvents: ["workspaceContains:**/*.prose"],
    // Nothing starts a process or reaches a network, so that every folder may be opened.
    capabilities: { untrustedWorkspaces: { supported: true }, virtualWorkspaces: true },
    contributes: {
      ...contributes,
      commands: COMMANDS,
      menus: {
        "editor/title/run": [{ command: "prose.runProgram", when: isProgram, group: "1_run@1" }, { command: "prose.runWithScript", when: isProgram, group: "1_run@2" }],
        commandPalette: COMMANDS.map(({ command }) => ({ command, when: command === "prose.cancel" ? "prose.isRunning" : "editorLangId == prose" })),
      },
    },
  };
}
