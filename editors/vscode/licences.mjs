// The licences of the packages that a bundle holds parts of; each asks to be passed on with the code.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The text of all licences, from the names of the files that are bundled, which are relative to a folder. */
export function licencesOf(folder, inputs) {
  const packages = new Set(inputs.flatMap((input) => input.match(/^.*node_modules\/(?:@[^/]+\/)?[^/]+/)?.[0] ?? []));
  return [...packages].sort().map((name) => join(folder, name)).map((folder) => {
    const { name, version } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
    const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name));
    if (file === undefined) throw new Error(`${name} has no file with its licence`);
    return `${name} ${version}\n\n${readFileSync(`${folder}/${file}`, "utf8").trim()}\n`;
  }).join(`\n${"-".repeat(80)}\n\n`);
}
