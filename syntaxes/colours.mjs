// Compares the colours of the TextMate grammar with those of the semantic tokens: those of a program stay when the tokens arrive. Reads from standard
// input `[{ name, text, tokens: [[line, start, length, type, modifiers]] }]`, with positions in UTF-16 units, and writes what differs.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import oniguruma from "vscode-oniguruma";
import textmate from "vscode-textmate";

/** Some of each kind: the defaults of Visual Studio Code, high contrast, and the most installed ones. */
const THEMES = [
  "dark-plus", "light-plus", "github-dark-high-contrast", "github-light-high-contrast", "dracula",
  "catppuccin-mocha", "catppuccin-latte", "monokai",
];

/**
 * The beginnings of the scopes that are the same as a type of token. What only the analysis can decide has the scope of what it is by its place
 * alone: an agent, an input or an imported program is a variable where it is used.
 */
const SAME = {
  keyword: ["keyword.control"],
  class: ["entity.name.type", "variable.other"],
  function: ["entity.name.function"],
  namespace: ["entity.name.function", "variable.other"],
  variable: ["variable.other"],
  parameter: ["variable.parameter", "variable.other"],
  property: ["variable.other.property"],
  enumMember: ["variable.other.enummember"],
  string: ["string.quoted"],
  regexp: ["constant.numeric.discretion"],
  escapeSequence: ["constant.character.escape"],
  number: ["constant.numeric"],
  operator: ["keyword.operator", "punctuation"],
  comment: ["comment", "punctuation.definition.comment"],
};

/** The colour of text that a theme does not name, so that it differs from that of a rule with the same colour. */
const UNNAMED = "#010203";

const read = (path) => JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8"));
const contributed = read("../editors/vscode/package.json").contributes.semanticTokenScopes[0].scopes;
const wasm = createRequire(import.meta.url).resolve("vscode-oniguruma/release/onig.wasm");
await oniguruma.loadWASM(readFileSync(wasm).buffer);
const registry = new textmate.Registry({
  onigLib: Promise.resolve({
    createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
    createOnigString: (text) => new oniguruma.OnigString(text),
  }),
  loadGrammar: async (scope) =>
    scope === "source.prose" ? textmate.parseRawGrammar(readFileSync(new URL("prose.tmLanguage.json", import.meta.url), "utf8"), "prose.json") : null,
});
const grammar = await registry.loadGrammar("source.prose");

/** A grammar for a text of one scope. */
const probes = new Map();
async function probe(scope) {
  if (!probes.has(scope)) {
    const name = `probe.${probes.size}`;
    probes.set(scope, await registry.addGrammar({ scopeName: name, patterns: [{ match: "x", name: scope }], repository: {} }));
  }
  return probes.get(scope);
}

/** The colours of a line, by the UTF-16 units at which they start. */
function coloursOf(grammar, line, state) {
  const { tokens, ruleStack } = grammar.tokenizeLine2(line, state);
  const colours = [];
  for (let index = 0; index < tokens.length; index += 2) {
    // The bits of the foreground in the metadata of a token.
    const colour = (tokens[index + 1] >>> 15) & 0x1ff;
    colours.fill(colour, tokens[index], (colours.length = Math.max(line.length, 1)));
  }
  return { colours, ruleStack };
}

/** The colour that a theme gives to a scope; undefined for one that it does not name. */
async function colourOf(scope, map) {
  const probed = await probe(scope);
  const [colour] = coloursOf(probed, "x", textmate.INITIAL).colours;
  return map[colour] === UNNAMED ? undefined : map[colour];
}

/** The rules of a theme for semantic tokens, the strongest first. */
function rulesOf(theme, type, modifiers) {
  const rules = Object.entries(theme.semanticTokenColors ?? {}).flatMap(([selector, style]) => {
    const [names, language] = selector.split(":");
    const [kind, ...needed] = names.split(".");
    const isMatch = (kind === "*" || kind === type) && needed.every((name) => modifiers.includes(name)) && (language === undefined || language === "prose");
    const colour = typeof style === "string" ? style : style.foreground;
    return isMatch && colour !== undefined ? [{ strength: needed.length * 100 + (kind === "*" ? 0 : 100), colour }] : [];
  });
  return rules.sort((a, b) => b.strength - a.strength).map(({ colour }) => colour);
}

