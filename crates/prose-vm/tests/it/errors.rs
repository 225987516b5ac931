//! Errors, `try` and retries (R72 to R79).

use expect_test::expect;
use prose_vm::event::EventKind;

use crate::support::{check, check_result, run, run_with};

const OK: &str = "[[session]]\nreply = \"ok\"";
const FAILS: &str = "[[session]]\nlabel = \"Fail\"\nfail = \"it broke\"\n[[session]]\nreply = \"ok\"";

#[test]
fn r072_what_can_be_caught() {
    for (failing, kind) in [
        ("session \"Fail\"", "session"),
        ("session \"Slow\"\n    timeout: 1s", "timeout"),
        ("session \"Nothing\"", "session"),
        ("throw \"t\"", "thrown"),
        ("let x = missing", "unknown-name"),
        ("let x = [1] - 1", "type"),
        ("do forever()", "recursion-limit-exceeded"),
        ("assert false", "assertion"),
        ("c = 2", "constant"),
        ("input topic", "missing-input"),
        ("let r = nowhere()", "unknown-name"),
    ] {
        let ran = run(
            &format!(
                "const c = 1\nblock forever():\n  do forever()\ntry:\n  {failing}\ncatch as e:\n  output result = e.kind\n"
            ),
            "[[session]]\nlabel = \"Fail\"\nfail = \"no\"\n[[session]]\nlabel = \"Slow\"\nreply = \"x\"\ndelay = \"9s\"\n[[session]]\nreply = \" \"",
        );
        assert_eq!(ran.end.outputs[0].1.to_string(), kind, "{failing}");
    }
}

