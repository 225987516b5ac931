//! Flows of programs for tests.

use std::path::Path;

use prose_ide::FlowGraph;
use prose_syntax::LineIndex;

use crate::drawing::{Drawing, flow_of};

/// A program with a statement of each kind.
pub(crate) const EVERYTHING: &str = r#"use "./tool.prose" as tool
agent writer:
  prompt: "You write"
input topic: "What about?"
let draft = session: writer
  prompt: "Write about {topic}"
resume: writer
  prompt: "Improve it"
let limit = 3
session "one" -> session "two"
parallel (on-fail: "continue"):
  facts = session "Look for facts"
  do:
    session "Write"
    session "Check"
parallel for item in ["x", "y"]:
  session "Do {item}"
loop until **it is good** (max: 3):
  session "Improve"
  if **hopeless**:
    break
  elif **nearly "done"**:
    continue
  else:
    do review(draft)
choice **what next**:
  option "publish":
    session "Publish"
  option "drop":
    throw "dropped"
try:
  session "Risky"
catch as err:
  session "Recover from {err}"
finally:
  session "Clean up"
let all = ["a", "b"]
  | map:
    session "Look at {item}"
block review(text):
  let found = session "Review {text}"
  if **more**:
    do review(found)
  return found
let used = tool(text: draft)
output result = draft
"#;

/// The flow of a program.
pub(crate) fn flow(program: &str) -> FlowGraph {
    flow_of(Path::new("it.prose"), program)
}

/// The drawing of a program.
pub(crate) fn drawn(program: &str, draw: impl Fn(&Drawing<'_>) -> String) -> String {
    drawn_as(program, "it.prose", draw)
}

/// The drawing of a program with another name.
pub(crate) fn drawn_as(program: &str, title: &str, draw: impl Fn(&Drawing<'_>) -> String) -> String {
    let graph = flow(program);
    let lines = LineIndex::new(program);
    draw(&Drawing { graph: &graph, title, line: &|node| lines.line(node.range.start().into()) + 1 })
}
