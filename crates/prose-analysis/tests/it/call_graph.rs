//! Which blocks call which.

use std::path::Path;

use expect_test::{Expect, expect};
use prose_analysis::call_graph::{Call, CycleId, call_graph};
use prose_analysis::statements::body;
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
            let start = call.statement.start(db).expect("the statement is in the file");
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
            -> plan:10 split:12? missing:13?
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
            -> dig:14 outer:15
        "#]],
    );
}

/// Shows the blocks of each cycle, those of one cycle on one line.
#[track_caller]
fn check_cycles(program: &str, expected: Expect) {
    let mut host = AnalysisHost::default();
    let file = host.set_text(Path::new("/main.prose"), Text::new(program));
    let graph = call_graph(host.db(), file);
    let mut cycles: Vec<(CycleId, String)> = Vec::new();
    for caller in &graph.blocks {
        let Some(cycle) = graph.cycle(&caller.name) else { continue };
        match cycles.iter_mut().find(|(other, _)| *other == cycle) {
            Some((_, names)) => *names += &format!(" {}", caller.name),
            None => cycles.push((cycle, caller.name.to_string())),
        }
    }
    expected.assert_eq(&cycles.into_iter().map(|(_, names)| names + "\n").collect::<String>());
}

#[test]
fn cycles_are_distinguished() {
    check_cycles(
        r#"block alone:
  do alone
block a:
  do b
block b:
  do c
  do x
block c:
  do a
block x:
  do y
block y:
  do z
block z:
  do y
block leaf:
  do missing
block above:
  do a
block perhaps:
  if **more**:
    do perhaps
"#,
        expect![[r#"
            alone
            a b c
            y z
        "#]],
    );
}

#[test]
fn a_cycle_of_any_length_is_one() {
    let blocks = 20_000;
    let block = |number: usize| format!("block b{number}:\n  do b{}\n", (number + 1) % blocks);
    let mut host = AnalysisHost::default();
    let program: String = (0..blocks).map(block).collect();
    let file = host.set_text(Path::new("/main.prose"), Text::new(program));
    let graph = call_graph(host.db(), file);
    let first = graph.cycle("b0");
    assert!(first.is_some());
    assert!(graph.blocks.iter().all(|caller| graph.cycle(&caller.name) == first));
}
