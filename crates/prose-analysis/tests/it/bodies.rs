//! Names that are bound only in a body, and used outside of it (decision 3).

use crate::support::{check, related};
use expect_test::expect;
use prose_syntax::Code;

#[test]
fn variables_of_blocks() {
    check(
        r#"
        block gather:
          let notes = session "Gather"
          session "Check {notes}"
        do gather
        session "Sum up"
          context: notes
        #          ^^^^^ warning[W107] `notes` is bound only inside block `gather`; return it with `output`
        "#,
    );
}

#[test]
fn variables_of_loops_handlers_and_pipelines() {
    check(
        r#"
        for place, number in ["attic", "cellar"]:
          session "Search {place}, {number}"
        session "Tidy {place}"
        #              ^^^^^ warning[W107] `place` is a loop variable and visible only in its body; keep its value there with `let`
          context: number
        #          ^^^^^^ warning[W107] `number` is a index and visible only in its body; keep its value there with `let`
        try:
          session "Deploy"
        catch as problem:
          session "Explain {problem}"
        session "Tell of {problem} and of {problem}"
        #                 ^^^^^^^ warning[W107] `problem` is a error variable and visible only in its body; keep its value there with `let`
        output ideas = ["one", "two"] | map:
          session "Improve {item}"
        output last = item
        #             ^^^^ warning[W107] `item` is a pipeline variable and visible only in its body; keep its value there with `let`
        "#,
    );
}

/// An agent's texts are filled in where its session starts (A11), and long texts may hold braces of their own.
#[test]
fn texts_that_are_filled_in_elsewhere() {
    check(
        r#"
        agent searcher:
          prompt: "Search {place}"
        for place in ["attic", "cellar"]:
          session: searcher
        session """
          Fill in {place}.
        """
        "#,
    );
}

#[test]
fn the_body_is_shown() {
    const PROGRAM: &str = r#"
for place in ["attic", "cellar"]:
  session "Search {place}"
session "Tidy {place}"
"#;
    expect![[r#"
        /main.prose:1 `place`: `place` is bound here
    "#]]
    .assert_eq(&related(PROGRAM, Code::W107));
}
