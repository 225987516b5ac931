//! Lines that fit no rule cost no other.

use expect_test::expect;

use crate::shown::check;

#[test]
fn garbage_in_a_header_keeps_its_body() {
    check(expect![[r#"
        @@@ what:
        ^ error[E004] unexpected `@` outside of a string
          session "x"
          prompt: "p"
          option "x":
            session "y"
        else:
          session "z"
    "#]]);
}

#[test]
fn garbage_in_a_choice() {
    check(expect![[r#"
        choice **a**:
          @@@
          ^ error[E004] unexpected `@` outside of a string
            session "x"
          option "y":
            session "y"
    "#]]);
}

#[test]
fn garbage_in_a_pipeline() {
    check(expect![[r#"
        let r = xs
          | map: session "a"
          @@@
          ^ error[E004] unexpected `@` outside of a string
          | filter: session "b"
        session "c"
    "#]]);
}

#[test]
fn garbage_in_a_collection() {
    check(expect![[r#"
        let a = [
          1,
          @@@,
          ^ error[E004] unexpected `@` outside of a string
          3 4
           ^ error[E005] expected `,` between two items
           fix: Insert `,` => "  3, 4"
        ]
    "#]]);
}
