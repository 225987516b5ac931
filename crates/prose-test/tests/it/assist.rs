//! What is completed and documented in test files: keys and values of the table of keys, and names of the program.

use std::path::Path;

use expect_test::{Expect, expect};
use prose_syntax::TextSize;
use prose_test::Subject;
use prose_test::assist::{ProposalKind, completions, hover};

const PROGRAM: &str = r#"input change: "What has changed"
input go: "Ship it? (yes/no)"
agent critic:
  prompt: "You review changes."
let notes = session: critic
  prompt: "Review {change}"
repeat 2:
  session "Count to ten"
if **the notes approve the change**:
  output verdict = "approved"
else:
  output verdict = session "Explain what to change"
"#;

/// The text without the cursor `$0`, and where that was.
fn cursor(text: &str) -> (String, TextSize) {
    let at = text.find("$0").expect("the text has a cursor");
    (text.replacen("$0", "", 1), TextSize::try_from(at).unwrap())
}

fn subject() -> Subject {
    Subject::of_text(Path::new("/review.prose"), PROGRAM)
}

/// Compares what can be written at `$0`: what is replaced, and what with. Whole headers are left out.
#[track_caller]
fn check(text: &str, expected: Expect) {
    let (text, at) = cursor(text);
    let found = completions(&text, at, Some(&subject().program));
    let shown = found.iter().filter(|proposal| !proposal.text.starts_with('['));
    let lines = shown.map(|proposal| {
        let kind = match proposal.kind {
            ProposalKind::Key => "key",
            ProposalKind::Header => "header",
            ProposalKind::Value => "value",
            ProposalKind::Name => "name",
        };
        let replaced = &text[std::ops::Range::<usize>::from(proposal.range)];
        format!("{kind} {replaced:?} -> {:?}\n", proposal.text)
    });
    expected.assert_eq(&lines.collect::<String>());
}

#[track_caller]
fn check_hover(text: &str, expected: Expect) {
    let (text, at) = cursor(text);
    let shown = match hover(&text, at, Some(&subject().program)) {
        Some((range, about)) => format!("{}: {about}", &text[std::ops::Range::<usize>::from(range)]),
        None => "nothing".to_owned(),
    };
    expected.assert_eq(&shown);
}

