//! Pipelines (R69 to R71).

use expect_test::expect;

use crate::support::{answers, check, check_result, run};

const OK: &str = "[[session]]\nreply = \"ok\"";

#[test]
fn r069_stages_go_from_left_to_right_and_a_body_gives_its_last_value() {
    check(
        r#"
let r = ["a", "b"]
  | map:
    let first = session "First {item}"
    session "Second {first}"
  | map:
    session "Third {item}"
"#,
        &answers(&[
            ("First a", "a1", ""),
            ("First b", "b1", ""),
            ("Second a1", "a2", ""),
            ("Second b1", "b2", ""),
            ("", "end", ""),
        ]),
        expect![[r#"
            session: First a
            let first = a1
            session: Second a1
            let anon_001 = a2
            session: First b
            let first = b1
            session: Second b1
            let anon_002 = b2
            session: Third a2
            let anon_003 = end
            session: Third b2
            let anon_004 = end
            let r = [
              "end",
              "end"
            ]
            value: [
              "end",
              "end"
            ]
        "#]],
    );
}

#[test]
fn r070_map_is_sequential_and_pmap_concurrent() {
    let script = &answers(&[("a", "A", "2s"), ("b", "B", "1s")]);
    let map = run("output result = [\"a\", \"b\"] | map: session \"{item}\"\n", script);
    let pmap = run("output result = [\"a\", \"b\"] | pmap: session \"{item}\"\n", script);
    assert_eq!(map.end.outputs, pmap.end.outputs);
    expect![[r#"
        0: start a
        2000: Complete
        2000: start b
        3000: Complete
    "#]]
    .assert_eq(&map.times());
    expect![[r#"
        0: start a
        0: start b
        1000: Complete
        2000: Complete
    "#]]
    .assert_eq(&pmap.times());
    expect![[r#"
        [
          "A",
          "B"
        ]"#]]
    .assert_eq(&pmap.end.outputs[0].1.to_string());
}

#[test]
fn r070_the_first_failure_of_pmap_cancels_the_others() {
    let ran = run(
        "let r = [\"a\", \"b\"]\n  | pmap:\n    session \"{item}\"\n    session \"{item} again\"\n",
        "[[session]]\nlabel = \"a\"\nfail = \"no\"\ndelay = \"1s\"\n[[session]]\nreply = \"ok\"\ndelay = \"2s\"",
    );
    expect![[r#"
        0: start a
        0: start b
        1000: Failed
    "#]]
    .assert_eq(&ran.times());
    expect![[r#"
        session: a
        session: b
        failed: no
        Failed: no
    "#]]
    .assert_eq(&ran.story());
}

#[test]
fn r070_filter_keeps_the_items_and_not_the_answers() {
    check(
        "let r = [\"a\", \"b\", \"c\"] | filter: session \"Keep {item}?\"\n",
        r#"
[[session]]
label = "Keep a?"
reply = "Yes."
[[session]]
label = "Keep b?"
reply = "No, it is old."
[[session]]
reply = "I would keep it"
[[condition]]
met = true
"#,
        expect![[r#"
            session: Keep a?
            let anon_001 = Yes.
            session: Keep b?
            let anon_002 = No, it is old.
            session: Keep c?
            let anon_003 = I would keep it
            condition: true
            let r = [
              "a",
              "c"
            ]
            value: [
              "a",
              "c"
            ]
        "#]],
    );
}

#[test]
fn r070_reduce_starts_with_the_first_item() {
    check(
        "let r = [\"a\", \"b\", \"c\"] | reduce(acc, item): session \"{acc} + {item}\"\n",
        "[[session]]\nlabel = \"a + b\"\nreply = \"ab\"\n[[session]]\nlabel = \"ab + c\"\nreply = \"abc\"",
        expect![[r#"
            session: a + b
            let anon_001 = ab
            session: ab + c
            let anon_002 = abc
            let r = abc
            value: abc
        "#]],
    );
    check(
        "let r = [\"a\"] | reduce(acc, item): session \"never\"\n",
        OK,
        expect![[r#"
        let r = a
        value: a
    "#]],
    );
    check(
        "let r = [] | reduce(acc, item): session \"never\"\n",
        OK,
        expect![[r#"
        warning: there is nothing to reduce; the result is null
        let r = null
        value: null
    "#]],
    );
}

#[test]
fn r071_lists_give_arrays_and_reduce_a_single_value() {
    check_result("output result = [] | map: session \"{item}\"\n", "[]");
    check_result("output result = [0, 1] | filter:\n  item == 1\n", "[\n  1\n]");
    check_result(
        "output result = [1, 2] | map: session \"{item}\" | reduce(a, b): session \"{a} {b}\"\n",
        "ok",
    );
}

#[test]
fn r009_a_pipeline_starts_from_the_items_of_a_reply() {
    check(
        "let ideas = session \"Ideas\"\nlet r = ideas | map: session \"Do {item}\"\n",
        "[[session]]\nlabel = \"Ideas\"\nreply = \"- one\\n- two\"\n[[session]]\nreply = \"ok\"",
        expect![[r#"
            session: Ideas
            let ideas = - one
            - two
            session: Do one
            let anon_001 = ok
            session: Do two
            let anon_002 = ok
            let r = [
              "ok",
              "ok"
            ]
            value: [
              "ok",
              "ok"
            ]
        "#]],
    );
}
