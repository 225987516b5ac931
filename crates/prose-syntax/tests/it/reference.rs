//! The rules of the language reference that the parser checks, each with a program that breaks it and one that does not.

use std::fmt::Write;

use expect_test::{Expect, expect};
use prose_syntax::{Parse, TextSize, parse};

/// Checks what is reported about `wrong`, and that nothing is reported about `right`.
#[track_caller]
fn check(wrong: &str, expect: Expect, right: &str) {
    expect.assert_eq(&found(wrong, &parse(wrong)));
    assert_eq!(found(right, &parse(right)), "", "in\n{right}");
}

/// The code of each diagnostic, its line, its column and the text that it marks.
fn found(text: &str, parsed: &Parse) -> String {
    let mut shown = String::new();
    for diagnostic in parsed.diagnostics() {
        let before = &text[..usize::from(diagnostic.range.start())];
        let line = before.matches('\n').count() + 1;
        let column = before.len() - before.rfind('\n').map_or(0, |newline| newline + 1) + 1;
        let marked = &text[diagnostic.range];
        let message = &diagnostic.message;
        writeln!(
            shown,
            "{line}:{column} {}[{}] {marked:?}: {message}",
            diagnostic.severity(),
            diagnostic.code
        )
        .expect("writing to a string succeeds");
    }
    assert!(parsed.diagnostics().iter().all(|found| found.range.end() <= TextSize::of(text)));
    shown
}

