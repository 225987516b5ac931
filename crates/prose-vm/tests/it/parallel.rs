//! Branches that run at the same time (R19, R50 to R58).

use std::fmt::Write;

use expect_test::expect;
use prose_vm::event::{Status, What};
use prose_vm::value::Value;

use crate::support::{Ran, check, run, run_with};

const OK: &str = "[[session]]\nreply = \"ok\"";

/// Three branches that complete at 1, 2 and 3 seconds, each with success or failure. A branch has one more session behind the one that takes
/// time, so that a branch that was cancelled too late would show.
fn three_branches(order: &str, options: &str) -> Ran {
    let program = format!(
        r#"
block branch(n):
  let r = session "begin {{n}}"
  if r == "F":
    throw "failed {{n}}"
  let s = session "end {{n}}"
  output n
try:
  parallel{options}:
    a = do branch(1)
    b = do branch(2)
    c = do branch(3)
catch as e:
  session "caught {{e}}"
"#
    );
    let mut script = String::new();
    for (nth, letter) in order.chars().enumerate() {
        let nth = nth + 1;
        _ = write!(
            script,
            "[[session]]\nlabel = \"begin {nth}\"\nreply = \"{letter}\"\ndelay = \"{nth}s\"\n"
        );
    }
    run(&program, &(script + OK))
}

/// How the three branches are bound behind the join: a number for a value, `e` for an error, `.` for null; before it, which one was thrown.
fn outcome(ran: &Ran) -> String {
    let ended = ran.events.iter().find_map(|event| match &event.what {
        What::ParallelEnded { failures, status, .. } => Some((event.at, failures.len(), *status)),
        _ => None,
    });
    let (at, failures, status) = ended.unwrap_or_else(|| panic!("{}", ran.story()));
    let thrown = ran.tasks().iter().find_map(|task| task.strip_prefix("caught failed ").map(str::to_owned));
    assert_eq!(status == Status::Failed, thrown.is_some());
    // Nothing starts in a branch behind the moment at which it was cancelled.
    for event in &ran.events {
        if let What::SessionStarted { task, .. } = &event.what {
            assert!(event.at <= at || task.task.starts_with("caught"), "{}", ran.story());
        }
    }
    let mut out = thrown.map_or(String::new(), |nth| format!("!{nth} "));
    for (nth, name) in ["a", "b", "c"].into_iter().enumerate() {
        let ended = ran.events.iter().find_map(|event| match &event.what {
            What::BranchEnded { name: ended, status, value, .. } if ended == name => {
                Some((*status, value.clone()))
            }
            _ => None,
        });
        let bound = bound_behind(ran, name);
        let (status, value) = ended.unwrap();
        // What was cancelled has no value, and its sessions are not heard of again.
        match status {
            Status::Skipped => assert_eq!(bound, Value::Null),
            Status::Complete => assert_eq!(bound, value),
            _ => {}
        }
        out.push_str(&match bound {
            Value::Null => ".".to_owned(),
            Value::Error(error) => {
                assert_eq!(error.message, format!("failed {}", nth + 1));
                "e".to_owned()
            }
            value => value.to_string(),
        });
    }
    _ = write!(out, " {at}");
    let warned = ran
        .events
        .iter()
        .any(|event| matches!(&event.what, What::Warning { message } if message.contains("branches failed")));
    if warned {
        _ = write!(out, " warns of {failures}");
    }
    out
}

/// The value of a name at the end of a run: the last one it was bound to; `null` if it was not bound.
fn bound_behind(ran: &Ran, name: &str) -> Value {
    let bound = ran.events.iter().rev().find_map(|event| match &event.what {
        What::Bound { binding, value, .. } if binding.name == name && binding.frame == 0 => {
            Some(value.clone())
        }
        _ => None,
    });
    bound.unwrap_or_default()
}

