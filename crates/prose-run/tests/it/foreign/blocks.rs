//! Blocks: the marks in a body are about the call at the top of the stack.

use expect_test::expect;

use crate::foreign::check;

const PROCESS: &str = r#"block process(data, depth):
  let result = session "Process {data} at {depth}"
  if depth > 0:
    do process(result, depth - 1)
  let after = session "Combine at {depth}"
let top = session "Top"
do process("x", 2)
session "End"
"#;

#[test]
fn r104_marks_in_a_block_are_about_the_call_at_the_top_of_the_stack() {
    let state = r#"# Execution State

## Execution Trace

```prose
block process(data, depth):
  let result = session "Process {data} at {depth}"  # <-- EXECUTING
  if depth > 0:
    do process(result, depth - 1)
  let after = session "Combine at {depth}"
let top = session "Top"  # --> bindings/top.md
do process("x", 2)  # <-- EXECUTING
session "End"
```

## Call Stack

| execution_id | block | depth | status |
| --- | --- | --- | --- |
| 2 | process | 2 | executing |
| 1 | process | 1 | waiting |
"#;
    let files = [("top", "T"), ("result__1", "one"), ("result__2", "half of two")];
    check(
        PROCESS,
        state,
        &files,
        expect![[r#"
        kept  Top: T
        kept  Process x at 2: one
        known true
        asked Process one at 1
        known true
        asked Process an answer of now at 0
        known false
        asked Combine at 0
        asked Combine at 1
        asked Combine at 2
        asked End
    "#]],
    );
}

#[test]
fn r104_a_call_in_what_was_not_entered_has_not_run() {
    let program = "block note(what):\n  let text = session \"Note {what}\"\nlet a = session \"A\"\nif **so**:\n  repeat 2:\n    do note(\"it\")\n";
    let state = "block note(what):\n  let text = session \"Note {what}\"\nlet a = session \"A\"  # (complete)\nif **so**:\n  repeat 2:  # [not yet entered]\n    do note(\"it\")\n";
    check(
        program,
        state,
        &[("a", "A"), ("text__1", "stale")],
        expect![[r#"
        kept  A: A
        asked whether (true)
        asked Note it
        asked Note it
    "#]],
    );
    let state = "block note(what):\n  let text = session \"Note {what}\"\nlet a = session \"A\"  # <-- EXECUTING\nif **so**:  # [...next...]\n";
    check(
        program,
        state,
        &[("a", "half"), ("text__1", "stale")],
        expect![[r#"
        asked A
        asked whether (true)
        asked Note it
        asked Note it
    "#]],
    );
}