#[test]
fn keys_that_are_not_there_yet_are_completed() {
    check(
        "$0",
        expect![[r#"
        key "" -> "program = "
    "#]],
    );
    check(
        "[[case]]\nname = \"a\"\nre$0\nskip = \"b\"\n",
        expect![[r#"
        key "re" -> "at-least = "
        key "re" -> "expect"
        key "re" -> "harness = "
        key "re" -> "inputs"
        key "re" -> "matrix"
        key "re" -> "max-cost = "
        key "re" -> "model = "
        key "re" -> "recorded = "
        key "re" -> "repeat = "
        key "re" -> "timeout = "
        key "re" -> "unmatched = "
    "#]],
    );
}

#[test]
fn whole_headers_are_completed_where_a_line_is_empty() {
    let found = completions("[[case]]\n", TextSize::of("[[case]]\n"), None);
    let headers = found.iter().filter(|proposal| proposal.kind == ProposalKind::Header);
    let headers: Vec<&str> = headers.map(|proposal| proposal.text.as_str()).collect();
    expect![[r#"
        [[case]]
        [[case.choice]]
        [[case.condition]]
        [case.expect]
        [case.expect.outputs]
        [[case.expect.session]]
        [case.expect.session.context]
        [[case.extract]]
        [[case.input]]
        [case.inputs]
        [case.matrix]
        [case.matrix.inputs]
        [[case.memory]]
        [[case.session]]
        [[case.summary]]"#]]
    .assert_eq(&headers.join("\n"));
}

#[test]
fn headers_are_completed_part_by_part() {
    check(
        "[[$0]]\n",
        expect![[r#"
        header "" -> "case"
    "#]],
    );
    check(
        "[[case]]\n[[case.$0",
        expect![[r#"
        header "" -> "choice"
        header "" -> "condition"
        header "" -> "expect"
        header "" -> "extract"
        header "" -> "input"
        header "" -> "matrix"
        header "" -> "memory"
        header "" -> "session"
        header "" -> "summary"
    "#]],
    );
    check(
        "[[case]]\n[case.e$0]\n",
        expect![[r#"
        header "e" -> "expect"
        header "e" -> "inputs"
        header "e" -> "matrix"
    "#]],
    );
}

#[test]
fn keys_are_completed_in_tables_of_every_form() {
    check(
        "[[case]]\n[case.expect]\noutputs.$0\n",
        expect![[r#"
        name "" -> "verdict = "
    "#]],
    );
    check(
        "[[case]]\nexpect.sessions = { $0 }\n",
        expect![[r#"
        key "" -> "count = "
        key "" -> "names = "
        key "" -> "never = "
        key "" -> "order = "
    "#]],
    );
    check(
        "[[case]]\nexpect.outputs.verdict = { contains = \"a\", ma$0 = \"b\" }\n",
        expect![[r#"
        key "ma" -> "equals"
        key "ma" -> "excludes"
        key "ma" -> "judge"
        key "ma" -> "matches"
        key "ma" -> "schema"
    "#]],
    );
    check(
        "[[case]]\n[case.inputs]\n$0\n",
        expect![[r#"
        name "" -> "change = "
        name "" -> "go = "
    "#]],
    );
    check(
        "[[case]]\n[[case.condition]]\n$0\n",
        expect![[r#"
        key "" -> "activity = "
        key "" -> "delay = "
        key "" -> "fail = "
        key "" -> "kind = "
        key "" -> "label = "
        key "" -> "met = "
        key "" -> "no-progress = "
        key "" -> "order = "
        key "" -> "pattern = "
        key "" -> "place = "
        key "" -> "reason = "
        key "" -> "times = "
    "#]],
    );
    check(
        "[[case]]\n[case.expect.iterations]\n$0",
        expect![[r#"
        name "" -> "\"repeat 2\" = "
        key "" -> "at-least = "
        key "" -> "at-most = "
    "#]],
    );
}

#[test]
fn values_are_those_of_the_key_and_of_the_program() {
    check(
        "[[case]]\nexpect.status = $0\n",
        expect![[r#"
        value "" -> "\"completed\""
        value "" -> "\"failed\""
        value "" -> "\"interrupted\""
        value "" -> "\"waiting\""
    "#]],
    );
    check(
        "[[case]]\nexpect.status = \"fa$0\nrepeat = 2\n",
        expect![[r#"
        value "\"fa" -> "\"completed\""
        value "\"fa" -> "\"failed\""
        value "\"fa" -> "\"interrupted\""
        value "\"fa" -> "\"waiting\""
    "#]],
    );
    check(
        "[[case]]\n[[case.condition]]\nmet = $0",
        expect![[r#"
        value "" -> "true"
        value "" -> "false"
    "#]],
    );
    check(
        "[[case]]\n[[case.session]]\nagent = \"$0\"\n",
        expect![[r#"
        name "\"\"" -> "\"critic\""
    "#]],
    );
    check(
        "[[case]]\ninputs.go = $0\n",
        expect![[r#"
        name "" -> "\"yes\""
        name "" -> "\"no\""
    "#]],
    );
    check(
        "[[case]]\nexpect.sessions.order = [\"critic\", $0]\n",
        expect![[r#"
        name "" -> "\"notes\""
        name "" -> "\"verdict\""
        name "" -> "\"critic\""
        name "" -> "\"Count to ten\""
        name "" -> "\"Explain what to change\""
    "#]],
    );
    check(
        "[[case]]\nexpect.branches = [\n  $0\n",
        expect![[r#"
        name "" -> "\"**the notes approve the change**\""
        name "" -> "\"else\""
    "#]],
    );
}

#[test]
fn nothing_is_completed_in_comments_and_after_values() {
    check("# $0", expect![[""]]);
    check("[[case]]\nrepeat = 2 # $0\n", expect![[""]]);
    check("[[case]]\nname = \"\"\"\n$0\n\"\"\"\n", expect![[""]]);
    check("[[case]] $0\n", expect![[""]]);
}

#[test]
fn keys_and_names_are_documented() {
    check_hover(
        "[[ca$0se]]\n",
        expect![[r#"
        case: `case`

        The cases, each with its answers and expectations"#]],
    );
    check_hover(
        "[[case]]\n[[case.session]]\nre$0ply = \"a\"\n",
        expect![[r#"
        reply: `case.session.reply`

        The reply, or a list of replies that are given one after another"#]],
    );
    check_hover(
        "[[case]]\n[case.expect]\nsessions = { or$0der = [] }\n",
        expect![[r#"
        order: `case.expect.sessions.order`

        Some of the sessions, in this order; others may come between them"#]],
    );
    check_hover(
        "[[case]]\ninputs.change$0 = \"a\"\n",
        expect!["change: Input `change` of `review.prose`: What has changed"],
    );
    check_hover(
        "[[case]]\nexpect.outputs = { verd$0ict = \"a\" }\n",
        expect!["verdict: Output `verdict` of `review.prose`"],
    );
    check_hover(
        "[[case]]\n[[case.session]]\nagent = \"cri$0tic\"\n",
        expect![[r#""critic": Agent `critic` of `review.prose`"#]],
    );
    check_hover(
        "[[case]]\nexpect.status = \"fai$0led\"\n",
        expect![[r#"
        "failed": `case.expect.status`

        How the run ends; by default, it has to be completed"#]],
    );
    check_hover("[[case]]\nunknown$0 = 1\n", expect!["nothing"]);
    check_hover("[[case]]\n\n$0\n", expect!["nothing"]);
}

/// What is half written must not break it, wherever the cursor is.
#[test]
fn every_place_of_every_beginning_of_a_file_can_be_asked_about() {
    let text = "program = 'a'\n[[case]]\nname = \"ä\"\ninputs = { change = [1, { b = '''c\n''' }] }\n\
                [[case.session]]\nreply = \"\"\"x\"\"\"\n[case.expect]\noutputs.\"v w\".contains = ['a', \"\\\"\"]\n";
    let program = subject().program;
    for end in (0..=text.len()).filter(|end| text.is_char_boundary(*end)) {
        let beginning = &text[..end];
        for at in (0..=end).filter(|at| text.is_char_boundary(*at)) {
            let at = TextSize::try_from(at).unwrap();
            for proposal in completions(beginning, at, Some(&program)) {
                assert!(proposal.range.contains_inclusive(at), "{beginning:?} {at:?} {proposal:?}");
            }
            hover(beginning, at, None);
        }
    }
}