#[test]
fn an_unterminated_string() {
    check(
        r#"session "Say hello
session "x"
"#,
        expect![[r#"
            1:9 error[E001] "\"Say hello": unterminated string; expected a closing `"`
        "#]],
        r#"session "Say hello"
session "x"
"#,
    );
}

#[test]
fn an_unterminated_triple_quoted_string() {
    check(
        r#"agent a:
  prompt: """
    Write.
  model: opus
"#,
        expect![[r#"
            2:11 error[E001] "\"\"\"": unterminated triple-quoted string; expected a closing `"""`
        "#]],
        r#"agent a:
  prompt: """
    Write.
  """
  model: opus
"#,
    );
}

#[test]
fn an_unknown_escape() {
    check(
        r#"session "a \q b"
"#,
        expect![[r#"
            1:12 error[E002] "\\q": unknown escape `\q`; write a backslash as `\\`
        "#]],
        r#"session "a \\ \" \n \t \{ \} b"
"#,
    );
}

#[test]
fn a_session_without_text_and_agent() {
    check(
        r#"session
session:
let a = session
"#,
        expect![[r#"
            1:1 error[E003] "session": `session` takes a text or an agent: `session "what to do"` or `session: agent`
            2:1 error[E003] "session": `session` takes a text or an agent: `session "what to do"` or `session: agent`
            3:9 error[E003] "session": `session` takes a text or an agent: `session "what to do"` or `session: agent`
        "#]],
        r#"session "x"
session: a
let b = session "y"
"#,
    );
}

#[test]
fn an_input_without_a_name() {
    check(
        r#"input: "What about?"
input
"#,
        expect![[r#"
            1:1 error[E020] "input": `input` needs a name: `input topic: "what it is for"`
            2:1 error[E020] "input": `input` needs a name: `input topic: "what it is for"`
        "#]],
        r#"input topic: "What about?"
"#,
    );
}

#[test]
fn an_output_without_a_name() {
    check(
        r#"output = session "x"
"#,
        expect![[r#"
            1:1 error[E023] "output": `output` needs a name before `=`: `output report = …`
        "#]],
        r#"output report = session "x"
"#,
    );
}

#[test]
fn an_agent_without_a_name() {
    check(
        r#"agent:
  model: opus
"#,
        expect![[r#"
            1:6 error[E005] ":": expected an agent name
        "#]],
        r#"agent a:
  model: opus
"#,
    );
}

#[test]
fn a_block_without_a_name() {
    check(
        r#"block:
  session "x"
block (topic):
  session "x"
"#,
        expect![[r#"
            1:6 error[E005] ":": expected a block name
            3:7 error[E005] "(": expected a block name
        "#]],
        r#"block a:
  session "x"
block b(topic):
  session "x"
"#,
    );
}

#[test]
fn an_unknown_pipeline_operator() {
    check(
        r#"xs | each:
  session "x"
xs | fold(a, b): session "x"
xs |
"#,
        expect![[r#"
            1:6 error[E116] "each": expected `map:`, `filter:`, `pmap:` or `reduce(total, item):` after `|`
            3:6 error[E116] "fold": expected `map:`, `filter:`, `pmap:` or `reduce(total, item):` after `|`
            4:5 error[E116] "": expected `map:`, `filter:`, `pmap:` or `reduce(total, item):` after `|`
        "#]],
        r#"xs | map:
  session "x"
xs | filter: session "x"
xs | pmap: session "x"
"#,
    );
}

#[test]
fn a_reduce_without_its_two_names() {
    check(
        r#"xs | reduce: session "x"
xs | reduce(a): session "x"
xs | reduce(): session "x"
"#,
        expect![[r#"
            1:12 error[E116] ":": `reduce` takes two names: `reduce(total, item):`
            2:14 error[E116] ")": `reduce` takes two names: `reduce(total, item):`
            3:13 error[E116] ")": expected a parameter name in `reduce(total, item)`
        "#]],
        r#"xs | reduce(a, b): session "x"
"#,
    );
}

#[test]
fn a_try_without_a_handler() {
    check(
        r#"try:
  session "x"
session "y"
repeat 2:
  try:
    session "z"
"#,
        expect![[r#"
            1:1 error[E105] "try": `try` needs a `catch:` or a `finally:`
            5:3 error[E105] "try": `try` needs a `catch:` or a `finally:`
        "#]],
        r#"try:
  session "x"
catch:
  session "y"
try:
  session "x"
finally:
  session "y"
"#,
    );
}

#[test]
fn a_count_of_repeat_that_is_not_positive_or_not_whole() {
    check(
        r#"repeat 0:
  session "x"
repeat -2:
  session "x"
repeat 2.5:
  session "x"
"#,
        expect![[r#"
            1:8 error[E112] "0": the count of `repeat` must be at least 1
            3:8 error[E112] "-2": the count of `repeat` must be at least 1
            5:8 error[E112] "2.5": the count of `repeat` must be a whole number
        "#]],
        r#"repeat 1:
  session "x"
repeat n:
  session "x"
"#,
    );
}

#[test]
fn a_max_that_is_not_positive_or_not_whole() {
    check(
        r#"loop until **a** (max: 0):
  session "x"
loop while **a** (max: -1):
  session "x"
loop (max: 1.5):
  session "x"
"#,
        expect![[r#"
            1:24 error[E112] "0": `max` must be at least 1
            3:24 error[E112] "-1": `max` must be at least 1
            5:12 error[E112] "1.5": `max` must be a whole number
        "#]],
        r#"loop until **a** (max: 3):
  session "x"
"#,
    );
}

#[test]
fn a_retry_that_is_not_positive_or_not_whole() {
    check(
        r#"session "x"
  retry: 0
session "x"
  retry: -1
session "x"
  retry: 1.5
"#,
        expect![[r#"
            2:10 error[E112] "0": `retry` must be at least 1
            4:10 error[E112] "-1": `retry` must be at least 1
            6:10 error[E112] "1.5": `retry` must be a whole number
        "#]],
        r#"session "x"
  retry: 3
"#,
    );
}

#[test]
fn a_count_of_branches_below_one() {
    check(
        r#"parallel ("any", count: 0):
  session "x"
parallel ("any", count: -1):
  session "x"
parallel ("any", count: 1.5):
  session "x"
"#,
        expect![[r#"
            1:25 error[E112] "0": `count` must be at least 1
            3:25 error[E112] "-1": `count` must be at least 1
            5:25 error[E112] "1.5": `count` must be a whole number
        "#]],
        r#"parallel ("any", count: 1):
  session "x"
"#,
    );
}

#[test]
fn a_max_depth_that_is_not_positive_or_not_whole() {
    check(
        r#"block a(x) (max_depth: 0):
  session "x"
"#,
        expect![[r#"
            1:24 error[E112] "0": `max_depth` must be at least 1
        "#]],
        r#"block a(x) (max_depth: 5):
  session "x"
"#,
    );
}

#[test]
fn an_elif_or_else_without_an_if() {
    check(
        r#"elif **a**:
  session "x"
session "y"
else:
  session "x"
repeat 2:
  session "x"
else:
  session "x"
"#,
        expect![[r#"
            1:1 error[E104] "elif": `elif` has no matching `if` above it at this indentation
            4:1 error[E104] "else": `else` has no matching `if` above it at this indentation
            8:1 error[E104] "else": `else` has no matching `if` above it at this indentation
        "#]],
        r#"if **b**:
  session "x"
elif **a**:
  session "x"
else:
  session "x"
"#,
    );
}

#[test]
fn a_second_else() {
    check(
        r#"if **a**:
  session "x"
else:
  session "y"
else:
  session "z"
"#,
        expect![[r#"
            5:1 error[E104] "else": this `if` already has an `else`
        "#]],
        r#"if **a**:
  session "x"
else:
  session "y"
"#,
    );
}

#[test]
fn an_elif_after_the_else() {
    check(
        r#"if **a**:
  session "x"
else:
  session "y"
elif **b**:
  session "z"
"#,
        expect![[r#"
            5:1 error[E104] "elif": `elif` must come before `else`
        "#]],
        r#"if **a**:
  session "x"
elif **b**:
  session "z"
else:
  session "y"
"#,
    );
}

#[test]
fn a_catch_or_finally_without_a_try() {
    check(
        r#"catch:
  session "x"
session "y"
finally:
  session "x"
"#,
        expect![[r#"
            1:1 error[E104] "catch": `catch` has no matching `try` above it at this indentation
            4:1 error[E104] "finally": `finally` has no matching `try` above it at this indentation
        "#]],
        r#"try:
  session "y"
catch:
  session "x"
finally:
  session "x"
"#,
    );
}

#[test]
fn an_option_outside_of_a_choice() {
    check(
        r#"option "a":
  session "x"
"#,
        expect![[r#"
            1:1 error[E104] "option": `option` outside of a `choice`
        "#]],
        r#"choice **which**:
  option "a":
    session "x"
"#,
    );
}

#[test]
fn empty_bodies() {
    check(
        r#"if **a**:
elif **b**:
else:

choice **which**:
  option "a":
  option "b":
    session "x"
repeat 2:

for x in xs:

loop:

parallel:
block b:
agent c:
"#,
        expect![[r#"
            1:1 warning[W101] "if": `if` has an empty body
            2:1 warning[W101] "elif": `elif` has an empty body
            3:1 warning[W101] "else": `else` has an empty body
            6:3 warning[W101] "option": `option` has an empty body
            9:1 warning[W101] "repeat": `repeat` has an empty body
            11:1 warning[W101] "for": `for` has an empty body
            13:1 warning[W101] "loop": `loop` has an empty body
            15:1 warning[W101] "parallel": `parallel` has an empty body
            16:1 warning[W101] "block": `block` has an empty body
            17:1 warning[W101] "agent": `agent` has no properties
        "#]],
        r#"if **a**:
  session "x"
elif **b**:
  session "x"
else:
  session "x"
choice **which**:
  option "a":
    session "x"
"#,
    );
}

#[test]
fn a_missing_condition() {
    check(
        r#"if:
  session "x"
loop until:
  session "x"
choice:
  option "a":
    session "x"
"#,
        expect![[r#"
            1:3 error[E005] ":": expected a condition, such as `**the tests pass**`
            3:11 error[E005] ":": expected a condition, such as `**the tests pass**`
            5:7 error[E005] ":": expected a condition, such as `**the tests pass**`
        "#]],
        r#"if **a**:
  session "x"
"#,
    );
}

#[test]
fn a_missing_collection() {
    check(
        r#"for x in:
  session "x"
parallel for x in:
  session "x"
"#,
        expect![[r#"
            1:9 error[E005] ":": expected a collection after `in`
            3:18 error[E005] ":": expected a collection after `in`
        "#]],
        r#"for x in xs:
  session "x"
parallel for x in xs:
  session "x"
"#,
    );
}

#[test]
fn a_tab() {
    check(
        r#"repeat 2:
	session "x"
"#,
        expect![[r#"
            2:1 error[E103] "\t": unexpected tab in the indentation; use spaces
        "#]],
        r#"repeat 2:
  session "x"
"#,
    );
}

#[test]
fn an_import_path_without_quotes() {
    check(
        r#"use a/b
use
"#,
        expect![[r#"
            1:5 error[E106] "a/b": the path of a program must be in quotes
            2:4 error[E106] "": expected the path of a program: `use "handle/slug"`
        "#]],
        r#"use "a/b"
use "a/b" as c
"#,
    );
}

#[test]
fn a_loop_variable_that_is_missing() {
    check(
        r#"for in xs:
  session "x"
repeat 2 as:
  session "x"
loop as:
  session "x"
"#,
        expect![[r#"
            1:5 error[E005] "in": expected a name for the loop variable: `for item in items:`
            3:12 error[E005] ":": expected a name after `as`
            5:8 error[E005] ":": expected a name after `as`
        "#]],
        r#"for x, i in xs:
  session "x"
repeat 2 as i:
  session "x"
loop as i:
  session "x"
"#,
    );
}

#[test]
fn an_arrow_that_leads_nowhere() {
    check(
        r#"session "a" ->
session "b" -> "c"
"#,
        expect![[r#"
            1:15 error[E005] "": expected `session` or `resume` after `->`, as in `session "a" -> session "b"`
            2:16 error[E005] "\"c\"": expected `session` or `resume` after `->`, as in `session "a" -> session "b"`
        "#]],
        r#"session "a" -> session "b"
"#,
    );
}
