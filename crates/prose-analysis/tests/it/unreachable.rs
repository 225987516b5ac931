//! Statements that are never reached (decision 7).

use crate::support::{check, check_fixes, check_related};
use expect_test::expect;

#[test]
fn after_the_end_of_the_program() {
    check(
        r#"
        session "One"
        throw "Too late"
        session "Two"
        #<^^^^^^^^^^^^^ hint[W118] unreachable statement
        "#,
    );
    check(
        r#"
        input topic: "What to write about"
        if **{topic} is known well**:
          output "nothing"
        else:
          return session "Research {topic}"
        output found = "Three"
        #<^^^^^^^^^^^^^^^^^^^^^^ hint[W118] unreachable statement
        "#,
    );
}

#[test]
fn what_may_be_reached() {
    check(
        r#"
        input topic: "What to write about"
        if **{topic} is known well**:
          output "nothing"
        for place in ["attic", "cellar"]:
          throw "Nobody searches the {place}"
        block stop:
          throw "Stop"
        do stop
        output found = "Three"
        "#,
    );
}

#[test]
fn definitions_are_reached_wherever_they_stand() {
    check(
        r#"
        throw "Too late"
        session: writer
        #<^^^^^^^^^^^^^^^ hint[W118] unreachable statement
        agent writer:
          prompt: "Write"
        use "alice/research"
        output found = research()
        #<^^^^^^^^^^^^^^^^^^^^^^^^^ hint[W118] unreachable statement
        "#,
    );
}

const ENDED: &str = r#"
session "One"
throw "Too late"
# Why not.
session "Two"
  model: opus
session "Three"
agent _writer:
  prompt: "Write"
"#;

#[test]
fn all_that_is_never_reached_is_removed() {
    check_fixes(
        ENDED,
        expect![[r#"
        Remove the unreachable statements:
        session "One"
        throw "Too late"
        # Why not.
        agent _writer:
          prompt: "Write"
    "#]],
    );
    check_related(
        ENDED,
        expect![[r#"
        line 2, `throw "Too late"`: the program always ends here
    "#]],
    );
}

#[test]
fn after_the_end_of_a_body() {
    check(
        r#"
        loop until **it works** (max: 3):
          session "Try"
          break
          session "Try again"
        # ^^^^^^^^^^^^^^^^^^^ hint[W118] unreachable statement
        "#,
    );
}
