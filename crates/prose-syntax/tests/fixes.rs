//! A safe fix mends its mistake and makes no other.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod invariants;

use invariants::isolation::Lines;
use invariants::{bad_safe_fixes, programs};
use prose_syntax::Code;

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