#[test]
fn r073_try_goes_on_with_finally_and_a_failure_with_catch_before_it() {
    check(
        "try:\n  session \"A\"\ncatch:\n  session \"never\"\nfinally:\n  session \"F\"\n",
        OK,
        expect![[r#"
        session: A
        let anon_001 = ok
        finally
        session: F
        let anon_002 = ok
        value: ok
    "#]],
    );
    check(
        "try:\n  session \"Fail\"\n  session \"never\"\ncatch:\n  session \"C\"\nfinally:\n  session \"F\"\n",
        FAILS,
        expect![[r#"
        session: Fail
        failed: it broke
        caught: it broke
        session: C
        let anon_002 = ok
        finally
        session: F
        let anon_003 = ok
        value: ok
    "#]],
    );
}

#[test]
fn r073_without_catch_the_error_goes_on_behind_finally() {
    check(
        "try:\n  try:\n    session \"Fail\"\n  finally:\n    session \"F\"\ncatch as e:\n  session \"{e}\"\n",
        FAILS,
        expect![[r#"
            session: Fail
            failed: it broke
            finally
            session: F
            let anon_002 = ok
            caught: it broke
            session: it broke
            let anon_003 = ok
            value: ok
        "#]],
    );
}

#[test]
fn r073_finally_runs_on_return_too() {
    check(
        r#"
block f():
  for x in [1, 2]:
    try:
      return "value {x}"
    finally:
      session "F"
  session "never"
let r = do f()
"#,
        OK,
        expect![[r#"
            call f (1, depth 1)
            iteration 1
            finally
            session: F
            let anon_001 in 1 = ok
            loop ended: Left after 1
            left 1: Complete
            let r = value 1
            value: value 1
        "#]],
    );
}

#[test]
fn r073_what_leads_out_of_finally_takes_its_place() {
    check(
        "block f():\n  try:\n    return 1\n  finally:\n    throw \"from finally\"\nlet r = do f()\n",
        OK,
        expect![[r#"
        call f (1, depth 1)
        finally
        left 1: Failed
        Failed: from finally
    "#]],
    );
}

#[test]
fn r074_the_error_has_a_message_and_more_and_is_gone_behind_the_catch() {
    check(
        r#"
let err = "outer"
try:
  session "Fail"
    retry: 1
catch as err:
  session "{err} / {err.message} / {err.statement} / {err.line} / {err.attempts}"
session "{err}"
"#,
        FAILS,
        expect![[r#"
            let err = outer
            session: Fail
            failed: it broke
            retry 1 after 0 ms
            session: Fail
            failed: it broke
            caught: it broke
            session: it broke / it broke / session "Fail" / 3 / 2
            let anon_002 = ok
            session: outer
            let anon_003 = ok
            value: ok
        "#]],
    );
}

#[test]
fn r075_throw_in_a_catch_raises_the_same_error_again() {
    check(
        r#"
try:
  try:
    session "Fail"
  catch:
    session "Inner"
    throw
catch as e:
  session "Outer {e} at line {e.line}"
"#,
        FAILS,
        expect![[r#"
            session: Fail
            failed: it broke
            caught: it broke
            session: Inner
            let anon_002 = ok
            caught: it broke
            session: Outer it broke at line 3
            let anon_003 = ok
            value: ok
        "#]],
    );
}

#[test]
fn r075_a_new_error_takes_the_place_of_the_old_one() {
    check(
        "try:\n  try:\n    session \"Fail\"\n  catch as e:\n    throw \"because {e}\"\ncatch as e:\n  session \"{e}\"\n",
        FAILS,
        expect![[r#"
            session: Fail
            failed: it broke
            caught: it broke
            caught: because it broke
            session: because it broke
            let anon_002 = ok
            value: ok
        "#]],
    );
}

#[test]
fn r075_a_caught_error_goes_no_further() {
    check(
        "try:\n  try:\n    session \"Fail\"\n  catch:\n    session \"C\"\ncatch:\n  session \"never\"\n",
        FAILS,
        expect![[r#"
        session: Fail
        failed: it broke
        caught: it broke
        session: C
        let anon_002 = ok
        value: ok
    "#]],
    );
}

#[test]
fn r076_what_nothing_catches_ends_the_run_and_keeps_its_outputs() {
    check(
        "output a = session \"A\"\nsession \"Fail\"\noutput b = 1\n",
        FAILS,
        expect![[r#"
        session: A
        output a = ok
        output a = ok
        session: Fail
        failed: it broke
        Failed: it broke
    "#]],
    );
    let ran = run("output a = session \"A\"\nsession \"Fail\"\noutput b = 1\n", FAILS);
    assert_eq!(ran.end.outputs.len(), 1);
}

#[test]
fn r077_retry_is_how_often_it_is_tried_again() {
    let ran = run(
        "session \"Fail\"\n  retry: 3\n",
        "[[session]]\ntimes = 3\nfail = \"no\"\n[[session]]\nreply = \"ok\"",
    );
    expect![[r#"
        0: start Fail
        0: Failed
        0: retry 1/3 in 0 ms
        0: start Fail
        0: Failed
        0: retry 2/3 in 0 ms
        0: start Fail
        0: Failed
        0: retry 3/3 in 0 ms
        0: start Fail
        0: Complete
    "#]]
    .assert_eq(&ran.times());
}

#[test]
fn r077_a_catch_sees_one_error_behind_the_last_try() {
    check(
        "try:\n  session \"Fail\"\n    retry: 2\ncatch as e:\n  session \"{e.attempts} tries\"\n",
        FAILS,
        expect![[r#"
        session: Fail
        failed: it broke
        retry 1 after 0 ms
        session: Fail
        failed: it broke
        retry 2 after 0 ms
        session: Fail
        failed: it broke
        caught: it broke
        session: 3 tries
        let anon_002 = ok
        value: ok
    "#]],
    );
}

#[test]
fn r078_backoff() {
    for (backoff, expected) in [
        (
            "none",
            expect![[r#"
                0: start Fail
                0: Failed
                0: retry 1/4 in 0 ms
                0: start Fail
                0: Failed
                0: retry 2/4 in 0 ms
                0: start Fail
                0: Failed
                0: retry 3/4 in 0 ms
                0: start Fail
                0: Failed
                0: retry 4/4 in 0 ms
                0: start Fail
                0: Failed
            "#]],
        ),
        (
            "linear",
            expect![[r#"
                0: start Fail
                0: Failed
                0: retry 1/4 in 1000 ms
                1000: start Fail
                1000: Failed
                1000: retry 2/4 in 1000 ms
                2000: start Fail
                2000: Failed
                2000: retry 3/4 in 1000 ms
                3000: start Fail
                3000: Failed
                3000: retry 4/4 in 1000 ms
                4000: start Fail
                4000: Failed
            "#]],
        ),
        (
            "\"exponential\"",
            expect![[r#"
                0: start Fail
                0: Failed
                0: retry 1/4 in 1000 ms
                1000: start Fail
                1000: Failed
                1000: retry 2/4 in 2000 ms
                3000: start Fail
                3000: Failed
                3000: retry 3/4 in 4000 ms
                7000: start Fail
                7000: Failed
                7000: retry 4/4 in 8000 ms
                15000: start Fail
                15000: Failed
            "#]],
        ),
    ] {
        let ran = run(&format!("session \"Fail\"\n  retry: 4\n  backoff: {backoff}\n"), FAILS);
        expected.assert_eq(&ran.times());
    }
}

#[test]
fn r078_the_longest_pause_is_a_setting() {
    let ran = run_with("session \"Fail\"\n  retry: 9\n  backoff: exponential\n", FAILS, |_| {});
    let last = ran.times().lines().rfind(|line| line.contains("retry")).map(str::to_owned);
    assert_eq!(last.as_deref(), Some("183000: retry 9/9 in 60000 ms"));
    let ran = run_with("session \"Fail\"\n  retry: 3\n  backoff: exponential\n", FAILS, |setup| {
        setup.settings.backoff_ms = 10;
        setup.settings.backoff_cap_ms = 15;
    });
    expect![[r#"
        0: start Fail
        0: Failed
        0: retry 1/3 in 10 ms
        10: start Fail
        10: Failed
        10: retry 2/3 in 15 ms
        25: start Fail
        25: Failed
        25: retry 3/3 in 15 ms
        40: start Fail
        40: Failed
    "#]]
    .assert_eq(&ran.times());
}

#[test]
fn r079_retries_are_told_with_their_number_and_the_error() {
    check(
        "session \"Fail\"\n  retry: 1\n  backoff: linear\n",
        FAILS,
        expect![[r#"
        session: Fail
        failed: it broke
        retry 1 after 1000 ms
        session: Fail
        failed: it broke
        Failed: it broke
    "#]],
    );
    let ran = run("session \"Fail\"\n  retry: 2\n", FAILS);
    let told: Vec<_> = ran
        .events
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::Retrying { attempt, retries, error, .. } => {
                Some(format!("Retry {attempt} of {retries}, error: \"{}\"", error.message))
            }
            _ => None,
        })
        .collect();
    assert_eq!(told, ["Retry 1 of 2, error: \"it broke\"", "Retry 2 of 2, error: \"it broke\""]);
}

#[test]
fn d19_throw_without_a_message_needs_a_caught_error() {
    check(
        "throw\n",
        OK,
        expect![[r#"
        Failed: `throw` without a message raises a caught error again, and there is none here; give it a message
    "#]],
    );
    check(
        "block f():\n  throw\ntry:\n  throw \"a\"\ncatch:\n  do f()\n",
        OK,
        expect![[r#"
        caught: a
        call f (1, depth 1)
        left 1: Failed
        Failed: `throw` without a message raises a caught error again, and there is none here; give it a message
    "#]],
    );
}

#[test]
fn d20_outputs_from_before_a_throw_are_given() {
    let ran = run("output status = \"cancelled\"\nthrow \"halting\"\n", OK);
    expect![[r#"
        output status = cancelled
        output status = cancelled
        Failed: halting
    "#]]
    .assert_eq(&ran.story());
    assert_eq!(ran.end.outputs.len(), 1);
}

#[test]
fn d22_assert_throws_its_text() {
    check(
        "let n = 1\nassert n == 1\nassert n > 1: \"n is {n}\"\n",
        OK,
        expect![[r#"
        let n = 1
        Failed: n is 1
    "#]],
    );
    check_result("try:\n  assert **it holds** == 3\ncatch:\n  output result = \"caught\"\n", "caught");
}
