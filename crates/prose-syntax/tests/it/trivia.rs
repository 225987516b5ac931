//! The trees of trivia.

use crate::tree::check;
use expect_test::expect;

#[test]
fn comments_keep_to_their_block() {
    check(
        r#"
if **a**:
  # first
  session "x" # trailing
  # last

# outside
session "y"
"#,
        expect![[r##"
            SOURCE_FILE
              IF "if"
                DISCRETION "**" "a" "**"
                ":" "# first"
                BLOCK
                  SESSION "session"
                    STRING "\"" "x" "\""
                  "# trailing" "# last"
              "# outside"
              SESSION "session"
                STRING "\"" "y" "\""
        "##]],
    );
}

#[test]
fn crlf_and_a_byte_order_mark() {
    check(
        "\u{FEFF}repeat 2:\r\n  session \"x\"\r\n",
        expect![[r#"
        SOURCE_FILE "\u{feff}"
          REPEAT "repeat"
            LITERAL "2"
            ":"
            BLOCK
              SESSION "session"
                STRING "\"" "x" "\""
    "#]],
    );
}

#[test]
fn no_final_newline() {
    check(
        "repeat 2:\n  session \"x\"",
        expect![[r#"
            SOURCE_FILE
              REPEAT "repeat"
                LITERAL "2"
                ":"
                BLOCK
                  SESSION "session"
                    STRING "\"" "x" "\""
        "#]],
    );
}
