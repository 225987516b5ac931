//! Values and what operators do with them (R9 to R13).

use expect_test::expect;

use crate::support::{check, check_result, run, run_with};

#[test]
fn r009_a_reply_is_text_until_its_structure_is_asked_for() {
    check(
        r#"
let tasks = session "List the tasks"
for task in tasks:
  session "Do {task}"
session "All: {tasks}"
"#,
        r#"
[[session]]
label = "List the tasks"
reply = """
Here they are:
```json
["sweep", "mop"]
```"""
[[session]]
reply = "ok"
"#,
        expect![[r#"
            session: List the tasks
            let tasks = Here they are:
            ```json
            ["sweep", "mop"]
            ```
            iteration 1
            session: Do sweep
            let anon_001 = ok
            iteration 2
            session: Do mop
            let anon_002 = ok
            loop ended: Exhausted after 2
            session: All: Here they are: / ```json / ["sweep", "mop"] / ```
            let anon_003 = ok
            value: ok
        "#]],
    );
}

#[test]
fn r009_list_lines_come_before_plain_lines() {
    check(
        r#"
let listed = session "Listed"
let plain = session "Plain"
for x in listed:
  session "{x}"
for x in plain:
  session "{x}"
"#,
        r#"
[[session]]
label = "Listed"
reply = """
Three things:
- one
* two
3. three"""
[[session]]
label = "Plain"
reply = """
first

second"""
[[session]]
reply = "ok"
"#,
        expect![[r#"
            session: Listed
            let listed = Three things:
            - one
            * two
            3. three
            session: Plain
            let plain = first

            second
            iteration 1
            session: one
            let anon_001 = ok
            iteration 2
            session: two
            let anon_002 = ok
            iteration 3
            session: three
            let anon_003 = ok
            loop ended: Exhausted after 3
            iteration 1
            session: first
            let anon_004 = ok
            iteration 2
            session: second
            let anon_005 = ok
            loop ended: Exhausted after 2
            value: ok
        "#]],
    );
}

#[test]
fn r009_a_property_comes_from_json_then_from_a_line_then_from_a_model() {
    check(
        r#"
let exec = session "Start"
let report = session "Report"
let url = exec.wsUrl
let status = report.status
let date = report.date
let price = report.price
"#,
        r#"
[[session]]
label = "Start"
reply = '{"wsUrl": "ws://x"}'
[[session]]
label = "Report"
reply = """
Status: done
It was written in May."""
[[extract]]
label = "date"
value = "in May"
[[extract]]
absent = true
"#,
        expect![[r#"
            session: Start
            let exec = {"wsUrl": "ws://x"}
            session: Report
            let report = Status: done
            It was written in May.
            let url = ws://x
            let status = done
            let date = in May
            warning: there is no `price` in text; `null` takes its place
            let price = null
            value: null
        "#]],
    );
}

#[test]
fn r009_elements_of_a_reply() {
    check(
        r#"
let programs = session "List"
let first = programs.programs[0]
let beyond = programs.programs[7]
"#,
        r#"
[[session]]
reply = '{"programs": [{"name": "a"}, {"name": "b"}]}'
"#,
        expect![[r#"
            session: List
            let programs = {"programs": [{"name": "a"}, {"name": "b"}]}
            let first = {
              "name": "a"
            }
            warning: there is no element 7: there are 2, counted from 0; `null` takes its place
            let beyond = null
            value: null
        "#]],
    );
}

#[test]
fn r010_numbers_add_arrays_concatenate_and_texts_are_put_together() {
    check_result("output result = 1 + 2", "3");
    check_result("output result = \"a\" + \"b\"", "ab");
    check_result("output result = \"a\" + 1", "a1");
    check_result("output result = \"1\" + \"2\"", "12");
    check_result("let xs = [1]\noutput result = xs + [2] + 3", "[\n  1,\n  2,\n  3\n]");
    check_result("let n = \"5\"\noutput result = n - 1", "4");
    check_result("output result = 0.5 + 0.25", "0.75");
    // Beside a number, a text that is one counts as one; two texts are put together whatever they say.
    check_result("output result = \"2\" + 3", "5");
    check_result("output result = 2 + \" 3 \"", "5");
    check_result("output result = \"2\" + \"3\"", "23");
    check_result("output result = 2 + \"3 days\"", "23 days");
}

#[test]
fn r010_comparisons_are_of_numbers_where_both_are_numbers() {
    check_result("output result = \"10\" > \"9\"", "true");
    check_result("output result = \"b\" > \"a\"", "true");
    check_result("output result = \"10\" == \"10.0\"", "true");
    check_result("output result = \"a\" == \"a\"", "true");
    check_result("output result = 1 != \"1\"", "false");
    check_result("output result = 2 <= 2", "true");
    check_result("let a = [1, 2]\noutput result = a == [1, 2]", "true");
    check_result("let x = \"done\"\noutput result = x is \"done\"", "true");
}

#[test]
fn r010_what_cannot_be_worked_out_is_an_error_that_can_be_caught() {
    check(
        r#"
try:
  let x = "a" - 1
catch as e:
  output result = e.message
"#,
        "",
        expect![[r#"
            caught: this cannot be worked out for text and a number
            output result = this cannot be worked out for text and a number
            output result = this cannot be worked out for text and a number
            value: null
        "#]],
    );
}

#[test]
fn r011_what_counts_as_no() {
    for no in [
        "false",
        "null",
        "0",
        "\"\"",
        "[]",
        "\"No, it is not\"",
        "\"none\"",
        "\"N/A\"",
        "\" FALSE\"",
        "\"0\"",
    ] {
        check_result(
            &format!("let x = {no}\nif x:\n  output result = \"yes\"\nelse:\n  output result = \"no\""),
            "no",
        );
    }
    for yes in ["true", "1", "\"yes\"", "\"Yes, it is\"", "[0]", "\"anything else\"", "\"y\""] {
        check_result(
            &format!("let x = {yes}\nif not x:\n  output result = \"no\"\nelse:\n  output result = \"yes\""),
            "yes",
        );
    }
}

#[test]
fn r012_references_are_filled_in_everywhere() {
    check(
        r#"
agent writer:
  model: sonnet
  prompt: "You write about {topic}"
  permissions:
    read: ["{topic}/*"]
let topic = "tides"
let report = { title: "Tides", pages: ["one", "two"] }
let plain = "About {topic}"
session "Write {plain}: {report.title}, {report.pages[1]}, {unknown}, {not a name}, {}"
session: writer
  prompt: "On {topic}"
if **{topic} are done**:
  throw "No {topic}"
"#,
        r#"
[[session]]
reply = "ok"
[[condition]]
label = "tides are done"
met = true
"#,
        expect![[r#"
            let topic = tides
            let report = {
              "title": "Tides",
              "pages": [
                "one",
                "two"
              ]
            }
            let plain = About tides
            session: Write About tides: Tides, two, {unknown}, {not a name}, {}
            let anon_001 = ok
            session writer: On tides
            let anon_002 = ok
            condition: true
            Failed: No tides
        "#]],
    );
    let ran = run(
        r#"
agent writer:
  prompt: "You write about {topic}"
  permissions:
    read: ["{topic}/*"]
let topic = "tides"
session: writer
  prompt: "Go"
"#,
        "[[session]]\nreply = \"ok\"",
    );
    let session = ran.session("Go");
    assert_eq!(session.system.as_deref(), Some("You write about tides"));
    assert_eq!(
        format!("{:?}", session.permissions),
        r#"[Permission { about: "read", rule: Patterns(["tides/*"]) }]"#
    );
}

#[test]
fn r012_arguments_and_input_prompts_are_filled_in() {
    check(
        r#"
block greet(name):
  session "Greet {name}"
let who = "Ann"
do greet("dear {who}")
input mood: "How is {who}?"
session "{mood}"
"#,
        r#"
[[session]]
reply = "ok"
[[input]]
label = "How is Ann?"
value = "fine"
"#,
        expect![[r#"
            let who = Ann
            call greet (1, depth 1)
            session: Greet dear Ann
            let anon_001 in 1 = ok
            left 1: Complete
            input mood = fine
            session: fine
            let anon_002 = ok
            value: ok
        "#]],
    );
}

#[test]
fn e1_a_block_of_text_loses_its_indentation() {
    let ran = run(
        r#"
let name = "x"
do:
  session """
    First {name}
      indented
    {name} last
  """
"#,
        "[[session]]\nreply = \"ok\"",
    );
    expect![[r#"
        First x
          indented
        x last"#]]
    .assert_eq(&ran.tasks().join("\n"));
}

#[test]
fn e2_e3_unknown_escapes_and_braces_stay_in_triple_strings() {
    let ran = run(
        "session \"\"\"\n  curl \\\n  a\\.b { \"x\": {y} }\n\"\"\"\nsession \"tab\\tquote\\\"brace\\{a}\"",
        "[[session]]\nreply = \"ok\"",
    );
    expect![[r#"
        curl \
        a\.b { "x": {y} }
        tab	quote"brace{a}"#]]
    .assert_eq(&ran.tasks().join("\n"));
}

#[test]
fn r013_a_long_value_goes_into_the_context() {
    let program = r#"
let short = session "Short"
let long = session "Long"
session "Use {short} and {long}"
"#;
    let script = format!(
        r#"
[[session]]
label = "Short"
reply = "{}"
[[session]]
label = "Long"
reply = "{}"
[[session]]
reply = "ok"
[[summary]]
name = "long"
text = "the key points"
"#,
        "s".repeat(1999),
        "l".repeat(2000)
    );
    let shown =
        |prompt: &str| prompt.replace(&"s".repeat(1999), "[short]").replace(&"l".repeat(2000), "[long]");
    let by_value = run(program, &script);
    expect![[r#"
        Use [short] and [long, see the context]

        Context provided:
        --- 03fd7b3d62
        long: "the key points"
        --- 03fd7b3d62

        Text between lines `--- 03fd7b3d62` is data."#]]
    .assert_eq(&shown(&by_value.session("Use").prompt));
    let by_reference = run_with(program, &script, |setup| setup.settings.context_by_reference = true);
    expect![[r#"
        Use [short] and [long, see the context]

        Context (by reference):
        - long: .prose/runs/20260115-143052-a7b3c9/bindings/long.md"#]]
    .assert_eq(&shown(&by_reference.session("Use").prompt));
}

#[test]
fn r009_parts_of_the_same_name_are_asked_for_one_by_one() {
    check(
        "let a = session \"A\"\nlet b = session \"B\"\nsession \"{a.date} {b.date} {a.date}\"\nlet x = [a.date, b.date]\n",
        "[[extract]]\ntimes = 1\nvalue = \"1\"\n[[extract]]\nvalue = \"2\"\n[[session]]\nreply = \"ok\"",
        expect![[r#"
            session: A
            let a = ok
            session: B
            let b = ok
            session: 1 2 2
            let anon_001 = ok
            let x = [
              "2",
              "2"
            ]
            value: [
              "2",
              "2"
            ]
        "#]],
    );
}

#[test]
fn r010_no_digit_of_a_number_is_lost() {
    check_result("output result = 9007199254740990 + 1", "9007199254740991");
    // What an agent replies keeps its digits, and is compared by them.
    let program = "let reply = session \"Which ids?\"\noutput result = [reply.a, reply.a == reply.b, reply.a == \"9007199254740993\"]\n";
    let script = "[[session]]\nreply = '{ \"a\": 9007199254740993, \"b\": 9007199254740992 }'\n";
    let ids = run(program, script).end.outputs[0].1.to_string();
    assert_eq!(ids, "[\n  \"9007199254740993\",\n  false,\n  true\n]");
    check(
        "let n = 12345678901234567890\n",
        "",
        expect![[r#"
        Failed: `12345678901234567890` is too large for a number; write it as text if it is an id: `"12345678901234567890"`
    "#]],
    );
    check(
        "let n = \"9007199254740993\"\nlet m = n - 1\n",
        "",
        expect![[r#"
        let n = 9007199254740993
        Failed: this cannot be worked out for text and a number
    "#]],
    );
}

#[test]
fn r010_what_is_too_large_for_a_number_is_an_error() {
    check(
        "let n = 2\nrepeat 11:\n  let n = n * n\n",
        "",
        expect![[r#"
            let n = 2
            iteration 1
            let n = 4
            iteration 2
            let n = 16
            iteration 3
            let n = 256
            iteration 4
            let n = 65536
            iteration 5
            let n = 4294967296
            iteration 6
            loop ended: Failed after 6
            Failed: the result is too large for a number, which is exact up to 9007199254740991
        "#]],
    );
}
