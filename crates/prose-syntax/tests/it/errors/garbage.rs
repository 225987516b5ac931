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
            ^ error[E004] unexpected `@` outside of a string
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
              ^ error[E004] unexpected `@` outside of a string
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
              ^ error[E004] unexpected `@` outside of a string
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
              ^ error[E004] unexpected `@` outside of a string
              3 4
               ^ error[E005] expected `,` between two items
               fix: Insert `,` => "  3, 4"
            ]
        "#]],
    );
}
