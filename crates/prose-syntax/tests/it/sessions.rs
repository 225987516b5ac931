//! The trees of sessions.

use crate::tree::check;
use expect_test::expect;

#[test]
fn a_text() {
    check(
        r#"
session "Say hello"
"#,
        expect![[r#"
            SOURCE_FILE
              SESSION "session"
                STRING "\"" "Say hello" "\""
        "#]],
    );
}

#[test]
fn a_text_over_several_lines() {
    check(
        r#"
session """
  Say hello.
"""
"#,
        expect![[r#"
            SOURCE_FILE
              SESSION "session"
                STRING "\"\"\"" "\n  Say hello.\n" "\"\"\""
        "#]],
    );
}

#[test]
fn an_agent_with_properties() {
    check(
        r#"
session: writer
  prompt: "Write"
  context: { draft, notes: a.b }
  retry: 2
"#,
        expect![[r#"
            SOURCE_FILE
              SESSION "session" ":"
                NAME_REF "writer"
                PROPERTY_LIST
                  PROPERTY
                    NAME "prompt"
                    ":"
                    STRING "\"" "Write" "\""
                  PROPERTY
                    NAME "context"
                    ":"
                    OBJECT "{"
                      OBJECT_ENTRY
                        NAME_REF "draft"
                      ","
                      OBJECT_ENTRY
                        NAME "notes"
                        ":"
                        FIELD
                          NAME_REF "a"
                          "." "b"
                      "}"
                  PROPERTY
                    NAME "retry"
                    ":"
                    LITERAL "2"
        "#]],
    );
}

#[test]
fn a_named_session() {
    check(
        r#"
session report: writer
"#,
        expect![[r#"
            SOURCE_FILE
              SESSION "session"
                NAME "report"
                ":"
                NAME_REF "writer"
        "#]],
    );
}

#[test]
fn properties_in_parentheses() {
    check(
        r#"
session "x" (retry: 3)
"#,
        expect![[r#"
            SOURCE_FILE
              SESSION "session"
                STRING "\"" "x" "\""
                PROPERTY_LIST "("
                  PROPERTY
                    NAME "retry"
                    ":"
                    LITERAL "3"
                  ")"
        "#]],
    );
}

#[test]
fn a_property_on_the_line() {
    check(
        r#"
session "x" context: "AI"
"#,
        expect![[r#"
            SOURCE_FILE
              SESSION "session"
                STRING "\"" "x" "\""
                PROPERTY_LIST
                  PROPERTY
                    NAME "context"
                    ":"
                    STRING "\"" "AI" "\""
        "#]],
    );
}

#[test]
fn a_resume() {
    check(
        r#"
resume: writer
  prompt: "Go on"
"#,
        expect![[r#"
            SOURCE_FILE
              RESUME "resume" ":"
                NAME_REF "writer"
                PROPERTY_LIST
                  PROPERTY
                    NAME "prompt"
                    ":"
                    STRING "\"" "Go on" "\""
        "#]],
    );
}

#[test]
fn an_arrow_chain() {
    check(
        r#"
session "a" -> session "b" -> resume: c
"#,
        expect![[r#"
            SOURCE_FILE
              ARROW_CHAIN
                SESSION "session"
                  STRING "\"" "a" "\""
                "->"
                SESSION "session"
                  STRING "\"" "b" "\""
                "->"
                RESUME "resume" ":"
                  NAME_REF "c"
        "#]],
    );
}

#[test]
fn an_arrow_chain_over_lines() {
    check(
        r#"
session a: x
  prompt: "p"

-> session b: y
  prompt: "q"
"#,
        expect![[r#"
            SOURCE_FILE
              ARROW_CHAIN
                SESSION "session"
                  NAME "a"
                  ":"
                  NAME_REF "x"
                  PROPERTY_LIST
                    PROPERTY
                      NAME "prompt"
                      ":"
                      STRING "\"" "p" "\""
                "->"
                SESSION "session"
                  NAME "b"
                  ":"
                  NAME_REF "y"
                  PROPERTY_LIST
                    PROPERTY
                      NAME "prompt"
                      ":"
                      STRING "\"" "q" "\""
        "#]],
    );
}

#[test]
fn an_indented_arrow() {
    check(
        r#"
session "a"
  -> session "b"
"#,
        expect![[r#"
            SOURCE_FILE
              ARROW_CHAIN
                SESSION "session"
                  STRING "\"" "a" "\""
                "->"
                SESSION "session"
                  STRING "\"" "b" "\""
        "#]],
    );
}

#[test]
fn nested_properties() {
    check(
        r#"
session: a
  permissions:
    read: ["*.md", DOCS]
    bash: deny
  context:
    file: "a.md"
    file: "b.md"
"#,
        expect![[r#"
            SOURCE_FILE
              SESSION "session" ":"
                NAME_REF "a"
                PROPERTY_LIST
                  PROPERTY
                    NAME "permissions"
                    ":"
                    PROPERTY_LIST
                      PROPERTY
                        NAME "read"
                        ":"
                        ARRAY "["
                          STRING "\"" "*.md" "\""
                          ","
                          NAME_REF "DOCS"
                          "]"
                      PROPERTY
                        NAME "bash"
                        ":"
                        NAME_REF "deny"
                  PROPERTY
                    NAME "context"
                    ":"
                    PROPERTY_LIST
                      PROPERTY
                        NAME "file"
                        ":"
                        STRING "\"" "a.md" "\""
                      PROPERTY
                        NAME "file"
                        ":"
                        STRING "\"" "b.md" "\""
        "#]],
    );
}