/** The colour of a semantic token as Visual Studio Code decides it; undefined if it leaves that of the grammar. */
async function semanticColour(theme, type, modifiers, map) {
  const [own] = rulesOf(theme, type, modifiers);
  if (own !== undefined) return own.toUpperCase();
  const selectors = [...modifiers.map((modifier) => `${type}.${modifier}`), type];
  for (const selector of selectors) {
    for (const scope of contributed[selector] ?? []) {
      const colour = await colourOf(scope, map);
      if (colour !== undefined) return colour;
    }
  }
  return undefined;
}

function isSpace(text) {
  return text.trim() === "";
}

const programs = JSON.parse(readFileSync(0, "utf8"));
let count = 0;
const differences = new Map();
function differ(kind, { name, line, text }) {
  const known = differences.get(kind) ?? { times: 0, example: `${name}:${line + 1}: ${text}` };
  known.times++;
  differences.set(kind, known);
}

for (const { name, text, tokens } of programs) {
  const lines = text.split(/\r?\n/);
  let state = textmate.INITIAL;
  const scopes = lines.map((line) => {
    const { tokens, ruleStack } = grammar.tokenizeLine(line, state);
    state = ruleStack;
    return tokens;
  });
  for (const [line, start, length, type, modifiers] of tokens) {
    count++;
    if (modifiers.includes("unresolved")) continue;
    for (const { startIndex, endIndex, scopes: found } of scopes[line]) {
      const [from, to] = [Math.max(start, startIndex), Math.min(start + length, endIndex)];
      const part = lines[line].slice(from, to);
      // Scopes of structure have no colour.
      const scope = found.findLast((scope) => !scope.startsWith("meta.")) ?? "";
      if (isSpace(part) || SAME[type].some((same) => scope === same || scope.startsWith(`${same}.`))) continue;
      differ(`${type} is ${scope.replace(/\.prose$/, "")}`, { name, line, text: part });
    }
  }
}

for (const id of THEMES) {
  const theme = read(`node_modules/tm-themes/themes/${id}.json`);
  const foreground = (theme.colors["editor.foreground"] ?? (theme.type === "light" ? "#000000" : "#BBBBBB")).toUpperCase();
  registry.setTheme({ name: id, settings: [{ settings: { foreground: UNNAMED, background: theme.colors["editor.background"] } }, ...theme.tokenColors.filter(({ scope }) => scope !== undefined)] });
  const map = registry.getColorMap().map((colour) => colour?.toUpperCase());
  const discretion = await colourOf("constant.numeric.discretion.prose", map);
  for (const other of ["string.quoted.double.prose", "keyword.control.prose", "variable.other.readwrite.prose"]) {
    if (discretion === (await colourOf(other, map))) differ(`${id}: conditions have the colour of ${other}`, { name: "", line: 0, text: "" });
  }
  const semantic = new Map();
  for (const { name, text, tokens } of programs) {
    const lines = text.split(/\r?\n/);
    let state = textmate.INITIAL;
    const coloured = lines.map((line) => {
      const { colours, ruleStack } = coloursOf(grammar, line, state);
      state = ruleStack;
      return colours;
    });
    for (const [line, start, length, type, modifiers] of tokens) {
      // Whether a name in a context is that of an agent decides the analysis.
      if (modifiers.includes("unresolved") || (type === "class" && modifiers.includes("persistent"))) continue;
      const key = [type, ...modifiers].join(".");
      if (!semantic.has(key)) semantic.set(key, await semanticColour(theme, type, modifiers, map));
      const colour = semantic.get(key);
      if (colour === undefined) continue;
      for (let at = start; at < start + length; at++) {
        if (isSpace(lines[line][at] ?? "")) continue;
        const named = map[coloured[line][at]];
        const before = named === UNNAMED ? foreground : named;
        if (before === colour) continue;
        differ(`${id}: ${key} changes from ${before} to ${colour}`, { name, line, text: lines[line].slice(start, start + length) });
        break;
      }
    }
  }
}

console.log(`${count} tokens`);
for (const [kind, { times, example }] of [...differences].sort(([a], [b]) => (a < b ? -1 : 1))) console.log(`${kind}, ${times} times: ${example}`);