#[test]
fn r054_all_orders_of_three_branches() {
    let columns = [
        ("all fail-fast", ""),
        ("all continue", " (on-fail: \"continue\")"),
        ("all ignore", " (on-fail: \"ignore\")"),
        ("first fail-fast", " (\"first\")"),
        ("first continue", " (\"first\", on-fail: \"continue\")"),
        ("first ignore", " (\"first\", on-fail: \"ignore\")"),
        ("any 1 fail-fast", " (\"any\")"),
        ("any 1 continue", " (\"any\", on-fail: \"continue\")"),
        ("any 1 ignore", " (\"any\", on-fail: \"ignore\")"),
        ("any 2 fail-fast", " (\"any\", count: 2)"),
        ("any 2 continue", " (\"any\", count: 2, on-fail: \"continue\")"),
        ("any 2 ignore", " (\"any\", count: 2, on-fail: \"ignore\")"),
    ];
    let mut table = String::new();
    for (name, options) in columns {
        _ = writeln!(table, "{name}");
        for order in ["SSS", "SSF", "SFS", "SFF", "FSS", "FSF", "FFS", "FFF"] {
            _ = writeln!(table, "  {order} {}", outcome(&three_branches(order, options)));
        }
    }
    expect![[r#"
        all fail-fast
          SSS 123 3000
          SSF !3 12. 3000
          SFS !2 1.. 2000
          SFF !2 1.. 2000
          FSS !1 ... 1000
          FSF !1 ... 1000
          FFS !1 ... 1000
          FFF !1 ... 1000
        all continue
          SSS 123 3000
          SSF 12e 3000 warns of 1
          SFS 1e3 3000 warns of 1
          SFF 1ee 3000 warns of 2
          FSS e23 3000 warns of 1
          FSF e2e 3000 warns of 2
          FFS ee3 3000 warns of 2
          FFF eee 3000 warns of 3
        all ignore
          SSS 123 3000
          SSF 12. 3000
          SFS 1.3 3000
          SFF 1.. 3000
          FSS .23 3000
          FSF .2. 3000
          FFS ..3 3000
          FFF ... 3000
        first fail-fast
          SSS 1.. 1000
          SSF 1.. 1000
          SFS 1.. 1000
          SFF 1.. 1000
          FSS !1 ... 1000
          FSF !1 ... 1000
          FFS !1 ... 1000
          FFF !1 ... 1000
        first continue
          SSS 1.. 1000
          SSF 1.. 1000
          SFS 1.. 1000
          SFF 1.. 1000
          FSS e.. 1000 warns of 1
          FSF e.. 1000 warns of 1
          FFS e.. 1000 warns of 1
          FFF e.. 1000 warns of 1
        first ignore
          SSS 1.. 1000
          SSF 1.. 1000
          SFS 1.. 1000
          SFF 1.. 1000
          FSS ... 1000
          FSF ... 1000
          FFS ... 1000
          FFF ... 1000
        any 1 fail-fast
          SSS 1.. 1000
          SSF 1.. 1000
          SFS 1.. 1000
          SFF 1.. 1000
          FSS !1 ... 1000
          FSF !1 ... 1000
          FFS !1 ... 1000
          FFF !1 ... 1000
        any 1 continue
          SSS 1.. 1000
          SSF 1.. 1000
          SFS 1.. 1000
          SFF 1.. 1000
          FSS e2. 2000 warns of 1
          FSF e2. 2000 warns of 1
          FFS ee3 3000 warns of 2
          FFF eee 3000 warns of 3
        any 1 ignore
          SSS 1.. 1000
          SSF 1.. 1000
          SFS 1.. 1000
          SFF 1.. 1000
          FSS .2. 2000
          FSF .2. 2000
          FFS ..3 3000
          FFF ... 3000
        any 2 fail-fast
          SSS 12. 2000
          SSF 12. 2000
          SFS !2 1.. 2000
          SFF !2 1.. 2000
          FSS !1 ... 1000
          FSF !1 ... 1000
          FFS !1 ... 1000
          FFF !1 ... 1000
        any 2 continue
          SSS 12. 2000
          SSF 12. 2000
          SFS 1e3 3000 warns of 1
          SFF 1ee 3000 warns of 2
          FSS e23 3000 warns of 1
          FSF e2e 3000 warns of 2
          FFS ee3 3000 warns of 2
          FFF eee 3000 warns of 3
        any 2 ignore
          SSS 12. 2000
          SSF 12. 2000
          SFS 1.3 3000
          SFF 1.. 3000
          FSS .23 3000
          FSF .2. 3000
          FFS ..3 3000
          FFF ... 3000
    "#]]
    .assert_eq(&table);
}

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
        r#"
[[session]]
label = "a 0"
reply = "A"
delay = "2s"
[[session]]
label = "b 1"
reply = "B"
delay = "1s"
[[session]]
label = "A"
reply = "AA"
[[session]]
label = "B"
reply = "BB"
"#,
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
            value: [
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
        r#"
[[session]]
label = "first a"
reply = "A"
delay = "1s"
[[session]]
label = "first b"
reply = "B"
delay = "2s"
[[session]]
reply = "ok"
delay = "2s"
"#,
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
        .filter_map(|event| match &event.what {
            What::SessionEnded { .. } => Some((event.at, event.place.to_string())),
            _ => None,
        })
        .collect();
    expect![[r#"
        [
            (
                1000,
                "s0/i0/1",
            ),
            (
                1000,
                "s0/i1/1",
            ),
            (
                2000,
                "s0/i2/1",
            ),
            (
                2000,
                "s0/i3/1",
            ),
            (
                3000,
                "s0/i4/1",
            ),
        ]
    "#]]
    .assert_debug_eq(&ends);
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
        r#"
[[session]]
label = "Slow"
reply = "ok"
delay = "1h"
[[session]]
label = "Never"
reply = "ok"
delay = "1h"
[[session]]
reply = "ok"
delay = "1s"
"#,
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
        r#"
[[session]]
label = "1"
reply = "one"
delay = "3s"
[[session]]
label = "2"
reply = "two"
delay = "1s"
[[session]]
label = "3"
reply = "three"
delay = "2s"
"#,
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
        r#"
[[session]]
label = "1"
reply = "one"
delay = "3s"
[[session]]
label = "2"
reply = "two"
delay = "1s"
[[session]]
label = "3"
reply = "three"
delay = "2s"
"#,
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
