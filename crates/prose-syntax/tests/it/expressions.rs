//! The trees of expressions.

use crate::tree::check;
use expect_test::expect;

#[test]
fn precedence() {
    check(
        r#"
let x = not a == b + c * -d and e or f
"#,
        expect![[r#"
            SOURCE_FILE
              LET "let"
                NAME "x"
                "="
                BINARY
                  BINARY
                    UNARY "not"
                      BINARY
                        NAME_REF "a"
                        "=="
                        BINARY
                          NAME_REF "b"
                          "+"
                          BINARY
                            NAME_REF "c"
                            "*"
                            UNARY "-"
                              NAME_REF "d"
                    "and"
                    NAME_REF "e"
                  "or"
                  NAME_REF "f"
        "#]],
    );
}

#[test]
fn ternary() {
    check(
        r#"
let x = a.b == "ok" ? "y" : "z"
"#,
        expect![[r#"
            SOURCE_FILE
              LET "let"
                NAME "x"
                "="
                TERNARY
                  BINARY
                    FIELD
                      NAME_REF "a"
                      "." "b"
                    "=="
                    STRING "\"" "ok" "\""
                  "?"
                  STRING "\"" "y" "\""
                  ":"
                  STRING "\"" "z" "\""
        "#]],
    );
}

#[test]
fn postfix() {
    check(
        r#"
let x = a.b[0].c("d", e: 1).f
"#,
        expect![[r#"
            SOURCE_FILE
              LET "let"
                NAME "x"
                "="
                FIELD
                  CALL
                    FIELD
                      INDEX
                        FIELD
                          NAME_REF "a"
                          "." "b"
                        "["
                        LITERAL "0"
                        "]"
                      "." "c"
                    ARG_LIST "("
                      ARG
                        STRING "\"" "d" "\""
                      ","
                      ARG
                        NAME "e"
                        ":"
                        LITERAL "1"
                      ")"
                  "." "f"
        "#]],
    );
}

#[test]
fn a_call_with_a_source() {
    check(
        r#"
let x = env("A", "B") from ".env"
"#,
        expect![[r#"
            SOURCE_FILE
              LET "let"
                NAME "x"
                "="
                CALL
                  NAME_REF "env"
                  ARG_LIST "("
                    ARG
                      STRING "\"" "A" "\""
                    ","
                    ARG
                      STRING "\"" "B" "\""
                    ")"
                  "from"
                  STRING "\"" ".env" "\""
        "#]],
    );
}

#[test]
fn collections_over_lines() {
    check(
        r#"
let x = {
  a, # one
  "b c": [1, 2.5, 120s,],
  d.e,
  f: **so**,
  g: null
}
"#,
        expect![[r##"
            SOURCE_FILE
              LET "let"
                NAME "x"
                "="
                OBJECT "{"
                  OBJECT_ENTRY
                    NAME_REF "a"
                  "," "# one"
                  OBJECT_ENTRY
                    STRING "\"" "b c" "\""
                    ":"
                    ARRAY "["
                      LITERAL "1"
                      ","
                      LITERAL "2.5"
                      ","
                      LITERAL "120s"
                      "," "]"
                  ","
                  OBJECT_ENTRY
                    FIELD
                      NAME_REF "d"
                      "." "e"
                  ","
                  OBJECT_ENTRY
                    NAME "f"
                    ":"
                    DISCRETION "**" "so" "**"
                  ","
                  OBJECT_ENTRY
                    NAME "g"
                    ":"
                    LITERAL "null"
                  "}"
        "##]],
    );
}

#[test]
fn block_expressions_inside() {
    check(
        r#"
let x = [session "a", do f(1)]
"#,
        expect![[r#"
            SOURCE_FILE
              LET "let"
                NAME "x"
                "="
                ARRAY "["
                  SESSION "session"
                    STRING "\"" "a" "\""
                  ","
                  DO_CALL "do"
                    NAME_REF "f"
                    ARG_LIST "("
                      ARG
                        LITERAL "1"
                      ")"
                  "]"
        "#]],
    );
}

#[test]
fn an_input_as_a_value() {
    check(
        r#"
let x = input "name?"
"#,
        expect![[r#"
            SOURCE_FILE
              LET "let"
                NAME "x"
                "="
                INPUT_VALUE "input"
                  STRING "\"" "name?" "\""
        "#]],
    );
}

#[test]
fn placeholders() {
    check(
        r#"
do f(...)
...
"#,
        expect![[r#"
            SOURCE_FILE
              DO_CALL "do"
                NAME_REF "f"
                ARG_LIST "("
                  ARG
                    PLACEHOLDER "..."
                  ")"
              PLACEHOLDER "..."
        "#]],
    );
}

#[test]
fn hyphens_and_arrows() {
    check(
        r#"
let a = b-c
let d = b - c
"#,
        expect![[r#"
            SOURCE_FILE
              LET "let"
                NAME "a"
                "="
                NAME_REF "b-c"
              LET "let"
                NAME "d"
                "="
                BINARY
                  NAME_REF "b"
                  "-"
                  NAME_REF "c"
        "#]],
    );
}
