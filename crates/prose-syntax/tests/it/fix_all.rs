//! Which fixes go together, and what comes of applying all of them.

use crate::invariants::{check_fix_all, programs};
use expect_test::{Expect, expect};
use prose_syntax::fix::{Fixed, apply, fix_all, line_ending};
use prose_syntax::{Code, Diagnostic, Fix, FixSafety, TextEdit, TextRange, TextSize, parse};

fn fix(title: &str, safety: FixSafety, edits: &[(u32, u32, &str)]) -> Fix {
    let edit = |&(start, end, text): &(u32, u32, &str)| {
        TextEdit::replace(TextRange::new(start.into(), end.into()), text)
    };
    Fix { title: title.to_owned(), safety, edits: edits.iter().map(edit).collect() }
}

/// Applies fixes that are given as their edits, and compares the new text and which were applied.
#[track_caller]
fn check_apply(text: &str, fixes: &[&[(u32, u32, &str)]], expected: Expect) {
    let fixes: Vec<Fix> = fixes.iter().map(|edits| fix("Change", FixSafety::Safe, edits)).collect();
    let applied = apply(text, &fixes);
    expected.assert_eq(&format!("{:?} by {:?}", applied.text, applied.applied));
}

#[test]
fn fixes_of_different_places_go_together() {
    check_apply("one two three", &[&[(8, 13, "3")], &[(0, 3, "1")]], expect![[r#""1 two 3" by [0, 1]"#]]);
    check_apply("one two", &[&[(0, 3, "1")], &[(3, 7, "")]], expect![[r#""1" by [0, 1]"#]]);
}

#[test]
fn of_overlapping_fixes_the_first_is_applied() {
    check_apply(
        "one two",
        &[&[(2, 5, "-")], &[(0, 3, "1")], &[(6, 7, "0")]],
        expect![[r#""on-w0" by [0, 2]"#]],
    );
    check_apply("one two", &[&[(0, 7, "12")], &[(2, 3, "")]], expect![[r#""12" by [0]"#]]);
    check_apply("one two", &[&[(2, 3, "")], &[(0, 7, "12")]], expect![[r#""on two" by [0]"#]]);
}

#[test]
fn an_insertion_overlaps_what_it_touches() {
    check_apply("one two", &[&[(3, 3, ",")], &[(3, 3, ";")]], expect![[r#""one, two" by [0]"#]]);
    check_apply("one two", &[&[(3, 4, "-")], &[(3, 3, ";")]], expect![[r#""one-two" by [0]"#]]);
    check_apply("one two", &[&[(4, 4, "+")], &[(3, 4, "-")]], expect![[r#""one +two" by [0]"#]]);
    check_apply("one two", &[&[(4, 4, "+")], &[(2, 3, "E")]], expect![[r#""onE +two" by [0, 1]"#]]);
}

#[test]
fn a_fix_is_applied_whole_or_not_at_all() {
    check_apply(
        "(one) two",
        &[&[(1, 4, "1")], &[(0, 1, "["), (4, 5, "]")], &[(0, 1, "<"), (2, 3, "N"), (4, 5, ">")]],
        expect![[r#""[1] two" by [0, 1]"#]],
    );
    check_apply("ab", &[&[(1, 1, "("), (1, 2, "c"), (2, 2, ")")]], expect![[r#""a(c)" by [0]"#]]);
}

#[test]
fn a_fix_that_cannot_be_made_or_changes_nothing_is_left_out() {
    check_apply("é", &[&[(1, 1, "x")], &[(0, 9, "")], &[(0, 2, "é")], &[]], expect![[r#""é" by []"#]]);
    check_apply("abc", &[&[(0, 2, "x"), (1, 3, "y")]], expect![[r#""abc" by []"#]]);
}

#[test]
fn nothing_is_inserted_before_a_byte_order_mark() {
    check_apply("\u{feff}b", &[&[(0, 0, "a")]], expect![[r#""\u{feff}ab" by [0]"#]]);
    check_apply("\u{feff}b", &[&[(0, 4, "")]], expect![[r#""\u{feff}" by [0]"#]]);
}

#[test]
fn line_breaks_are_inserted_as_the_text_has_them() {
    assert_eq!([line_ending(""), line_ending("a\nb\r\n"), line_ending("a\r\nb\n")], ["\n", "\n", "\r\n"]);
    assert_eq!([line_ending("a\rb\n"), line_ending("\r")], ["\r", "\r"]);
    check_apply("a\r\n", &[&[(3, 3, "b\nc\r\n")]], expect![[r#""a\r\nb\r\nc\r\n" by [0]"#]]);
    check_apply("a\rb", &[&[(3, 3, "\nc")]], expect![[r#""a\rb\rc" by [0]"#]]);
    check_apply("a\n", &[&[(2, 2, "b\r\n")]], expect![[r#""a\nb\r\n" by [0]"#]]);
}

/// A rule: wherever `wrong` stands, there is a diagnostic with this code, whose fix writes `right` in its place.
#[derive(Clone, Copy)]
struct Rule {
    code: Code,
    safety: FixSafety,
    wrong: &'static str,
    right: &'static str,
}

const fn rule(code: Code, safety: FixSafety, wrong: &'static str, right: &'static str) -> Rule {
    Rule { code, safety, wrong, right }
}

fn diagnose(rules: &[Rule], text: &str) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    for &Rule { code, safety, wrong, right } in rules {
        for (start, _) in text.match_indices(wrong) {
            let range = TextRange::at(TextSize::try_from(start).unwrap(), TextSize::of(wrong));
            let edits = vec![TextEdit::replace(range, right)];
            let fix = (wrong != right).then(|| Fix { title: format!("{wrong} to {right}"), safety, edits });
            diagnostics.push(Diagnostic::new(code, range, format!("`{wrong}` is wrong")).with_fix(fix));
        }
    }
    diagnostics.sort_by_key(|diagnostic| diagnostic.range.start());
    diagnostics
}

fn fixed(rules: &[Rule], text: &str, safety: FixSafety) -> (Fixed, usize) {
    let mut calls = 0;
    let fixed = fix_all(
        text,
        |text| {
            calls += 1;
            diagnose(rules, text)
        },
        safety,
    );
    (fixed, calls)
}

#[track_caller]
fn check(rules: &[Rule], text: &str, safety: FixSafety, expected: Expect) {
    let (fixed, _) = fixed(rules, text, safety);
    let applied: Vec<&str> = fixed.applied.iter().map(|(_, title)| title.as_str()).collect();
    expected.assert_eq(&format!("{:?} by {applied:?}; {} remain", fixed.text, fixed.remaining.len()));
}

use Code::{E001 as ERROR, W101 as WARNING};
use FixSafety::{Safe, Unsafe};

#[test]
fn fixes_are_applied_until_there_are_no_more() {
    let rules = [rule(ERROR, Safe, "aa", "a"), rule(ERROR, Safe, "ba", "c")];
    check(
        &rules,
        "baaaa aa",
        Safe,
        expect![[r#""ca a" by ["ba to c", "aa to a", "aa to a", "aa to a"]; 0 remain"#]],
    );
}

#[test]
fn guesses_are_made_only_where_they_are_wanted() {
    let rules = [rule(ERROR, Safe, "a", "b"), rule(ERROR, Unsafe, "x", "y")];
    check(&rules, "a x", Safe, expect![[r#""b x" by ["a to b"]; 1 remain"#]]);
    check(&rules, "a x", Unsafe, expect![[r#""b y" by ["a to b", "x to y"]; 0 remain"#]]);
}

#[test]
fn what_is_certain_comes_before_guesses_and_errors_before_warnings() {
    // The guess and the warning are about the error's text.
    let rules = [rule(ERROR, Unsafe, "ab", "q"), rule(ERROR, Safe, "bc", "-")];
    check(&rules, "abc", Unsafe, expect![[r#""a-" by ["bc to -"]; 0 remain"#]]);
    let rules = [rule(WARNING, Safe, "ab", "q"), rule(ERROR, Safe, "bc", "-")];
    check(&rules, "abc", Safe, expect![[r#""a-" by ["bc to -"]; 0 remain"#]]);
}

#[test]
fn harmful_fixes_are_found_among_many_and_left_out() {
    let rules = [
        rule(ERROR, Safe, "a", "b"),
        rule(WARNING, Safe, "w", "ee"),
        rule(WARNING, Safe, "v", "u"),
        rule(ERROR, Safe, "e", "e"),
    ];
    let text = ["v".repeat(500), "w".to_owned(), "v".repeat(500)].concat();
    let (fixed, calls) = fixed(&rules, &text, Safe);
    assert_eq!(fixed.text, text.replace('v', "u"));
    assert_eq!(fixed.applied.len(), 1000);
    assert!(calls < 30, "{calls} calls");
    check(&rules, "awv", Safe, expect![[r#""bwu" by ["a to b", "v to u"]; 1 remain"#]]);
}

#[test]
fn a_fix_may_uncover_other_diagnostics() {
    let rules =
        [rule(ERROR, Safe, "a", "bbb"), rule(WARNING, Safe, "b", "c"), rule(WARNING, Unsafe, "d", "ee")];
    check(&rules, "a", Safe, expect![[r#""ccc" by ["a to bbb", "b to c", "b to c", "b to c"]; 0 remain"#]]);
    let rules = [rules[2], rule(WARNING, Safe, "e", "e")];
    check(&rules, "d", Unsafe, expect![[r#""ee" by ["d to ee"]; 2 remain"#]]);
}

#[test]
fn fixes_that_go_in_circles_are_taken_back() {
    let rules = [rule(ERROR, Safe, "a", "b"), rule(ERROR, Safe, "b", "a"), rule(WARNING, Safe, "w", "v")];
    check(&rules, "a w", Safe, expect![[r#""a v" by ["w to v"]; 1 remain"#]]);
    let rules = [rule(ERROR, Safe, "a", "aa"), rule(WARNING, Safe, "w", "v")];
    check(&rules, "a w", Safe, expect![[r#""a v" by ["w to v"]; 1 remain"#]]);
}

#[test]
fn the_number_of_passes_is_bounded() {
    let rules = [rule(ERROR, Safe, "aa", "a")];
    let (fixed, calls) = fixed(&rules, &"aa".repeat(1 << 10), Safe);
    assert!(calls <= 101, "{calls} calls");
    assert!(fixed.remaining.len() < 1 << 10);
}

#[test]
fn the_sample_programs() {
    let wrong = Code::ALL.iter().map(|code| code.info().wrong.to_owned());
    for text in programs::all().into_iter().map(|program| program.text).chain(wrong) {
        for text in [text.replace('\n', "\r\n"), format!("\u{feff}{text}"), text] {
            check_fix_all(&text, Safe);
            check_fix_all(&text, Unsafe);
        }
    }
}

#[test]
fn the_planted_mistakes_that_can_be_mended_are() {
    for program in programs::with_mistakes() {
        let fixed = fix_all(&program.text, |text| parse(text).diagnostics().to_vec(), Unsafe);
        let fixable = fixed.remaining.iter().filter(|diagnostic| diagnostic.fix.is_some());
        let fixable: Vec<&Diagnostic> = fixable.collect();
        assert!(!fixed.applied.is_empty(), "{}", program.name);
        assert!(fixable.is_empty(), "{}: {fixable:#?}\n{}", program.name, fixed.text);
    }
}
