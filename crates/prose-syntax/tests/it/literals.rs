//! The trees of literals.

use crate::tree::check;
use expect_test::expect;

#[test]
fn interpolations() {
    check(
        r#"
session "{a} {b-c.d[0].e[i]} { x } {} {1} \{y} {if any}"
"#,
        expect![[r#"
            SOURCE_FILE
              SESSION "session"
                STRING "\""
                  INTERPOLATION "{"
                    NAME_REF "a"
                    "}"
                  " "
                  INTERPOLATION "{"
                    NAME_REF "b-c"
                    "." "d" "[" "0" "]" "." "e" "["
                    NAME_REF "i"
                    "]" "}"
                  " { x } {} {1} " "\\{" "y} {if any}" "\""
        "#]],
    );
}

#[test]
fn escapes() {
    check(
        r#"
session "a\n\t\"b\" \\"
"#,
        expect![[r#"
            SOURCE_FILE
              SESSION "session"
                STRING "\"" "a" "\\n" "\\t" "\\\"" "b" "\\\"" " " "\\\\" "\""
        "#]],
    );
}

#[test]
fn five_quotes() {
    check(
        r#"
session """say "hi"""""
"#,
        expect![[r#"
            SOURCE_FILE
              SESSION "session"
                STRING "\"\"\"" "say \"hi\"\"" "\"\"\""
        "#]],
    );
}

#[test]
fn a_backslash_hides_no_closer() {
    check(
        r#"
session """a \" \.\\"""
"#,
        expect![[r#"
            SOURCE_FILE
              SESSION "session"
                STRING "\"\"\"" "a " "\\\"" " \\." "\\\\" "\"\"\""
        "#]],
    );
}

#[test]
fn nested_triple_quotes() {
    check(
        r#"
agent a:
  prompt: """
    session: b
      prompt: """
        inner
      """
  """
"#,
        expect![[r#"
            SOURCE_FILE
              AGENT "agent"
                NAME "a"
                ":"
                PROPERTY_LIST
                  PROPERTY
                    NAME "prompt"
                    ":"
                    STRING "\"\"\"" "\n    session: b\n      prompt: \"\"\"\n        inner\n      \"\"\"\n  " "\"\"\""
        "#]],
    );
}

#[test]
fn text_left_of_the_opener() {
    check(
        r#"
let a = """
left
      right
  """
"#,
        expect![[r#"
            SOURCE_FILE
              LET "let"
                NAME "a"
                "="
                STRING "\"\"\"" "\nleft\n      right\n  " "\"\"\""
        "#]],
    );
}

#[test]
fn conditions_with_anything_inside() {
    check(
        r#"
if **a "b" # c: (d) >= {e.f}**:
  session "x"
"#,
        expect![[r#"
            SOURCE_FILE
              IF "if"
                DISCRETION "**" "a \"b\" # c: (d) >= "
                  INTERPOLATION "{"
                    NAME_REF "e"
                    "." "f" "}"
                  "**"
                ":"
                BLOCK
                  SESSION "session"
                    STRING "\"" "x" "\""
        "#]],
    );
}

#[test]
fn empty_literals() {
    check(
        r#"
session ""
session """"""
if ****:
  session "x"
"#,
        expect![[r#"
            SOURCE_FILE
              SESSION "session"
                STRING "\"" "\""
              SESSION "session"
                STRING "\"\"\"" "\"\"\""
              IF "if"
                DISCRETION "**" "**"
                ":"
                BLOCK
                  SESSION "session"
                    STRING "\"" "x" "\""
        "#]],
    );
}

#[test]
fn conditions_without_text() {
    check(
        r#"
if ****:
  session "x"
elif ** **:
  session "x"
loop until ****** (max: 3):
  session "x"
choice ** **:
  option "a":
    session "x"
"#,
        expect![[r#"
            SOURCE_FILE
              IF "if"
                DISCRETION "**" "**"
                ":"
                BLOCK
                  SESSION "session"
                    STRING "\"" "x" "\""
                ELIF_CLAUSE "elif"
                  DISCRETION "**" " " "**"
                  ":"
                  BLOCK
                    SESSION "session"
                      STRING "\"" "x" "\""
              LOOP "loop" "until"
                DISCRETION "***" "***"
                MODIFIER_LIST "("
                  MODIFIER
                    NAME "max"
                    ":"
                    LITERAL "3"
                  ")"
                ":"
                BLOCK
                  SESSION "session"
                    STRING "\"" "x" "\""
              CHOICE "choice"
                DISCRETION "**" " " "**"
                ":"
                BLOCK
                  CHOICE_OPTION "option"
                    STRING "\"" "a" "\""
                    ":"
                    BLOCK
                      SESSION "session"
                        STRING "\"" "x" "\""
        "#]],
    );
}
