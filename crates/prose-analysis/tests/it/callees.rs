//! What is called: only programs are, and not the values that parentheses stand behind.

use crate::support::{check, fixes};
use expect_test::expect;
use prose_syntax::Code;

#[test]
fn a_for_takes_no_options() {
    check(
        r#"
        for y in [1, 2] (max: 1):
        #               ^^^^^^^^ error[E004] `for` takes no options; for a bound use `loop until **…** (max: 3):`
          session "Look at {y}"
        parallel for x in [1, 2, 3] (on-fail: "continue"):
        #                           ^^^^^^^^^^^^^^^^^^^^^ error[E004] `parallel for` takes no options; handle a failing item with `try:` in its body
          session "Look at {x}"
        let items = [1, 2]
        for y in items (max: 1):
        #              ^^^^^^^^ error[E004] `for` takes no options; for a bound use `loop until **…** (max: 3):`
          session "Look at {y}"
        let found = { items: [1, 2] }
        for y in found.items (max: 1):
        #                    ^^^^^^^^ error[E004] `for` takes no options; for a bound use `loop until **…** (max: 3):`
          session "Look at {y}"
        for y in ([1, 2]) (max: 1):
        #        ^^^^^^^^^^^^^^^^^ error[E004] `for` takes no options; for a bound use `loop until **…** (max: 3):`
          session "Look at {y}"
        "#,
    );
}

#[test]
fn a_program_has_no_parts_to_call() {
    check(
        r#"
        //- /main.prose
        use "./research.prose" as http
        let a = http.get("tides")
        #       ^^^^^^^^ error[E025] program `http` has no functions; call it and read its result: `http(…).name`
        session "Look at {a}"
        let b = http(topic: "tides").findings
        session "Look at {b}"
        //- /research.prose
        input topic: "What to research"
        output findings = session "Research {topic}"
        "#,
    );
}

#[test]
fn a_for_goes_through_the_result_of_a_program() {
    check(
        r#"
        //- /main.prose
        use "./research.prose"
        for finding in research (topic: "tides"):
          session "Look at {finding}"
        for finding in research(topic: "tides") (max: 3):
        #                                       ^^^^^^^^ error[E004] `for` takes no options; for a bound use `loop until **…** (max: 3):`
          session "Look at {finding}"
        //- /research.prose
        input topic: "What to research"
        output findings = session "Research {topic}"
        "#,
    );
}

#[test]
fn options_of_a_for_can_be_removed() {
    let program = r#"
        parallel for x in [1, 2] (on-fail: "continue", max: 3):
          session "Look at {x}"
        "#;
    expect![[r#"
        Remove the parentheses (guess)
        | parallel for x in [1, 2]:
    "#]]
    .assert_eq(&fixes(program, Code::E004));
}

#[test]
fn values_are_not_called() {
    check(
        r#"
        let g = [1, 2](3)
        #       ^^^^^^ error[E004] this is not an imported program and cannot be called
        let h = g[0](3)
        #       ^^^^ error[E004] this is not an imported program and cannot be called
        let i = (g)(3)
        #        ^ error[E004] this is not an imported program and cannot be called
        output [g, h, i, {a: 1}(b: 2)]
        #                ^^^^^^ error[E004] this is not an imported program and cannot be called
        "#,
    );
}
