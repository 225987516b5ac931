//! The indentation of a line while it is typed.

use expect_test::{Expect, expect};
use prose_format::edits_after_typing;
use prose_syntax::{TextSize, parse};

/// The program after what comes before `$0` has been typed.
#[track_caller]
fn check(fixture: &str, after: Expect) {
    let at = fixture.find("$0").unwrap();
    let mut text = fixture.replace("$0", "");
    let typed = if text[..at].ends_with(':') { ":" } else { "\n" };
    for edit in edits_after_typing(&parse(&text), &text, TextSize::new(at as u32), typed) {
        text.replace_range(std::ops::Range::<usize>::from(edit.range), &edit.new_text);
    }
    // Spaces at the ends of lines can be seen then.
    after.assert_eq(&text.replace(' ', "·"));
}

#[test]
fn a_line_below_a_colon_is_indented() {
    check(
        "if **x**:\n$0",
        expect![[r#"
        if·**x**:
        ··"#]],
    );
    check(
        "if **x**:  # why\n$0",
        expect![[r#"
        if·**x**:··#·why
        ··"#]],
    );
    check(
        "if **x**:\n  agent a:\n$0",
        expect![[r#"
        if·**x**:
        ··agent·a:
        ····"#]],
    );
    check(
        "let a = [\n$0\n]\n",
        expect![[r#"
        let·a·=·[
        ··
        ]
    "#]],
    );
}

#[test]
fn a_colon_at_the_end_of_a_text_opens_nothing() {
    check(
        "session \"Answer with:\n$0\"",
        expect![[r#"
        session·"Answer·with:
        ""#]],
    );
    check(
        "if **one of (\n$0b)**:\n",
        expect![[r#"
            if·**one·of·(
            b)**:
        "#]],
    );
}

#[test]
fn a_line_below_any_other_is_indented_like_it() {
    check(
        "if **x**:\n  throw\n$0",
        expect![[r#"
        if·**x**:
        ··throw
        ··"#]],
    );
    check(
        "if **x**:\n  throw\n\n$0",
        expect![[r#"
        if·**x**:
        ··throw

        ··"#]],
    );
}

#[test]
fn texts_are_left_alone() {
    check(
        "agent a:\n  prompt: \"\"\"\n    x:\n$0\n  \"\"\"\n",
        expect![[r#"
        agent·a:
        ··prompt:·"""
        ····x:

        ··"""
    "#]],
    );
    check(
        "agent a:\n  prompt: \"\"\"\n    x:\n  \"\"\"\n$0",
        expect![[r#"
        agent·a:
        ··prompt:·"""
        ····x:
        ··"""
        ··"#]],
    );
}

#[test]
fn clauses_go_back_to_their_statement() {
    check(
        "if **x**:\n  throw\n  else:$0",
        expect![[r#"
            if·**x**:
            ··throw
            else:"#]],
    );
    check(
        "do:\n  let a = try:\n    throw\n    catch as e:$0",
        expect![[r#"
            do:
            ··let·a·=·try:
            ····throw
            ··catch·as·e:"#]],
    );
    check(
        "if **x**:\n  if **y**:\n    throw\n    elif **z**:$0",
        expect![[r#"
            if·**x**:
            ··if·**y**:
            ····throw
            ··elif·**z**:"#]],
    );
    check(
        "if **x**:\n  if **y**:\n    throw\nelse:$0",
        expect![[r#"
        if·**x**:
        ··if·**y**:
        ····throw
        else:"#]],
    );
    check(
        "choice **x**:\n  option \"a\":\n    throw\n    option \"b\":$0",
        expect![[r#"
            choice·**x**:
            ··option·"a":
            ····throw
            ··option·"b":"#]],
    );
    check(
        "choice **x**:\n    option \"a\":$0",
        expect![[r#"
        choice·**x**:
        ··option·"a":"#]],
    );
}

#[test]
fn a_clause_of_nothing_stays() {
    check(
        "do:\n  throw\n  else:$0",
        expect![[r#"
        do:
        ··throw
        ··else:"#]],
    );
    check(
        "if **x**:\n  let else_value = 1\n  session:$0",
        expect![[r#"
        if·**x**:
        ··let·else_value·=·1
        ··session:"#]],
    );
}
