//! Strings and conditions that are not closed, escapes, and characters that look like others.

use expect_test::expect;

use crate::shown::{check, check_text};

#[test]
fn unterminated_literals() {
    check(expect![[r#"
        session "abc
                ^^^^ error[E001] unterminated string; expected a closing `"`
                fix: Insert the closing `"` => "session \"abc\""
        if **abc:
           ^^^^^ error[E001] unterminated condition; expected a closing `**`
           fix: Insert the closing `**` => "if **abc**:"
          session "z"
        loop until **done (max: 3):
                   ^^^^^^ error[E001] unterminated condition; expected a closing `**`
                   fix: Insert the closing `**` => "loop until **done** (max: 3):"
          session "z"
        session "next"
    "#]]);
}

#[test]
fn an_unterminated_triple_string_costs_its_own_lines() {
    check(expect![[r#"
        agent a:
          prompt: """
                  ^^^ error[E001] unterminated triple-quoted string; expected a closing `"""`
                  guess: Insert the closing `"""` => "  \"\"\""
            You write.
            It is fun.
          model: opus
        agent b:
          prompt: """
            You read.
          """
    "#]]);
}

#[test]
fn an_unterminated_triple_string_with_text_left_of_it_is_one_mistake() {
    check(expect![[r#"
        agent a:
          prompt: """
                  ^^^ error[E001] unterminated triple-quoted string; expected a closing `"""`
                  guess: Insert the closing `"""` => "  \"\"\""
        You write.
        It is fun, and these are the rules:
        - one
        2. two

        # Style
        Be brief.
          model: opus
        let x = """
                ^^^ error[E001] unterminated triple-quoted string; expected a closing `"""`
                guess: Insert the closing `"""` => "\"\"\""
        Some text here.
        sesion "y"
        ^^^^^^ error[E107] unknown statement `sesion`; did you mean `session`?
        fix: Change to `session` => "session \"y\""
    "#]]);
}

#[test]
fn an_opener_that_lost_its_line() {
    check(expect![[r#"
        agent a:
          @@@
          ^ error[E004] unexpected `@` outside of a string
            You write.
            ^^^ error[E107] unknown statement `You`
          """
          ^^^ error[E001] unterminated triple-quoted string; expected a closing `"""`
          guess: Insert the closing `"""` => "  \"\"\""
        agent b:
          prompt: """
            You read.
          """
    "#]]);
}

#[test]
fn an_unterminated_discretion_over_lines() {
    check(expect![[r#"
        input x: **
                 ^^ error[E001] unterminated condition; expected a closing `**`
                 guess: Insert the closing `**` => "**"
          What is
          the name?

        if **so**:
          session "x"
    "#]]);
}

#[test]
fn unknown_escapes() {
    check(expect![[r#"
        session "C:\dir"
                   ^^ error[E002] unknown escape `\d`; write a backslash as `\\`
                   fix: Double the backslash => "session \"C:\\\\dir\""
        session """C:\dir"""
    "#]]);
}

#[test]
fn a_wide_character_before_a_marker() {
    check(expect![[r#"
        if **a
           ^^^ error[E001] unterminated condition; expected a closing `**`
           fix: Insert the closing `**` => "if **a**"
        x 😀on**y
        ^ error[E107] unknown statement `x`
        z **b
        ^ error[E107] unknown statement `z`
    "#]]);
}

#[test]
fn characters_that_look_like_others() {
    check_text(
        "session\u{a0}\"x\"\nif **a**：\n  session \"y\"\n",
        expect![[r#"
            session "x"
            ^^^^^^^^ error[E004] unexpected character that looks like a space, often pasted from a web page
            fix: Change to a space => "session \"x\""
            if **a**：
                    ^ error[E004] unexpected full-width colon; use `:`
                    fix: Change to `:` => "if **a**:"
              session "y"
        "#]],
    );
}
