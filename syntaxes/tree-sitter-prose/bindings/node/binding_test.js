const assert = require("node:assert");
const { test } = require("node:test");

const Parser = require("tree-sitter");
const prose = require(".");

test("a program is parsed", () => {
  const parser = new Parser();
  parser.setLanguage(prose);
  const tree = parser.parse('session "Write about {topic}"\n  model: opus\n');
  assert.strictEqual(tree.rootNode.hasError, false);
  const [session] = tree.rootNode.namedChildren;
  assert.strictEqual(session.type, "session_statement");
  assert.strictEqual(session.childForFieldName("properties").text, "model: opus");
});

test("the kinds of nodes are known", () => {
  assert.ok(prose.nodeTypeInfo.some(({ type }) => type === "session_statement"));
});
