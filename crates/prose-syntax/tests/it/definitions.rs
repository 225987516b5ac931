//! The trees of definitions.

use crate::tree::check;
use expect_test::expect;

#[test]
fn use_with_alias() {
    check(
        r#"
use "@alice/research" as research
"#,
        expect![[r#"
            SOURCE_FILE
              USE "use"
                STRING "\"" "@alice/research" "\""
                "as"
                NAME "research"
        "#]],
    );
}

#[test]
fn legacy_import() {
    check(
        r#"
import "web-search" from "github:example/web-search"
"#,
        expect![[r#"
            SOURCE_FILE
              IMPORT "import"
                STRING "\"" "web-search" "\""
                "from"
                STRING "\"" "github:example/web-search" "\""
        "#]],
    );
}

#[test]
fn inputs() {
    check(
        r#"
input topic: "What"
input plan: **
  Approve {topic}?
**
input x
input "anything else?"
"#,
        expect![[r#"
            SOURCE_FILE
              INPUT "input"
                NAME "topic"
                ":"
                STRING "\"" "What" "\""
              INPUT "input"
                NAME "plan"
                ":"
                DISCRETION "**" "\n  Approve "
                  INTERPOLATION "{"
                    NAME_REF "topic"
                    "}"
                  "?\n" "**"
              INPUT "input"
                NAME "x"
              INPUT "input"
                STRING "\"" "anything else?" "\""
        "#]],
    );
}

#[test]
fn outputs() {
    check(
        r#"
output report = session "x"
output { a, b: 1 }
output [x]
output a + b
"#,
        expect![[r#"
            SOURCE_FILE
              OUTPUT "output"
                NAME "report"
                "="
                SESSION "session"
                  STRING "\"" "x" "\""
              OUTPUT "output"
                OBJECT "{"
                  OBJECT_ENTRY
                    NAME_REF "a"
                  ","
                  OBJECT_ENTRY
                    NAME "b"
                    ":"
                    LITERAL "1"
                  "}"
              OUTPUT "output"
                ARRAY "["
                  NAME_REF "x"
                  "]"
              OUTPUT "output"
                BINARY
                  NAME_REF "a"
                  "+"
                  NAME_REF "b"
        "#]],
    );
}

#[test]
fn an_agent() {
    check(
        r#"
agent writer:
  model: opus
  persist: project
  skills: ["a", "b"]
"#,
        expect![[r#"
            SOURCE_FILE
              AGENT "agent"
                NAME "writer"
                ":"
                PROPERTY_LIST
                  PROPERTY
                    NAME "model"
                    ":"
                    NAME_REF "opus"
                  PROPERTY
                    NAME "persist"
                    ":"
                    NAME_REF "project"
                  PROPERTY
                    NAME "skills"
                    ":"
                    ARRAY "["
                      STRING "\"" "a" "\""
                      ","
                      STRING "\"" "b" "\""
                      "]"
        "#]],
    );
}

#[test]
fn blocks() {
    check(
        r#"
block f():
  session "x"
block g(a, b) (max_depth: 5):
  session "{a}"
block h:
  do g(1, 2)
"#,
        expect![[r#"
            SOURCE_FILE
              BLOCK_DEF "block"
                NAME "f"
                PARAM_LIST "(" ")"
                ":"
                BLOCK
                  SESSION "session"
                    STRING "\"" "x" "\""
              BLOCK_DEF "block"
                NAME "g"
                PARAM_LIST "("
                  PARAM
                    NAME "a"
                  ","
                  PARAM
                    NAME "b"
                  ")"
                MODIFIER_LIST "("
                  MODIFIER
                    NAME "max_depth"
                    ":"
                    LITERAL "5"
                  ")"
                ":"
                BLOCK
                  SESSION "session"
                    STRING "\""
                      INTERPOLATION "{"
                        NAME_REF "a"
                        "}"
                      "\""
              BLOCK_DEF "block"
                NAME "h"
                ":"
                BLOCK
                  DO_CALL "do"
                    NAME_REF "g"
                    ARG_LIST "("
                      ARG
                        LITERAL "1"
                      ","
                      ARG
                        LITERAL "2"
                      ")"
        "#]],
    );
}

#[test]
fn bindings() {
    check(
        r#"
let a = 1
const b = a
let { c, d } = f(x: 1)
a = a + 1
"#,
        expect![[r#"
            SOURCE_FILE
              LET "let"
                NAME "a"
                "="
                LITERAL "1"
              LET "const"
                NAME "b"
                "="
                NAME_REF "a"
              LET "let"
                DESTRUCTURING "{"
                  NAME "c"
                  ","
                  NAME "d"
                  "}"
                "="
                CALL
                  NAME_REF "f"
                  ARG_LIST "("
                    ARG
                      NAME "x"
                      ":"
                      LITERAL "1"
                    ")"
              ASSIGNMENT
                NAME_REF "a"
                "="
                BINARY
                  NAME_REF "a"
                  "+"
                  LITERAL "1"
        "#]],
    );
}

#[test]
fn names_that_equal_keywords() {
    check(
        r#"
input context: "x"
agent filter:
  model: opus
let if = 1
session = 2
if.x | map: session "y"
let let = let
"#,
        expect![[r#"
            SOURCE_FILE
              INPUT "input"
                NAME "context"
                ":"
                STRING "\"" "x" "\""
              AGENT "agent"
                NAME "filter"
                ":"
                PROPERTY_LIST
                  PROPERTY
                    NAME "model"
                    ":"
                    NAME_REF "opus"
              LET "let"
                NAME "if"
                "="
                LITERAL "1"
              ASSIGNMENT
                NAME_REF "session"
                "="
                LITERAL "2"
              EXPR_STMT
                PIPELINE
                  FIELD
                    NAME_REF "if"
                    "." "x"
                  PIPE_STAGE "|" "map" ":"
                    BLOCK
                      SESSION "session"
                        STRING "\"" "y" "\""
              LET "let"
                NAME "let"
                "="
                NAME_REF "let"
        "#]],
    );
}
