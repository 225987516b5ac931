// The snippets: what they leave, taken as they come, is right in the eyes of `prose check`.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { after, test } from "node:test";
import { prose } from "./prose.mjs";

const snippets = JSON.parse(readFileSync(new URL("../snippets/prose.json", import.meta.url), "utf8"));
const folder = mkdtempSync(path.join(tmpdir(), "prose-snippets-"));
after(() => rmSync(folder, { recursive: true }));

// What snippets expect to be there. Where one defines a name of these itself, it is left out.
const surroundings = {
  draft: 'let draft = session "Write a draft"',
  items: 'let items = ["tides", "winds"]',
  writer: 'agent writer:\n  model: sonnet\n  prompt: "You write."',
  tutor: 'agent tutor:\n  persist: true\n  prompt: "You teach."',
  research: 'block research(topic):\n  output session "Look into {topic}"',
};

/** The text that a snippet leaves when nothing is typed into it. */
function taken(body) {
  let text = body.join("\n");
  const values = new Map();
  // From the inside out, so that what stands in a placeholder is there before the placeholder.
  const placeholder = /\$\{(\d+)(?::((?:[^${}\\]|\\.|\{[^${}]*\\\}|\{(?!\d))*?)|\|([^|,]*)[^|]*\|)?\}/;
  for (let found = placeholder.exec(text); found !== null; found = placeholder.exec(text)) {
    const [whole, number, initial, choice] = found;
    if (initial !== undefined || choice !== undefined) values.set(number, initial ?? choice);
    text = text.replace(whole, () => values.get(number) ?? assert.fail(`\${${number}} has no value in ${text}`));
  }
  return text.replace(/\$0/g, "").replace(/\\([$}\\])/g, "$1");
}

test("placeholders are filled in", () => {
  assert.equal(taken(["a ${1:b} ${2|x,y|}", "{${1}} ${3:in {${1}\\}} $0"]), "a b x\n{b} in {b} ");
});

for (const [name, { prefix, description, body }] of Object.entries(snippets)) {
  test(`snippet ${name}`, () => {
    assert.match(prefix, /^[a-z]+(-[a-z]+)?$/);
    assert.match(description, /^[A-Z].*[^.]$/);
    const text = taken(body);
    const defined = (name) => new RegExp(`^(?:agent|let|block) ${name}\\b`, "m").test(text);
    const needed = Object.entries(surroundings).filter(([name]) => !defined(name) && text.includes(name));
    let program = [...needed.map(([, definition]) => definition), text].join("\n\n");
    if (prefix === "input") program += '\nsession "Write about {topic}"';
    if (prefix === "output") program += 'session "Sum up"';
    if (prefix === "continue") program = `for item in ["a"]:\n${program.replace(/^/gm, "  ")}\n  session "Go on with {item}"`;
    if (prefix === "return") program = `block test():\n${program.replace(/^/gm, "  ")}\n\ndo test()`;
    writeFileSync(path.join(folder, "research.prose"), 'input topic: "What"\n\noutput found = session "Look into {topic}"\n');
    writeFileSync(path.join(folder, "test.prose"), `${program}\n`);
    const found = JSON.parse(prose(["check", "--no-config", "--output-format", "json", "test.prose"], { cwd: folder }));
    // The comment is there to be given a code that is reported.
    const told = found.filter(({ severity, code }) => ["error", "warning"].includes(severity) && code !== "W137");
    assert.deepEqual(told.map(({ code, message }) => `${code}: ${message}`), [], program);
  });
}

test("every prefix is one snippet", () => {
  const prefixes = Object.values(snippets).map(({ prefix }) => prefix);
  assert.deepEqual(prefixes.filter((prefix, index) => prefixes.indexOf(prefix) !== index), []);
});
