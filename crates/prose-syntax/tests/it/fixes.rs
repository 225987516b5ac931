//! A safe fix fixes its mistake and makes no other.

use crate::invariants::isolation::Lines;
use crate::invariants::{apply, bad_safe_fixes, programs};
use expect_test::{Expect, expect};
use prose_syntax::{Code, Fix, FixSafety, TextEdit, parse};

#[track_caller]
fn check(text: &str) {
    let bad = bad_safe_fixes(text);
    assert!(bad.is_empty(), "{bad:#?}\nin\n{text}");
}

#[test]
fn of_every_code() {
    for code in Code::ALL {
        check(code.info().wrong);
    }
}

#[test]
fn of_the_planted_mistakes() {
    for program in programs::with_mistakes() {
        check(&program.text);
    }
}

#[test]
fn of_a_token_that_is_missing_or_doubled() {
    let mut bad = String::new();
    for program in programs::sound() {
        let (text, lines) = (&program.text, Lines::new(&program.text));
        for line in 0..lines.len() {
            let mut start = lines.range(line).start;
            for word in lines.get(line).split_inclusive([' ', ':', '(', ')', '[', ']', ',', '"', '*']) {
                let end = start + word.len();
                let missing = [&text[..start], &text[end..]].concat();
                let doubled = [&text[..end], word, &text[end..]].concat();
                for broken in [missing, doubled] {
                    for fix in bad_safe_fixes(&broken) {
                        let fixed = Lines::new(&fix.fixed);
                        let fixed = fixed.get(line.min(fixed.len() - 1));
                        bad.push_str(&format!(
                            "{}: {:?} makes {fixed:?} of {:?}, which has {:?}\n",
                            program.name,
                            fix.title,
                            Lines::new(&broken).get(line),
                            fix.found
                        ));
                    }
                }
                start = end;
            }
        }
    }
    assert!(bad.is_empty(), "{bad}");
}

/// Applies the fixes of all tabs at once.
#[track_caller]
fn check_tabs(text: &str, expect: Expect) {
    let parsed = parse(text);
    let mut edits: Vec<TextEdit> = Vec::new();
    for diagnostic in parsed.diagnostics() {
        assert_eq!(diagnostic.code, Code::E103, "{diagnostic:?}");
        edits.extend(diagnostic.fix.clone().unwrap().edits);
    }
    edits.sort_by_key(|edit| edit.range.start());
    let fix = Fix { title: String::new(), safety: FixSafety::Safe, edits };
    let fixed = apply(text, &fix);
    assert!(!fixed.contains('\t'), "{fixed:?}");
    assert_eq!(parse(&fixed).diagnostics(), []);
    expect.assert_eq(&fixed);
}

#[test]
fn tabs_become_two_spaces_for_each_level() {
    check_tabs(
        "agent a:\n\tmodel: opus\n\tpermissions:\n\t\tbash: deny\n\n\t# Never asks.\nrepeat 2:\n\tif **so**:\n\t\t# Why?\n\t\tbreak\n\t# Else it goes on.\nsession \"x\"\n",
        expect![[r#"
            agent a:
              model: opus
              permissions:
                bash: deny

              # Never asks.
            repeat 2:
              if **so**:
                # Why?
                break
              # Else it goes on.
            session "x"
        "#]],
    );
}

#[test]
fn tabs_among_spaces_become_what_the_lines_above_are_indented_by() {
    check_tabs(
        "repeat 2:\n    session \"a\"\n\tsession \"b\"\n\tif **so**:\n\t\tsession \"c\"\n    session \"d\"\n",
        expect![[r#"
            repeat 2:
                session "a"
                session "b"
                if **so**:
                  session "c"
                session "d"
        "#]],
    );
}

#[test]
fn tabs_inside_of_brackets() {
    check_tabs(
        "let a = [\n\t1,\n\t# two\n\t{\n\t\tb: 2\n\t}\n]\n",
        expect![[r#"
            let a = [
              1,
              # two
              {
                b: 2
              }
            ]
        "#]],
    );
}

#[test]
fn tabs_before_the_first_line() {
    check_tabs(
        "\trepeat 2:\n\t\tsession \"a\"\n\tsession \"b\"\nrepeat 2:\n\tsession \"c\"\n",
        expect![[r#"
            repeat 2:
              session "a"
            session "b"
            repeat 2:
              session "c"
        "#]],
    );
}
