//! Formatting a part of a program.

use expect_test::{Expect, expect};
use prose_format::range_edits;
use prose_syntax::{TextRange, TextSize, parse};

/// Formats what is between the two `$0`.
#[track_caller]
fn check(fixture: &str, after: Expect) {
    let (start, end) = (fixture.find("$0").unwrap(), fixture.rfind("$0").unwrap() - 2);
    let mut text = fixture.replace("$0", "");
    let range = TextRange::new(TextSize::new(start as u32), TextSize::new(end as u32));
    for edit in range_edits(&parse(&text), &text, range).into_iter().rev() {
        text.replace_range(std::ops::Range::<usize>::from(edit.range), &edit.new_text);
    }
    after.assert_eq(&text);
}

#[test]
fn a_statement_stays_where_its_neighbours_are() {
    check(
        r#"
if  **x**:
    $0let  y=1
    if  **z**:
          throw$0
    let  w=1
"#,
        expect![[r#"

            if  **x**:
                let y = 1
                if **z**:
                  throw
                let  w=1
        "#]],
    );
}

#[test]
fn a_header_takes_its_body_along() {
    check(
        "let  a=1\n$0if  **x**:\n    let  y=1\n$0\nlet  b=1\n",
        expect![[r#"
            let  a=1
            if **x**:
              let y = 1

            let  b=1
        "#]],
    );
}

#[test]
fn properties_of_an_agent() {
    check(
        "agent  a:\n    model:opus\n    $0prompt  :  \"x\"$0\n",
        expect![[r#"
            agent  a:
                model:opus
                prompt: "x"
        "#]],
    );
}

#[test]
fn a_body_on_the_line_of_its_header() {
    check(
        "let  r=xs|map:$0session   \"a\"$0\n",
        expect![[r#"
        let r = xs | map: session "a"
    "#]],
    );
}

#[test]
fn nothing_and_everything() {
    check(
        "let  a=1\n$0\n\n$0let  b=1\n",
        expect![[r#"
            let  a=1


            let b = 1
        "#]],
    );
    check(
        "$0let  a=1\n\n\nlet  b=1$0",
        expect![[r#"
        let a = 1

        let b = 1
    "#]],
    );
}
