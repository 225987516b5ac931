// Measures in the browser how long it takes from opening a file to the underline of its mistake: for a program, and for a JSON
// file with the extension that the editor brings. Both are opened in turn in new windows: as the first file of its kind, which
// starts the extension and its server, and as the second.

import { Editor, until } from "./editor.mjs";

const ROUNDS = 12;
const KINDS = ["json", "prose"];
const EXTENSIONS = { json: "vscode.json-language-features", prose: "openprose-tools.openprose" };

// Short enough for the mistake at the end to be in view.
const files = {
  "first.prose": `agent writer:\n  model: sonnet\n${'session: writer\n  prompt: "Say hello"\n'.repeat(10)}session "Say hello\n`,
  "first.json": `{\n  "writer": "sonnet",\n${'  "session": ["writer", "Say hello"],\n'.repeat(20)}  "session": Say hello"\n}\n`,
};
for (const kind of KINDS) files[`second.${kind}`] = files[`first.${kind}`];

const opened = { json: 0, prose: 0 };
const times = {};
const activations = [];
const editor = await Editor.start();
try {
  for (let round = 0; round < ROUNDS; round++) {
    // Who comes first in a round changes, so that nobody profits from what the other has warmed up.
    for (const kind of round % 2 === 0 ? KINDS : [...KINDS].reverse()) await measure(kind);
  }
} finally {
  await editor.stop();
}
report();

async function measure(kind) {
  await editor.window(`round-${kind}`, files, async (window) => {
    // What the editor starts by itself must not be measured.
    await until("the editor has started", () => editor.activations("vscode.merge-conflict") === editor.windows);
    const active = editor.activations(EXTENSIONS[kind]);
    if (active > opened[kind]++) throw new Error(`the editor has started ${EXTENSIONS[kind]} by itself`);
    for (const name of ["first", "second"]) {
      const time = await window.timeToSquiggle(`${name}.${kind}`);
      (times[`${name} ${kind}`] ??= []).push(time);
      await window.command("View: Close All Editors");
      await window.squiggles("error").first().waitFor({ state: "detached" });
    }
    // The log may be late.
    await until("the activation is in the log", () => editor.activations(EXTENSIONS[kind]) === opened[kind]);
    if (kind !== "prose") return;
    // The list of extensions holds only those rows that fit.
    await window.page.setViewportSize({ width: 1200, height: 2000 });
    activations.push(await window.activationTime("OpenProse"));
  });
}

function report() {
  const row = (...cells) => console.log(`| ${cells.join(" | ")} |`);
  row("file", "JSON", "program", "program / JSON");
  row("---", "--:", "--:", "--:");
  for (const name of ["first", "second"]) {
    const [json, prose] = KINDS.map((kind) => median(times[`${name} ${kind}`]));
    row(`the ${name} of its kind`, `${Math.round(json)} ms`, `${Math.round(prose)} ms`, (prose / json).toFixed(2));
  }
  console.log(`\nactivation of the extension, without what it waits for: ${Math.round(median(activations))} ms`);
  const all = (values) => values.map(Math.round).sort((a, b) => a - b).join(" ");
  for (const [name, values] of Object.entries(times)) console.log(`${name}: ${all(values)}`);
  console.log(`activations: ${all(activations)}`);
}

function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return (sorted[Math.floor(middle)] + sorted[Math.ceil(middle)]) / 2;
}
