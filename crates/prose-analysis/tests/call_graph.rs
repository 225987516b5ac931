//! Which blocks call which.

use std::path::Path;

use expect_test::{Expect, expect};
use prose_analysis::call_graph::{Call, call_graph};
use prose_analysis::statements::{body, statements};
use prose_analysis::{AnalysisHost, Text};

/// Shows who calls whom, with the lines of the calls: `?` behind those that some run of the block may not come to.
#[track_caller]
fn check(program: &str, expected: Expect) {
    let mut host = AnalysisHost::default();
    let file = host.set_text(Path::new("/main.prose"), Text::new(program));
    let db = host.db();
    let graph = call_graph(db, file);
    let shown = |calls: &[Call<'_>]| {
        let shown = calls.iter().map(|call| {
            let start = statements(db, file).start(call.statement).expect("the statement is in the file");
            let at = usize::from(body(db, call.statement)[call.id].range.start() + start);
            let line = program[..at].matches('\n').count() + 1;
            format!(" {}:{line}{}", call.block, if call.is_certain { "" } else { "?" })
        });
        shown.collect::<String>()
    };
    let mut lines = Vec::new();
    for caller in &graph.blocks {
        let recursive = if graph.is_recursive(&caller.name) { " (recursive)" } else { "" };
        lines.push(format!("{}{recursive} ->{}\n", caller.name, shown(&caller.calls)));
    }
    lines.push(format!("->{}\n", shown(&graph.root)));
    expected.assert_eq(&lines.concat());
}

#[test]
fn calls_of_blocks_and_of_the_program() {
    check(
        r#"block plan(topic):
  let outline = do improve(topic)
  if **it is long**:
    do split(outline)
  output outline
block improve(text):
  output session "Improve {text}"
block split(text):
  session "Split {text}"
let draft = do plan("tides")
for part in draft:
  do split(part)
  do missing(part)
"#,
        expect![[r#"
            plan -> improve:2 split:4?
            improve ->
            split ->
            -> plan:10? split:12? missing:13?
        "#]],
    );
}

#[test]
fn blocks_that_come_back_to_themselves() {
    check(
        r#"block dig(depth):
  if depth < 3:
    do dig(depth + 1)
block ping:
  do pong
block pong:
  choice **how to go on**:
    option "again":
      do ping
    option "enough":
      session "Stop"
block outer:
  do ping
do dig(1)
do outer
"#,
        expect![[r#"
            dig (recursive) -> dig:3?
            ping (recursive) -> pong:5
            pong (recursive) -> ping:9?
            outer -> ping:13
            -> dig:14? outer:15?
        "#]],
    );
}
