//! Branches that run at the same time (R19, R50 to R58).

use std::sync::Arc;

use expect_test::expect;
use prose_vm::event::EventKind;

use crate::support::{Counting, answers, check, lines, run, run_with};

const OK: &str = "[[session]]\nreply = \"ok\"";

#[test]
fn r050_branches_start_together_and_are_sequential_inside() {
    let ran = run(
        r#"
block f():
  session "C1"
  session "C2"
parallel:
  a = session "A"
  do:
    session "B1"
    session "B2"
  do f()
  for x in ["D1", "D2"]:
    session "{x}"
"#,
        "[[session]]\nreply = \"ok\"\ndelay = \"1s\"",
    );
    expect![[r#"
        0: start A
        0: start B1
        0: start C1
        0: start D1
        1000: Complete
        1000: Complete
        1000: start B2
        1000: Complete
        1000: start C2
        1000: Complete
        1000: start D2
        2000: Complete
        2000: Complete
        2000: Complete
    "#]]
    .assert_eq(&ran.times());
}

#[test]
fn r051_count_is_cut_to_the_number_of_branches() {
    let ran = run("parallel (\"any\", count: 9):\n  a = session \"A\"\n  b = session \"B\"\n", OK);
    expect![[r#"
        session: A
        session: B
        let a = ok
        a: Complete
        let b = ok
        b: Complete
        value: {
          "a": "ok",
          "b": "ok"
        }
    "#]]
    .assert_eq(&ran.story());
    check(
        "parallel (\"any\", count: 0):\n  session \"A\"\n",
        OK,
        expect![[r#"
        Failed: `count` needs a whole number from 1 on, and this is `0`
    "#]],
    );
}

#[test]
fn r051_strategies_and_policies_without_quotes() {
    let ran = run("parallel (first, on-fail: ignore):\n  a = session \"A\"\n  b = session \"B\"\n", OK);
    expect![[r#"
        session: A
        session: B
        let a = ok
        a: Complete
        b: Skipped
        value: {
          "a": "ok",
          "b": null
        }
    "#]]
    .assert_eq(&ran.story());
}

#[test]
fn r052_a_branch_completes_behind_its_retries_and_its_try() {
    let ran = run(
        r#"
parallel:
  a = session "A"
    retry: 2
  try:
    session "B"
  catch:
    session "B failed"
"#,
        r#"
[[session]]
label = "A"
times = 2
fail = "no"
[[session]]
label = "B"
fail = "no"
[[session]]
reply = "ok"
"#,
    );
    expect![[r#"
        session: A
        session: B
        failed: no
        retry 1 after 0 ms
        session: A
        failed: no
        caught: no
        session: B failed
        failed: no
        retry 2 after 0 ms
        session: A
        let anon_002 = ok
        branch 2: Complete
        let a = ok
        a: Complete
        value: {
          "a": "ok"
        }
    "#]]
    .assert_eq(&ran.story());
}

#[test]
fn r053_failures_under_continue_are_error_values() {
    check(
        r#"
parallel (on-fail: "continue"):
  a = session "A"
  b = session "B"
session "{a} / {b} / {b.message}"
if b:
  session "b is there"
"#,
        "[[session]]\nlabel = \"B\"\nfail = \"no\"\n[[session]]\nreply = \"ok\"",
        expect![[r#"
            session: A
            session: B
            let a = ok
            a: Complete
            failed: no
            b: Failed
            let b = no
            warning: 1 of 2 branches failed: b: no
            session: ok / no / no
            let anon_001 = ok
            condition: false
            value: null
        "#]],
    );
}

#[test]
fn r053_a_name_from_before_is_null_behind_a_join_that_drops_it() {
    check(
        r#"
let a = "before"
let b = "before"
parallel ("first"):
  a = session "A"
  b = session "B"
session "{a} {b}"
"#,
        "[[session]]\nlabel = \"A\"\nreply = \"a\"\ndelay = \"2s\"\n[[session]]\nreply = \"ok\"",
        expect![[r#"
            let a = before
            let b = before
            session: A
            session: B
            let b = ok
            b: Complete
            a: Skipped
            let a = null
            session: null ok
            let anon_001 = ok
            value: ok
        "#]],
    );
}

#[test]
fn r056_the_value_of_parallel_is_an_object_of_named_branches() {
    check(
        "let r = parallel:\n  b = session \"B\"\n  a = session \"A\"\n  session \"C\"\nsession \"{r.a} {r.b}\"\n",
        OK,
        expect![[r#"
            session: B
            session: A
            session: C
            let b = ok
            b: Complete
            let a = ok
            a: Complete
            let anon_001 = ok
            branch 3: Complete
            let r = {
              "b": "ok",
              "a": "ok"
            }
            session: ok ok
            let anon_002 = ok
            value: ok
        "#]],
    );
}

#[test]
fn r056_without_names_it_is_an_array_in_the_order_of_the_text() {
    check(
        "let r = parallel:\n  session \"A\"\n  session \"B\"\n",
        "[[session]]\nlabel = \"A\"\nreply = \"a\"\ndelay = \"1s\"\n[[session]]\nreply = \"b\"",
        expect![[r#"
            session: A
            session: B
            let anon_002 = b
            branch 2: Complete
            let anon_001 = a
            branch 1: Complete
            let r = [
              "a",
              "b"
            ]
            value: [
              "a",
              "b"
            ]
        "#]],
    );
}

#[test]
fn r057_parallel_for_gives_an_array_in_the_order_of_the_items() {
    check(
        r#"
let seen = []
let r = parallel for x, i in ["a", "b"]:
  let s = session "{x} {i}"
  seen = seen + [x]
  session "{s}"
output result = [r, seen, s]
"#,
        &answers(&[("a 0", "A", "2s"), ("b 1", "B", "1s"), ("A", "AA", ""), ("B", "BB", "")]),
        expect![[r#"
            let seen = []
            session: a 0
            session: b 1
            let s = B
            let seen = [
              "b"
            ]
            session: B
            let anon_001 = BB
            iteration 2: Complete
            let s = A
            let seen = [
              "b",
              "a"
            ]
            session: A
            let anon_002 = AA
            iteration 1: Complete
            let s = B
            let r = [
              "AA",
              "BB"
            ]
            output result = [
              [
                "AA",
                "BB"
              ],
              [
                "b",
                "a"
              ],
              "B"
            ]
            output result = [
              [
                "AA",
                "BB"
              ],
              [
                "b",
                "a"
              ],
              "B"
            ]
            value: null
        "#]],
    );
}

#[test]
fn r057_names_of_iterations_are_their_own_also_where_the_name_is_there_already() {
    let ran = run(
        r#"
let r = "before"
parallel for x in ["a", "b"]:
  let r = session "first {x}"
  session "second {x}: {r}"
"#,
        &answers(&[("first a", "A", "1s"), ("first b", "B", "2s"), ("", "ok", "2s")]),
    );
    assert_eq!(ran.tasks(), ["first a", "first b", "second a: A", "second b: B"]);
}

#[test]
fn r057_the_first_failure_of_an_iteration_cancels_the_others() {
    let ran = run(
        "parallel for x in [\"a\", \"b\", \"c\"]:\n  session \"{x}\"\n  session \"{x} again\"\n",
        r#"
[[session]]
label = "a"
reply = "ok"
delay = "1s"
[[session]]
label = "b"
fail = "no"
delay = "2s"
[[session]]
reply = "ok"
delay = "3s"
"#,
    );
    expect![[r#"
        0: start a
        0: start b
        0: start c
        1000: Complete
        1000: start a again
        2000: Failed
    "#]]
    .assert_eq(&ran.times());
    expect![[r#"
        session: a
        session: b
        session: c
        let anon_001 = ok
        session: a again
        failed: no
        iteration 2: Failed
        iteration 1: Skipped
        iteration 3: Skipped
        Failed: no
    "#]]
    .assert_eq(&ran.story());
}

#[test]
fn r057_an_empty_collection_has_no_iterations() {
    check(
        "let r = parallel for x in []:\n  session \"{x}\"\n",
        OK,
        expect![[r#"
        let r = []
        value: []
    "#]],
    );
}

#[test]
fn r058_the_cap_queues_branches_in_the_order_of_the_text() {
    let ran = run_with(
        "parallel for x in [1, 2, 3, 4, 5]:\n  session \"S{x}\"\n",
        "[[session]]\nreply = \"ok\"\ndelay = \"1s\"",
        |setup| setup.limits.max_parallel = 2,
    );
    let ends: Vec<_> = ran
        .events
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::SessionEnded { .. } => Some((event.at, event.place.to_string())),
            _ => None,
        })
        .collect();
    expect![[r#"
        (1000, "s0/i0/1")
        (1000, "s0/i1/1")
        (2000, "s0/i2/1")
        (2000, "s0/i3/1")
        (3000, "s0/i4/1")
    "#]]
    .assert_eq(&lines(&ends));
}

#[test]
fn r058_what_was_cancelled_frees_its_place() {
    let ran = run_with(
        r#"
parallel ("first"):
  session "Fast"
  session "Slow"
  session "Never"
parallel:
  session "A"
  session "B"
"#,
        &answers(&[("Slow", "ok", "1h"), ("Never", "ok", "1h"), ("", "ok", "1s")]),
        |setup| setup.limits.max_parallel = 2,
    );
    expect![[r#"
        0: start Fast
        0: start Slow
        0: start Never
        1000: Complete
        1000: start A
        1000: start B
        2000: Complete
        2000: Complete
    "#]]
    .assert_eq(&ran.times());
}

#[test]
fn b5_leaving_a_branch_leaves_the_construct() {
    check(
        r#"
block f():
  parallel:
    do:
      session "A"
      return "early"
    session "B"
  session "never"
let r = do f()
for x in [1, 2]:
  parallel for y in [1, 2]:
    if y == 1:
      break
    session "C"
  session "D"
"#,
        "[[session]]\nlabel = \"B\"\nreply = \"b\"\ndelay = \"1s\"\n[[session]]\nreply = \"ok\"",
        expect![[r#"
            call f (1, depth 1)
            session: A
            session: B
            let anon_001 in 1 = ok
            branch 1: Left
            branch 2: Skipped
            left 1: Complete
            let r = early
            iteration 1
            condition: true
            iteration 1: Left
            iteration 2: Skipped
            session: D
            let anon_003 = ok
            iteration 2
            condition: true
            iteration 1: Left
            iteration 2: Skipped
            session: D
            let anon_004 = ok
            loop ended: Exhausted after 2
            value: ok
        "#]],
    );
}

#[test]
fn d24_assignments_of_iterations_are_atomic_in_the_order_of_completion() {
    let ran = run(
        "let xs = []\nparallel for x in [1, 2, 3]:\n  let r = session \"{x}\"\n  xs = xs + [r]\noutput result = xs\n",
        &answers(&[("1", "one", "3s"), ("2", "two", "1s"), ("3", "three", "2s")]),
    );
    expect![[r#"
        [
          "two",
          "three",
          "one"
        ]"#]]
    .assert_eq(&ran.end.outputs[0].1.to_string());
}

#[test]
fn r057_an_assignment_that_waits_is_atomic_too() {
    let ran = run(
        r#"
block add(x):
  let r = session "{x}"
  output r
let xs = []
parallel for x in [1, 2, 3]:
  xs = xs + [do add(x)]
output result = xs
"#,
        &answers(&[("1", "one", "3s"), ("2", "two", "1s"), ("3", "three", "2s")]),
    );
    expect![[r#"
        [
          "two",
          "three",
          "one"
        ]"#]]
    .assert_eq(&ran.end.outputs[0].1.to_string());
}

#[test]
fn r058_at_least_one_session_runs() {
    let ran = run_with("session \"A\"\n", OK, |setup| setup.limits.max_parallel = 0);
    assert_eq!(ran.end.sessions, 1);
}

#[test]
fn f22_branches_do_not_write_to_the_same_file_at_the_same_time() {
    let ran = run(
        r#"
parallel:
  a = session "A"
  do:
    let notes = session "One"
    session "Use {notes}"
  do:
    let notes = session "Two"
  output b = session "B"
session "{a} {notes} {b}"
"#,
        "[[session]]\nlabel = \"One\"\nreply = \"one\"\ndelay = \"1s\"\n[[session]]\nlabel = \"Two\"\nreply = \"two\"\n[[session]]\nreply = \"ok\"",
    );
    assert_eq!(ran.tasks(), ["A", "One", "Two", "B", "Use one", "ok two ok"]);
    expect![[r#"
        bindings/a.md
        bindings/notes__0_b2.md
        bindings/b.md
        bindings/notes__0_b1.md
        bindings/anon_001.md
        bindings/notes.md
        bindings/anon_002.md"#]]
    .assert_eq(&ran.files().join("\n"));
}

#[test]
fn r058_when_an_agent_began_is_known_of_what_had_to_wait_for_one() {
    let ran = run_with(
        "parallel for x in [1, 2, 3]:\n  session \"S{x}\"\n",
        "[[session]]\nreply = \"ok\"\ndelay = \"1s\"",
        |setup| setup.limits.max_parallel = 2,
    );
    let mut said = String::new();
    for event in &ran.events {
        said += &match &event.kind {
            EventKind::SessionStarted { request, .. } => format!("{}: {} wanted\n", event.at, request.0),
            EventKind::Queued { request } => format!("{}: {} queued\n", event.at, request.0),
            EventKind::Begun { request } => format!("{}: {} begun\n", event.at, request.0),
            EventKind::Effect { request, began, .. } => {
                format!("{}: {} done, begun {began:?}\n", event.at, request.0)
            }
            _ => continue,
        };
    }
    expect![[r#"
        0: 1 wanted
        0: 2 wanted
        0: 3 wanted
        0: 3 queued
        1000: 1 done, begun None
        1000: 3 begun
        1000: 2 done, begun None
        2000: 3 done, begun Some(1000)
    "#]]
    .assert_eq(&said);
}

#[test]
fn parallel_sessions_that_change_the_same_file_are_warned_of() {
    let warnings = |program: &str| {
        let ran = run_with(program, "[[session]]\nreply = \"ok\"\ndelay = \"1s\"", |setup| {
            let inner = Arc::clone(&setup.harness);
            setup.harness =
                Arc::new(Counting { inner, usage: |_| None, changes: Some("notes.md"), is_live: false });
        });
        let warnings = ran.events.iter().filter_map(|event| match &event.kind {
            EventKind::Warning { message } => Some(message.clone()),
            _ => None,
        });
        warnings.collect::<Vec<_>>()
    };
    assert_eq!(
        warnings("parallel:\n  session \"A\"\n  session \"B\"\nsession \"C\"\n"),
        [
            "the sessions at line 2 and line 3 change `notes.md` at the same time, so that one may overwrite the other; run them one after the other"
        ]
    );
    assert_eq!(warnings("session \"A\"\nsession \"B\"\n"), Vec::<String>::new());
}
