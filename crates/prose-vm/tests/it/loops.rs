//! Loops (R59 to R63).

use expect_test::expect;

use crate::support::{check, check_result, run_with};

const OK: &str = "[[session]]\nreply = \"ok\"";

#[test]
fn r059_repeat_counts_from_0() {
    check(
        "repeat 2 as i:\n  session \"S{i}\"\n",
        OK,
        expect![[r#"
        iteration 1
        session: S0
        let anon_001 = ok
        iteration 2
        session: S1
        let anon_002 = ok
        loop ended: Exhausted after 2
        value: ok
    "#]],
    );
}

#[test]
fn r059_for_goes_through_items_with_their_index() {
    check(
        "for x, i in [\"a\", \"b\"]:\n  session \"{i}{x}\"\n",
        OK,
        expect![[r#"
        iteration 1
        session: 0a
        let anon_001 = ok
        iteration 2
        session: 1b
        let anon_002 = ok
        loop ended: Exhausted after 2
        value: ok
    "#]],
    );
}

#[test]
fn r059_an_empty_collection_has_no_iterations() {
    check(
        "for x in []:\n  session \"{x}\"\n",
        OK,
        expect![[r#"
        loop ended: Exhausted after 0
        value: null
    "#]],
    );
    check(
        "let nothing = null\nfor x in nothing:\n  session \"{x}\"\n",
        OK,
        expect![[r#"
        let nothing = null
        loop ended: Exhausted after 0
        value: null
    "#]],
    );
}

#[test]
fn r059_what_is_no_list_is_an_error() {
    check(
        "let n = 3\nfor x in n:\n  session \"{x}\"\n",
        OK,
        expect![[r#"
        let n = 3
        Failed: a loop needs a list to go through, and this is a number: 3
    "#]],
    );
}

#[test]
fn r060_condition_is_checked_before_the_first_body() {
    check(
        "loop until **it is done** (max: 3):\n  session \"Work\"\n",
        "[[condition]]\nmet = true\n[[session]]\nreply = \"ok\"",
        expect![[r#"
            condition: true
            loop ended: Satisfied after 0
            value: null
        "#]],
    );
}

#[test]
fn r060_condition_comes_before_the_limit_and_once_more_behind_the_last_body() {
    check(
        "loop until **it is done** (max: 2) as i:\n  session \"Work {i}\"\n",
        "[[condition]]\ntimes = 2\nmet = false\n[[condition]]\nmet = true\n[[session]]\nreply = \"ok\"",
        expect![[r#"
            condition: false
            iteration 1
            session: Work 0
            let anon_001 = ok
            condition: false
            iteration 2
            session: Work 1
            let anon_002 = ok
            condition: true
            loop ended: Satisfied after 2
            value: ok
        "#]],
    );
}

#[test]
fn r061_while_goes_on_as_long_as_the_condition_is_met() {
    check(
        "loop while **there is work** (max: 5):\n  session \"Work\"\n",
        "[[condition]]\ntimes = 2\nmet = true\n[[condition]]\nmet = false\n[[session]]\nreply = \"ok\"",
        expect![[r#"
            condition: true
            iteration 1
            session: Work
            let anon_001 = ok
            condition: true
            iteration 2
            session: Work
            let anon_002 = ok
            condition: false
            loop ended: Satisfied after 2
            value: ok
        "#]],
    );
}

#[test]
fn r061_a_loop_without_a_condition_runs_until_it_is_left() {
    check(
        "let n = 0\nloop:\n  n = n + 1\n  if n == 3:\n    break\noutput result = n\n",
        OK,
        expect![[r#"
            let n = 0
            iteration 1
            let n = 1
            condition: false
            iteration 2
            let n = 2
            condition: false
            iteration 3
            let n = 3
            condition: true
            loop ended: Left after 3
            output result = 3
            output result = 3
            value: null
        "#]],
    );
}

#[test]
fn r061_a_loop_without_a_limit_of_its_own_has_one_all_the_same() {
    let ran = run_with(
        "let n = 0\ntry:\n  loop:\n    n = n + 1\ncatch as e:\n  session \"{n}: {e.kind}: {e}\"\n",
        OK,
        |setup| setup.settings.max_iterations = 2,
    );
    expect![[r#"
        let n = 0
        iteration 1
        let n = 1
        iteration 2
        let n = 2
        loop ended: Failed after 2
        caught: the loop has no `max` of its own and was repeated 2 times, which is the most that `max-iterations` below `[run]` in prose.toml allows; write `(max: N)` after the condition, or raise the setting
        session: 2: iteration-limit-exceeded: the loop has no `max` of its own and was repeated 2 times, which is the most that `max-iterations` below `[run]` in prose.toml allows; write `(max: N)` after the condition, or raise the setting
        let anon_001 = ok
        value: ok
    "#]].assert_eq(&ran.story());
}

#[test]
fn r061_a_written_limit_may_be_higher_than_that() {
    check_result("let n = 0\nloop (max: 1500):\n  n = n + 1\noutput result = n", "1500");
}

#[test]
fn r062_the_limit_is_no_error() {
    check(
        "loop until **never** (max: 2):\n  session \"Work\"\nsession \"Behind\"\n",
        "[[condition]]\nmet = false\n[[session]]\nreply = \"ok\"",
        expect![[r#"
            condition: false
            iteration 1
            session: Work
            let anon_001 = ok
            condition: false
            iteration 2
            session: Work
            let anon_002 = ok
            condition: false
            loop ended: Max after 2
            session: Behind
            let anon_003 = ok
            value: ok
        "#]],
    );
}

#[test]
fn r063_break_and_continue_belong_to_the_innermost_loop() {
    check(
        r#"
for x in ["a", "b"]:
  for y in [1, 2, 3]:
    if y == 2:
      continue
    session "{x}{y}"
    if x == "a":
      break
"#,
        OK,
        expect![[r#"
            iteration 1
            iteration 1
            condition: false
            session: a1
            let anon_001 = ok
            condition: true
            loop ended: Left after 1
            iteration 2
            iteration 1
            condition: false
            session: b1
            let anon_002 = ok
            condition: false
            iteration 2
            condition: true
            iteration 3
            condition: false
            session: b3
            let anon_003 = ok
            condition: false
            loop ended: Exhausted after 3
            loop ended: Exhausted after 2
            value: null
        "#]],
    );
}

#[test]
fn r063_loops_are_left_through_try_and_choice() {
    check(
        r#"
repeat 3 as i:
  try:
    if i == 1:
      break
    session "S{i}"
  finally:
    session "F{i}"
"#,
        OK,
        expect![[r#"
            iteration 1
            condition: false
            session: S0
            let anon_001 = ok
            finally
            session: F0
            let anon_002 = ok
            iteration 2
            condition: true
            finally
            session: F1
            let anon_003 = ok
            loop ended: Left after 2
            value: ok
        "#]],
    );
}

#[test]
fn d3_a_verdict_that_sees_no_progress_ends_a_loop_but_not_before_its_first_body() {
    check(
        "loop until **it is perfect** (max: 9):\n  session \"Work\"\n",
        "[[condition]]\nmet = false\nno-progress = true\n[[session]]\nreply = \"ok\"",
        expect![[r#"
            condition: false
            iteration 1
            session: Work
            let anon_001 = ok
            condition: false
            loop ended: NoProgress after 1
            value: ok
        "#]],
    );
}

#[test]
fn d4_loops_with_conditions_that_need_no_model() {
    check_result("let n = 0\nloop until n >= 3:\n  n = n + 1\noutput result = n", "3");
    check_result("let n = 0\nloop while n < 4:\n  n = n + 1\noutput result = n", "4");
}

#[test]
fn d6_counts_may_be_texts_and_have_to_be_whole_numbers() {
    check_result("let k = \"2\"\nlet n = 0\nrepeat k:\n  n = n + 1\noutput result = n", "2");
    for count in ["0", "\"many\"", "1.5", "null"] {
        let ran = crate::support::run(&format!("let k = {count}\nrepeat k:\n  session \"S\"\n"), OK);
        assert!(ran.sessions().is_empty() && ran.end.error.is_some(), "{}", ran.story());
    }
    check(
        "let k = 0\nloop (max: k):\n  session \"S\"\n",
        OK,
        expect![[r#"
        let k = 0
        Failed: `max` needs a whole number from 1 on, and this is `0`
    "#]],
    );
}

#[test]
fn f10_the_value_of_a_loop_is_that_of_its_last_body() {
    check_result("let x = repeat 2 as i:\n  session \"S\"\noutput result = x", "ok");
}
