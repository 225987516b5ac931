//! Calls of blocks (R80 to R87).

use expect_test::expect;
use prose_vm::event::EventKind;

use crate::support::{check, check_result, run};

const OK: &str = "[[session]]\nreply = \"ok\"";

#[test]
fn r080_a_call_binds_its_arguments_by_place() {
    check(
        "block f(a, b):\n  session \"{a} {b}\"\ndo f(\"x\", \"y\")\nsession \"behind\"\n",
        OK,
        expect![[r#"
        call f (1, depth 1)
        session: x y
        let anon_001 in 1 = ok
        left 1: Complete
        session: behind
        let anon_002 = ok
        value: ok
    "#]],
    );
}

#[test]
fn r081_r082_frames_have_numbers_that_are_never_used_again() {
    check(
        "block inner():\n  session \"I\"\nblock outer():\n  do inner()\n  do inner()\ndo outer()\ndo inner()\n",
        OK,
        expect![[r#"
            call outer (1, depth 1)
            call inner (2, depth 2)
            session: I
            let anon_001 in 2 = ok
            left 2: Complete
            call inner (3, depth 2)
            session: I
            let anon_002 in 3 = ok
            left 3: Complete
            left 1: Complete
            call inner (4, depth 1)
            session: I
            let anon_003 in 4 = ok
            left 4: Complete
            value: ok
        "#]],
    );
}

#[test]
fn r083_concurrent_calls_are_numbered_in_the_order_of_the_text() {
    check(
        "block f(x):\n  session \"{x}\"\nparallel:\n  do f(\"a\")\n  do f(\"b\")\nparallel for x in [\"c\", \"d\"]:\n  do f(x)\n",
        "[[session]]\nlabel = \"a\"\nreply = \"A\"\ndelay = \"2s\"\n[[session]]\nlabel = \"c\"\nreply = \"C\"\ndelay = \"2s\"\n[[session]]\nreply = \"ok\"",
        expect![[r#"
            call f (1, depth 1)
            session: a
            call f (2, depth 1)
            session: b
            let anon_002 in 2 = ok
            left 2: Complete
            branch 2: Complete
            let anon_001 in 1 = A
            left 1: Complete
            branch 1: Complete
            call f (3, depth 1)
            session: c
            call f (4, depth 1)
            session: d
            let anon_004 in 4 = ok
            left 4: Complete
            iteration 2: Complete
            let anon_003 in 3 = C
            left 3: Complete
            iteration 1: Complete
            value: [
              "C",
              "ok"
            ]
        "#]],
    );
}

#[test]
fn r084_a_block_may_be_nested_100_times() {
    let program = |depth: u32| {
        format!(
            "block f(n):\n  if n <= 1:\n    output \"bottom\"\n  let r = do f(n - 1)\n  output r\nlet x = do f({depth})\noutput result = x\n"
        )
    };
    check_result(&program(100), "bottom");
    let ran = run(&program(101), OK);
    expect!["RecursionLimitExceeded: block 'f' exceeded max_depth 100"]
        .assert_eq(&ran.end.error.unwrap().to_string());
}

#[test]
fn r084_max_depth_says_otherwise_and_can_be_caught_in_the_caller() {
    check(
        r#"
block f(n) (max_depth: 2):
  try:
    do f(n + 1)
  catch as e:
    session "{n}: {e}"
do f(1)
"#,
        OK,
        expect![[r#"
            call f (1, depth 1)
            call f (2, depth 2)
            caught: RecursionLimitExceeded: block 'f' exceeded max_depth 2
            session: 2: RecursionLimitExceeded: block 'f' exceeded max_depth 2
            let anon_001 in 2 = ok
            left 2: Complete
            left 1: Complete
            value: ok
        "#]],
    );
    check_result(
        "block f(n) (max_depth: 300):\n  if n <= 1:\n    output \"bottom\"\n  let r = do f(n - 1)\n  output r\nlet x = do f(300)\noutput result = x\n",
        "bottom",
    );
}

#[test]
fn r085_the_limit_of_the_called_block_counts_for_the_whole_stack() {
    check(
        "block a():\n  do b()\nblock b():\n  do c()\nblock c() (max_depth: 2):\n  session \"never\"\ndo a()\n",
        OK,
        expect![[r#"
            call a (1, depth 1)
            call b (2, depth 2)
            left 2: Failed
            left 1: Failed
            Failed: RecursionLimitExceeded: block 'c' exceeded max_depth 2
        "#]],
    );
}

#[test]
fn r086_the_result_of_a_call() {
    let result = |body: &str| format!("block f():\n{body}let r = do f()\noutput result = r\n");
    check_result(&result("  output a = 1\n  output b = 2\n  output 3\n  output c = 4\n"), "3");
    check_result(&result("  return 5\n  output a = 1\n"), "5");
    check_result(&result("  output a = 1\n  session \"S\"\n"), "1");
    check_result(&result("  output a = 1\n  output b = 2\n"), "{\n  \"a\": 1,\n  \"b\": 2\n}");
    check_result(&result("  let a = 1\n  let b = 2\n"), "2");
    check_result(&result("  session \"S\"\n"), "ok");
    check_result(&result("  parallel:\n    a = session \"A\"\n    session \"B\"\n"), "{\n  \"a\": \"ok\"\n}");
    check_result(&result("  for x in [1]:\n    session \"S\"\n"), "ok");
    check_result(&result("  output a = 1\n  return\n"), "1");
}

#[test]
fn r087_do_has_no_frame_and_the_value_of_its_last_statement() {
    check(
        "let r = do:\n  session \"First\"\n  let inside = session \"A\"\nsession \"{inside} {r}\"\n",
        OK,
        expect![[r#"
        session: First
        let anon_001 = ok
        session: A
        let inside = ok
        let r = ok
        session: ok ok
        let anon_002 = ok
        value: ok
    "#]],
    );
    check(
        "do:\n  let inside = session \"A\"\nsession \"{inside}\"\n",
        OK,
        expect![[r#"
        session: A
        let inside = ok
        session: ok
        let anon_001 = ok
        value: ok
    "#]],
    );
}

#[test]
fn b05_an_unnamed_output_leaves_the_block_and_a_named_one_does_not() {
    check(
        "block f(d):\n  if d <= 0:\n    output \"leaf\"\n  output kept = \"x\"\n  session \"more\"\nlet a = do f(0)\nlet b = do f(1)\n",
        OK,
        expect![[r#"
            call f (1, depth 1)
            condition: true
            output (unnamed) = leaf
            left 1: Complete
            let a = leaf
            call f (2, depth 1)
            condition: false
            output kept in 2 = x
            output kept = x
            session: more
            let anon_001 in 2 = ok
            left 2: Complete
            let b = x
            value: x
        "#]],
    );
}

#[test]
fn b07_outputs_of_blocks_are_not_those_of_the_program() {
    let ran = run("block f():\n  output a = 1\ndo f()\noutput b = 2\n", OK);
    assert_eq!(format!("{:?}", ran.end.outputs), r#"[("b", Number(2.0))]"#);
}

#[test]
fn b14_missing_arguments_are_null_and_more_than_there_are_parameters_are_dropped() {
    check(
        "block f(a, b):\n  session \"{a} {b}\"\ndo f(1)\ndo f(1, 2, 3)\n",
        OK,
        expect![[r#"
            warning: block 'f' is called without 'b', which is null there
            call f (1, depth 1)
            session: 1 null
            let anon_001 in 1 = ok
            left 1: Complete
            warning: block 'f' takes 2 arguments; 1 extra arguments are ignored
            call f (2, depth 1)
            session: 1 2
            let anon_002 in 2 = ok
            left 2: Complete
            value: ok
        "#]],
    );
}

#[test]
fn b15_blocks_with_and_without_parentheses() {
    check(
        "block f:\n  session \"F\"\nblock g():\n  session \"G\"\ndo f\ndo g()\n",
        OK,
        expect![[r#"
        call f (1, depth 1)
        session: F
        let anon_001 in 1 = ok
        left 1: Complete
        call g (2, depth 1)
        session: G
        let anon_002 in 2 = ok
        left 2: Complete
        value: ok
    "#]],
    );
}

#[test]
fn d26_the_recursion_limit_is_named_in_the_message() {
    let ran = run("block process(n) (max_depth: 50):\n  do process(n)\ndo process(1)\n", OK);
    assert_eq!(
        ran.end.error.unwrap().to_string(),
        "RecursionLimitExceeded: block 'process' exceeded max_depth 50"
    );
}

#[test]
fn a_block_that_is_not_there_is_an_error() {
    check(
        "do missing()\n",
        OK,
        expect![[r#"
        Failed: block `missing` is not defined; define it with `block missing():`
    "#]],
    );
}

#[test]
fn r082_no_execution_id_is_used_twice_and_the_program_itself_has_none() {
    // A call that fails, one in a loop, concurrent ones and calls inside of calls.
    let ran = run(
        r#"
block leaf(x):
  session "{x}"
block node(x):
  do leaf(x)
  do leaf(x)
let root = session "Root"
try:
  do leaf("bad")
catch:
  do leaf("b")
repeat 2:
  do node("c")
parallel for x in ["d", "e"]:
  do leaf(x)
"#,
        "[[session]]\nlabel = \"bad\"\nfail = \"gone\"\n[[session]]\nreply = \"ok\"",
    );
    let mut calls = String::new();
    for event in &ran.events {
        if let EventKind::FrameEntered { id, block, depth, .. } = &event.kind {
            calls.push_str(&format!("{id}: {block}, depth {depth}\n"));
        }
    }
    expect![[r#"
        1: leaf, depth 1
        2: leaf, depth 1
        3: node, depth 1
        4: leaf, depth 2
        5: leaf, depth 2
        6: node, depth 1
        7: leaf, depth 2
        8: leaf, depth 2
        9: leaf, depth 1
        10: leaf, depth 1
    "#]]
    .assert_eq(&calls);
    assert_eq!(ran.files()[0], "bindings/root.md");
    assert!(ran.files()[1..].iter().all(|file| file.contains("__")), "{:?}", ran.files());
}
