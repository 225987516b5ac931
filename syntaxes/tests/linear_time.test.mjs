// Editors run the grammar on the thread that draws, so no line may take more than time in proportion to its length.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import oniguruma from "vscode-oniguruma";
import textmate from "vscode-textmate";

const wasm = createRequire(import.meta.url).resolve("vscode-oniguruma/release/onig.wasm");
await oniguruma.loadWASM(readFileSync(wasm).buffer);

// The grammars and which of them are injected where, as the fixtures use them.
const { contributes } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
const registry = new textmate.Registry({
  onigLib: Promise.resolve({
    createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
    createOnigString: (text) => new oniguruma.OnigString(text),
  }),
  loadGrammar: async (scope) => {
    const file = contributes.grammars.find(({ scopeName }) => scopeName === scope)?.path;
    return file && textmate.parseRawGrammar(readFileSync(new URL(`../${file}`, import.meta.url), "utf8"), file);
  },
  getInjections: (scope) =>
    contributes.grammars.filter(({ injectTo }) => injectTo?.includes(scope)).map(({ scopeName }) => scopeName),
});
const programs = await registry.loadGrammar("source.prose");
const markdown = await registry.loadGrammar("text.html.markdown");

function tokenize(grammar, lines) {
  let state = textmate.INITIAL;
  for (const line of lines) {
    // As Visual Studio Code does: the other form writes out every token's scopes, which is quadratic where they nest.
    state = grammar.tokenizeLine2(line, state).ruleStack;
  }
}

// Processor time, since other programs may keep the machine busy.
function millisecondsFor(grammar, lines) {
  const start = process.cpuUsage();
  tokenize(grammar, lines);
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

// Fails when eight times the text takes more than 24 times as long. Quadratic time would be 64 times as long.
function assertLinear(what, textOfSize, grammar = programs) {
  const [small, large] = [textOfSize(1), textOfSize(8)];
  let [short, long] = [Infinity, Infinity];
  for (let attempt = 0; attempt < 5; attempt++) {
    short = Math.min(short, millisecondsFor(grammar, small));
    long = Math.min(long, millisecondsFor(grammar, large));
    if (long < 24 * short + 20) return;
  }
  assert.fail(`${what}: ${short.toFixed(1)} ms, then ${long.toFixed(1)} ms for eight times the text`);
}

// Each stands in a place where a rule starts and then cannot finish. They are repeated to the wanted length.
const repeated = [
  " ", "(", "[", "{", "\"", "\\", "*", "=", ":", ">", "|", "-", ",", ".", "#", "a", "a-", "a.", "a ", "a,", "a(", "a:", "{a", "{a.", "{a[", "\"{",
  "\"\"\"", "**", "***", "| map", "session ", "session:", "session a", "= session", "= do a", "x = ", " as ", "a as b ", " and ", "not ",
  "block a", "for a, ", "model:a/", "1", "1.", "12s", "output", "(a: ", "until ", "é", "\t",
];
const openers = [
  "", "\"", "\"\"\"", "** ", "*** ", "(", "block b(", "let ", "for a", "agent a", "output a", "session a", "parallel ", "model: ", "  a", "= ", "\"{a",
  "x | reduce(", "use \"a\" as ",
];

for (const unit of repeated) {
  test(`long lines of ${JSON.stringify(unit)}`, () => {
    for (const opener of openers) {
      assertLinear(JSON.stringify(opener), (size) => [opener + unit.repeat(Math.ceil((size * 1_000) / unit.length))]);
    }
  });
}

test("unfinished literals and parentheses over many lines", () => {
  for (const opener of ["session \"\"\"", "if **", "choice ***", "do f(", "block b("]) {
    assertLinear(opener, (size) => Array.from({ length: size * 250 }, () => `${opener} text {name} (a: 1`));
  }
});

test("fences of Markdown", () => {
  const fences = {
    "long info strings": (size) => ["```prose " + "a ".repeat(size * 500), "~~~prose" + " ~".repeat(size * 500)],
    "long runs of backticks": (size) => ["```prose", "`".repeat(size * 1_000), " ".repeat(size * 1_000) + "```x"],
    "many fences": (size) => Array.from({ length: size * 20 }, () => ["```prose", "session \"\"\"", "```"]).flat(),
    "a fence without end": (size) => ["```prose", ...Array.from({ length: size * 100 }, () => "do f(a: **b")],
  };
  for (const [what, textOfSize] of Object.entries(fences)) assertLinear(what, textOfSize, markdown);
});
