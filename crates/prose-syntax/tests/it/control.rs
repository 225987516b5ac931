//! The trees of control.

use crate::tree::check;
use expect_test::expect;

#[test]
fn parallel() {
    check(
        r#"
parallel ("any", count: 2, on-fail: "continue"):
  a = session "x"
  b = do f()
  do:
    session "y"
"#,
        expect![[r#"
            SOURCE_FILE
              PARALLEL "parallel"
                MODIFIER_LIST "("
                  MODIFIER
                    STRING "\"" "any" "\""
                  ","
                  MODIFIER
                    NAME "count"
                    ":"
                    LITERAL "2"
                  ","
                  MODIFIER
                    NAME "on-fail"
                    ":"
                    STRING "\"" "continue" "\""
                  ")"
                ":"
                BLOCK
                  ASSIGNMENT
                    NAME_REF "a"
                    "="
                    SESSION "session"
                      STRING "\"" "x" "\""
                  ASSIGNMENT
                    NAME_REF "b"
                    "="
                    DO_CALL "do"
                      NAME_REF "f"
                      ARG_LIST "(" ")"
                  DO_BLOCK "do" ":"
                    BLOCK
                      SESSION "session"
                        STRING "\"" "y" "\""
        "#]],
    );
}

#[test]
fn parallel_for() {
    check(
        r#"
let r = parallel for x, i in xs:
  session "{x}"
"#,
        expect![[r#"
            SOURCE_FILE
              LET "let"
                NAME "r"
                "="
                PARALLEL_FOR "parallel" "for"
                  NAME "x"
                  ","
                  NAME "i"
                  "in"
                  NAME_REF "xs"
                  ":"
                  BLOCK
                    SESSION "session"
                      STRING "\""
                        INTERPOLATION "{"
                          NAME_REF "x"
                          "}"
                        "\""
        "#]],
    );
}

#[test]
fn loops() {
    check(
        r#"
repeat 3 as i:
  break
repeat n:
  continue
for x in a.b:
  session "x"
loop until **done** (max: 5) as n:
  session "x"
loop while not a.b and **so**:
  session "x"
loop:
  break
"#,
        expect![[r#"
            SOURCE_FILE
              REPEAT "repeat"
                LITERAL "3"
                "as"
                NAME "i"
                ":"
                BLOCK
                  BREAK "break"
              REPEAT "repeat"
                NAME_REF "n"
                ":"
                BLOCK
                  CONTINUE "continue"
              FOR "for"
                NAME "x"
                "in"
                FIELD
                  NAME_REF "a"
                  "." "b"
                ":"
                BLOCK
                  SESSION "session"
                    STRING "\"" "x" "\""
              LOOP "loop" "until"
                DISCRETION "**" "done" "**"
                MODIFIER_LIST "("
                  MODIFIER
                    NAME "max"
                    ":"
                    LITERAL "5"
                  ")"
                "as"
                NAME "n"
                ":"
                BLOCK
                  SESSION "session"
                    STRING "\"" "x" "\""
              LOOP "loop" "while"
                BINARY
                  UNARY "not"
                    FIELD
                      NAME_REF "a"
                      "." "b"
                  "and"
                  DISCRETION "**" "so" "**"
                ":"
                BLOCK
                  SESSION "session"
                    STRING "\"" "x" "\""
              LOOP "loop" ":"
                BLOCK
                  BREAK "break"
        "#]],
    );
}

#[test]
fn try_catch_finally() {
    check(
        r#"
let r = try:
  session "x"
catch as e:
  throw
finally:
  throw "m"
"#,
        expect![[r#"
            SOURCE_FILE
              LET "let"
                NAME "r"
                "="
                TRY "try" ":"
                  BLOCK
                    SESSION "session"
                      STRING "\"" "x" "\""
                  CATCH_CLAUSE "catch" "as"
                    NAME "e"
                    ":"
                    BLOCK
                      THROW "throw"
                  FINALLY_CLAUSE "finally" ":"
                    BLOCK
                      THROW "throw"
                        STRING "\"" "m" "\""
        "#]],
    );
}

#[test]
fn choice() {
    check(
        r#"
choice ***
  which one
***:
  option "a":
    session "x"
  option """b""":
    session "y"
"#,
        expect![[r#"
            SOURCE_FILE
              CHOICE "choice"
                DISCRETION "***" "\n  which one\n" "***"
                ":"
                BLOCK
                  CHOICE_OPTION "option"
                    STRING "\"" "a" "\""
                    ":"
                    BLOCK
                      SESSION "session"
                        STRING "\"" "x" "\""
                  CHOICE_OPTION "option"
                    STRING "\"\"\"" "b" "\"\"\""
                    ":"
                    BLOCK
                      SESSION "session"
                        STRING "\"" "y" "\""
        "#]],
    );
}

#[test]
fn if_elif_else() {
    check(
        r#"
if **a** or depth <= 0:
  return x
elif a is "b":
  return
else:
  session "y"
"#,
        expect![[r#"
            SOURCE_FILE
              IF "if"
                BINARY
                  DISCRETION "**" "a" "**"
                  "or"
                  BINARY
                    NAME_REF "depth"
                    "<="
                    LITERAL "0"
                ":"
                BLOCK
                  RETURN "return"
                    NAME_REF "x"
                ELIF_CLAUSE "elif"
                  BINARY
                    NAME_REF "a"
                    "is"
                    STRING "\"" "b" "\""
                  ":"
                  BLOCK
                    RETURN "return"
                ELSE_CLAUSE "else" ":"
                  BLOCK
                    SESSION "session"
                      STRING "\"" "y" "\""
        "#]],
    );
}

#[test]
fn asserts() {
    check(
        r#"
assert a != "x"
assert a == 1:
  """
  message
  """
assert b: "m"
"#,
        expect![[r#"
            SOURCE_FILE
              ASSERT "assert"
                BINARY
                  NAME_REF "a"
                  "!="
                  STRING "\"" "x" "\""
              ASSERT "assert"
                BINARY
                  NAME_REF "a"
                  "=="
                  LITERAL "1"
                ":"
                STRING "\"\"\"" "\n  message\n  " "\"\"\""
              ASSERT "assert"
                NAME_REF "b"
                ":"
                STRING "\"" "m" "\""
        "#]],
    );
}

#[test]
fn bodies_on_the_line() {
    check(
        r#"
if **a**: session "x"
else: session "y"
do: session "z"
"#,
        expect![[r#"
            SOURCE_FILE
              IF "if"
                DISCRETION "**" "a" "**"
                ":"
                BLOCK
                  SESSION "session"
                    STRING "\"" "x" "\""
                ELSE_CLAUSE "else" ":"
                  BLOCK
                    SESSION "session"
                      STRING "\"" "y" "\""
              DO_BLOCK "do" ":"
                BLOCK
                  SESSION "session"
                    STRING "\"" "z" "\""
        "#]],
    );
}
