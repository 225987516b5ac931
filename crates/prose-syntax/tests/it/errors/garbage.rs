//! Lines that fit no rule cost no other.

use expect_test::expect;

use crate::shown::check;

#[test]
fn garbage_in_a_header_keeps_its_body() {
    check(
        r#"
@@@ what:
  session "x"
  prompt: "p"
  option "x":
    session "y"
else:
  session "z"
"#,
        expect![[r#"
            @@@ what:
            ^ error[E004] `@` is no part of the language outside of strings
              session "x"
              prompt: "p"
              option "x":
                session "y"
            else:
              session "z"
        "#]],
    );
}

#[test]
fn garbage_in_a_choice() {
    check(
        r#"
choice **a**:
  @@@
    session "x"
  option "y":
    session "y"
"#,
        expect![[r#"
            choice **a**:
              @@@
              ^ error[E004] `@` is no part of the language outside of strings
                session "x"
              option "y":
                session "y"
        "#]],
    );
}

#[test]
fn garbage_in_a_pipeline() {
    check(
        r#"
let r = xs
  | map: session "a"
  @@@
  | filter: session "b"
session "c"
"#,
        expect![[r#"
            let r = xs
              | map: session "a"
              @@@
              ^ error[E004] `@` is no part of the language outside of strings
              | filter: session "b"
            session "c"
        "#]],
    );
}

#[test]
fn garbage_in_a_collection() {
    check(
        r#"
let a = [
  1,
  @@@,
  3 4
]
"#,
        expect![[r#"
            let a = [
              1,
              @@@,
              ^ error[E004] `@` is no part of the language outside of strings
              3 4
               ^ error[E005] missing `,` between two items
               fix: Insert `,` => "  3, 4"
            ]
        "#]],
    );
}
