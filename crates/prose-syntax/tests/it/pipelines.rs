//! The trees of pipelines.

use crate::tree::check;
use expect_test::expect;

#[test]
fn on_one_line() {
    check(
        r#"
["a"] | filter: session "x {item}" | map: session "y"
"#,
        expect![[r#"
            SOURCE_FILE
              EXPR_STMT
                PIPELINE
                  ARRAY "["
                    STRING "\"" "a" "\""
                    "]"
                  PIPE_STAGE "|" "filter" ":"
                    BLOCK
                      SESSION "session"
                        STRING "\"" "x "
                          INTERPOLATION "{"
                            NAME_REF "item"
                            "}"
                          "\""
                  PIPE_STAGE "|" "map" ":"
                    BLOCK
                      SESSION "session"
                        STRING "\"" "y" "\""
        "#]],
    );
}

#[test]
fn on_lines_below() {
    check(
        r#"
let r = files
  | filter: session "a"
  | reduce(report, info):
      session "b"
session "c"
"#,
        expect![[r#"
            SOURCE_FILE
              LET "let"
                NAME "r"
                "="
                PIPELINE
                  NAME_REF "files"
                  PIPE_STAGE "|" "filter" ":"
                    BLOCK
                      SESSION "session"
                        STRING "\"" "a" "\""
                  PIPE_STAGE "|" "reduce"
                    PARAM_LIST "("
                      PARAM
                        NAME "report"
                      ","
                      PARAM
                        NAME "info"
                      ")"
                    ":"
                    BLOCK
                      SESSION "session"
                        STRING "\"" "b" "\""
              SESSION "session"
                STRING "\"" "c" "\""
        "#]],
    );
}

#[test]
fn with_bodies() {
    check(
        r#"
ideas | filter:
  session "a"
| pmap:
  session "b"
"#,
        expect![[r#"
            SOURCE_FILE
              EXPR_STMT
                PIPELINE
                  NAME_REF "ideas"
                  PIPE_STAGE "|" "filter" ":"
                    BLOCK
                      SESSION "session"
                        STRING "\"" "a" "\""
                  PIPE_STAGE "|" "pmap" ":"
                    BLOCK
                      SESSION "session"
                        STRING "\"" "b" "\""
        "#]],
    );
}

#[test]
fn after_a_call() {
    check(
        r#"
output do f() | map: session "x"
"#,
        expect![[r#"
            SOURCE_FILE
              OUTPUT "output"
                PIPELINE
                  DO_CALL "do"
                    NAME_REF "f"
                    ARG_LIST "(" ")"
                  PIPE_STAGE "|" "map" ":"
                    BLOCK
                      SESSION "session"
                        STRING "\"" "x" "\""
        "#]],
    );
}
