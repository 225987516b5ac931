//! One mistake never hides or creates diagnostics elsewhere.

use crate::invariants::isolation::{GARBAGE, Lines, Original, Violation};
use crate::invariants::programs;
use expect_test::{Expect, expect};

#[test]
fn the_sound_programs_have_no_diagnostics() {
    for program in programs::sound() {
        let diagnostics = crate::invariants::check_parse(&program.text).diagnostics().to_vec();
        assert_eq!(diagnostics, [], "in {}", program.name);
    }
}

#[track_caller]
fn check_mistakes(name: &str, expected: Expect) {
    let program = programs::with_mistakes().into_iter().find(|program| program.name == name).unwrap();
    let parsed = crate::invariants::check_parse(&program.text);
    let lines = Lines::new(&program.text);
    let found: String = parsed
        .diagnostics()
        .iter()
        .map(|diagnostic| {
            let line = lines.line_of(diagnostic.range.start().into());
            format!("{} {}: {}\n", diagnostic.code, line + 1, lines.get(line).trim())
        })
        .collect();
    expected.assert_eq(&found);
}

#[test]
fn mistakes_in_blocks_are_found_once() {
    check_mistakes(
        "blocks",
        expect![[r#"
        E004 3: promt "Write"
        E101 7: session "Not here"
        E005 9: repeat 3
        E005 11: let x =
        E005 14: block review(draft:
        E004 15: session "Review" "twice"
        E113 18: if the tests pass:
        E001 20: promt: "Now
        E005 21: context: [draft, notes
        E002 22: let y = session "C:\dir"
        E108 23: else if **maybe**:
        E109 24: session 'Wait'
        E005 25: else
        E105 28: try:
        E005 33: option Left:
        W102 35: session "Stray"
        E005 36: option "Right"
        E104 39: else:
        E001 42: loop until **done (max: 3):
        E003 43: session
        E107 44: foo bar
        E023 45: output = 5
    "#]],
    );
}

#[test]
fn mistakes_in_literals_are_found_once() {
    check_mistakes(
        "literals",
        expect![[r#"
            E001 1: let a = "never closed
            E002 2: let b = "bad \escape"
            E001 4: prompt: """
            E112 12: retry: 0
            E001 14: if **never closed:
            E109 20: session 'single'
            E108 22: session "one" with { context: a }
            E108 23: session "two":
            E110 25: // a comment
            E115 26: let report_{x} = 3
            E004 31: conttext b
        "#]],
    );
}

#[test]
fn mistakes_in_the_layout_are_found_once() {
    check_mistakes(
        "layout",
        expect![[r#"
            E101 1: session "Indented first"
            E102 4: session "Two"
            E103 7: prompt: "Tab"
            E101 9: session "Deeper"
            E005 11: parallel (count 3):
            E004 13: b == 3
            E108 14: for (x in xs):
            E004 18: | each:
            E005 21: 2 3,
            E004 22: @
            E005 24: do f(a, (b, c]
            E114 25: break
            E106 27: use alice/research
            E108 28: import "a"
            E116 29: items | each: session "x"
        "#]],
    );
}

#[test]
fn garbage_in_one_line_changes_nothing_elsewhere() {
    let mut failures = String::new();
    for program in programs::all() {
        let original = Original::new(&program.text);
        for line in original.replaceable() {
            for garbage in GARBAGE {
                if let Some(Violation { hidden, created, .. }) = original.violation(line, garbage) {
                    let code = original.lines.get(line);
                    failures.push_str(&format!(
                        "{}:{}: {garbage:?} for {code:?}\n  hides {hidden:?}\n  creates {created:?}\n",
                        program.name,
                        line + 1
                    ));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

/// Replaces each line that starts with `line` by each garbage.
#[track_caller]
fn check_line(text: &str, line: &str, garbage: &[&str]) {
    let original = Original::new(text);
    let found =
        original.replaceable().find(|&at| original.lines.get(at).trim_start().starts_with(line)).unwrap();
    for garbage in garbage {
        if let Some(violation) = original.violation(found, garbage) {
            panic!("{garbage:?} for {line:?}: {violation:#?}");
        }
    }
}

#[test]
fn every_clause_below_a_lost_statement_is_spared() {
    let text = "try:\n  session \"a\"\ncatch:\n  session \"b\"\nfinally:\n  session \"c\"\n";
    check_line(text, "try", GARBAGE);
    check_line(text, "catch", GARBAGE);
    let text = "if **a**:\n  session \"a\"\nelif **b**:\n  session \"b\"\nelse:\n  session \"c\"\n";
    check_line(text, "if", GARBAGE);
    check_line(text, "elif", GARBAGE);
}

#[test]
fn a_mistake_inside_a_statement_hides_none_of_the_next() {
    check_line(
        "repeat 2:\n  session \"a\"\n  session \"b\"\nelse:\n  session \"c\"\n",
        "session \"b\"",
        GARBAGE,
    );
    check_line("try:\n  session \"a\"\nif **b**:\n  session \"c\"\n", "session \"c\"", GARBAGE);
}

#[test]
fn text_that_has_lost_its_opening_quotes_does_not_move_the_lines_below() {
    let text = "block a:\n  session \"a\"\n    prompt: \"\"\"\nAt column 0:\n- one\n\"\"\"\n    context: x\n\n  parallel:\n    \
                session \"b\"\n  session \"c\"\n";
    check_line(text, "prompt", GARBAGE);
    check_line(text, "\"\"\"", GARBAGE);
}

#[test]
fn text_that_has_lost_its_closing_quotes_ends_before_the_next_literal() {
    let text = "input a: \"\"\"\n  Text.\n\"\"\"\n\nlet b = session: c\n  prompt: \"\"\"\n    More.\n  \"\"\"\n  retry: 0\n\
                let d = session: c\n  prompt: \"\"\"\n    More.\n  \"\"\"\n";
    check_line(text, "\"\"\"", GARBAGE);
    check_line(text, "input", GARBAGE);
}

#[test]
fn a_stray_marker_does_not_reach_the_bold_words_of_a_prompt() {
    let text = "session \"a\"\nlet = 1\nsession \"b\"\n  prompt: \"\"\"\n    Some **bold** words\n    and ***more***.\n  \"\"\"\n";
    check_line(text, "session \"a\"", GARBAGE);
}

#[test]
fn a_lost_loop_keeps_its_break() {
    check_line("loop:\n  if **a**:\n    break\n  else:\n    continue\n", "loop", GARBAGE);
}

#[test]
fn a_stray_marker_does_not_reach_the_paths_of_a_permission() {
    let text = "agent a:\n  permissions:\n    bash: deny\n    read: [\"a/**\", \"b/**\"]\nlet = 1\n";
    check_line(text, "permissions", GARBAGE);
}

#[test]
fn a_list_in_a_text_that_has_lost_its_quotes_opens_no_block() {
    let text = "block a:\n  session \"a\"\n    prompt: \"\"\"\n1. Write this:\n   one\n2. Write that.\n\"\"\"\n  session \"b\"\nlet = 1\n";
    check_line(text, "prompt", GARBAGE);
    check_line(text, "2.", GARBAGE);
}

#[test]
fn a_stray_marker_does_not_reach_the_quotes_of_the_prompt_below() {
    let text = "session: other\n  prompt: \"\"\"\nColumn 0.\n\"\"\"\n  context: b\nlet = 1\n";
    check_line(text, "session", &["@@ and **", "@@ prompt: ***"]);
    let text = "a = resume: b\n  prompt: \"\"\"Improve it.\nMind these points:\n- one\"\"\"\n  context: b\nlet = 1\n";
    check_line(text, "a =", &["@@ ?**", "@@ and ***"]);
}
