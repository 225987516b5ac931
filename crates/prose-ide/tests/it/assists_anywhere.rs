//! Whatever is selected in a program, no assist that is offered brings an error, and those that say the same in another way say the same.

use std::path::Path;

use crate::support::offered::{analysed, offered};
use crate::support::{official_programs, samples, with_names};
use proptest::prelude::*;
use prose_analysis::diagnostics::diagnostics;
use prose_ide::{assists, organize_uses};
use prose_syntax::ast::{AstNode, Str, Template};
use prose_syntax::{Fix, Severity, SyntaxKind, TextRange, TextSize, fix, parse};

/// The codes of the errors, sorted.
fn errors(text: &str) -> Vec<&'static str> {
    let (host, file) = analysed(text);
    let found = diagnostics(host.db(), file).iter();
    let errors = found.filter(|found| found.severity() == Severity::Error);
    let mut codes: Vec<&str> = errors.map(|found| found.code.as_str()).collect();
    codes.sort_unstable();
    codes
}

/// What a program says, without layout and comments: its words, in which arrow chains and the statements that they stand for are the same, and texts
/// are what they say.
fn model(text: &str) -> Vec<String> {
    let root = parse(text).syntax();
    let mut model = Vec::new();
    let mut uses = Vec::new();
    let mut events = root.preorder_with_tokens();
    while let Some(event) = events.next() {
        let prose_syntax::WalkEvent::Enter(element) = event else { continue };
        match element {
            prose_syntax::NodeOrToken::Node(node) if node.kind() == SyntaxKind::STRING => {
                model.extend(Str::cast(node).map(|string| said(&string)));
                events.skip_subtree();
            }
            prose_syntax::NodeOrToken::Node(node) if node.kind() == SyntaxKind::USE => {
                uses.push(node.to_string().split_whitespace().collect());
                events.skip_subtree();
            }
            prose_syntax::NodeOrToken::Token(token) if !token.kind().is_trivia() => {
                model.push(token.text().to_owned());
            }
            _ => {}
        }
    }
    uses.sort();
    uses.extend(model.into_iter().filter(|word| word != "->"));
    uses
}

/// What a string says: one over several lines without its margin.
fn said(string: &Str) -> String {
    let text = string.text().replace("\r\n", "\n");
    let Some((first, rest)) = text.split_once('\n').filter(|_| string.is_triple()) else { return text };
    if !first.trim().is_empty() {
        return text;
    }
    let (rest, _) = rest.rsplit_once('\n').unwrap_or((rest, ""));
    let width = |line: &str| line.len() - line.trim_start().len();
    let margin = rest.lines().filter(|line| !line.trim().is_empty()).map(width).min().unwrap_or(0);
    let lines: Vec<&str> = rest.split('\n').map(|line| line.get(margin..).unwrap_or_default()).collect();
    lines.join("\n")
}

/// The starts of the labels of assists after which the program says the same.
const SAME: &[&str] =
    &["Convert the arrow chain", "Convert the sessions", "Convert to a triple-quoted", "Organize imports"];

/// Assists that undo each other, by the starts of their labels.
const INVERSE: &[(&str, &str)] = &[
    ("Convert the sessions", "Convert the arrow chain"),
    ("Run the sessions concurrently", "Run the branches seq"),
    ("Resume", "Start"),
];

/// A program without what assists do not bring back: blank lines, and which variables are constants.
fn essential(text: &str) -> String {
    let lines = text.lines().map(str::trim_end).filter(|line| !line.is_empty());
    lines.map(|line| line.replacen("const ", "let ", 1) + "\n").collect()
}

/// Whether one of the assists that undo an assist gives the program back; true for one that nothing undoes.
fn is_undone(text: &str, label: &str, after: &str) -> bool {
    let Some((_, inverse)) = INVERSE.iter().find(|(start, _)| label.starts_with(start)) else { return true };
    let mut back = offered(after).into_iter().filter(|assist| assist.label.starts_with(inverse));
    back.any(|assist| {
        let fix = Fix::safe("Assist", assist.edits);
        essential(&fix::apply(after, [&fix]).text) == essential(text)
    })
}

#[track_caller]
fn check_all(text: &str, name: &Path) -> Vec<String> {
    let before = errors(text);
    let comments = |text: &str| {
        let root = parse(text).syntax();
        let tokens = root.descendants_with_tokens().filter_map(|element| element.into_token());
        let comments = tokens.filter(|token| token.kind() == SyntaxKind::COMMENT);
        let mut found: Vec<String> = comments.map(|token| token.text().trim_end().to_owned()).collect();
        found.sort();
        found
    };
    let found = offered(text);
    for assist in &found {
        let context = || format!("{} in {}: {:#?}", assist.label, name.display(), assist.edits);
        let fix = Fix::safe("Assist", assist.edits.clone());
        let applied = fix::apply(text, [&fix]);
        assert_eq!(applied.applied, [0], "the edits overlap or change nothing: {}", context());
        let after = applied.text;
        let mut new = errors(&after);
        for code in &before {
            new.iter().position(|other| other == code).map(|at| new.remove(at));
        }
        assert!(new.is_empty(), "{new:?} after {}\n{after}\nof\n{text}", context());
        let mut added = comments(&after);
        let mut lost = comments(text);
        lost.retain(|comment| {
            added.iter().position(|other| other == comment).map(|at| added.remove(at)).is_none()
        });
        // A block that others call as well stays, with its comments.
        let may_copy = assist.label.starts_with("Inline");
        assert!(lost.is_empty(), "{lost:?} lost after {}\n{after}", context());
        assert!(may_copy || added.is_empty(), "{added:?} added after {}\n{after}", context());
        assert!(is_undone(text, &assist.label, &after), "not undone: {}\n{after}\nof\n{text}", context());
        if let Some(name) = assist.new_name {
            assert!(after[name].starts_with("new_") || after[name].starts_with("error"), "{}", context());
        }
        if SAME.iter().any(|same| assist.label.starts_with(same)) {
            let mut sorted = (model(&after), model(text));
            if assist.label.contains("chain") {
                // The word before the value goes from one end of the chain to the other.
                sorted.0.sort();
                sorted.1.sort();
            }
            assert_eq!(sorted.0, sorted.1, "another program after {}\n{after}", context());
        }
    }
    found.into_iter().map(|assist| assist.label).collect()
}

#[test]
fn assists_of_the_samples_bring_no_errors() {
    let mut labels = Vec::new();
    for (path, text) in samples() {
        labels.extend(check_all(&text, &path));
        labels.extend(check_all(&text.replace('\n', "\r\n"), &path));
    }
    for label in ["Extract a block", "Extract the prompt", "Surround", "Convert to a triple-quoted"] {
        assert!(labels.iter().any(|found| found.starts_with(label)), "{label} is offered nowhere");
    }
}

#[test]
fn a_block_that_stays_keeps_the_comments_that_go_with_its_statements() {
    let text = "block a:\n  session \"x\"  # it\n  # the end\n\nlet x = do a(x)\ndo a\n";
    let labels = check_all(text, Path::new("two calls"));
    assert!(labels.iter().any(|label| label.starts_with("Inline")), "{labels:?}");
}

#[test]
#[ignore = "needs the official programs, see tests/fetch-official-programs"]
fn assists_of_the_official_programs_bring_no_errors() {
    // Each assist takes two analyses of the whole program.
    let programs = official_programs().into_iter().filter(|(_, text)| text.len() < 12_000);
    let count: usize = programs.map(|(path, text)| check_all(&text, &path).len()).sum();
    println!("{count} assists were applied");
    assert!(count > 1000, "only {count} assists were offered");
}

/// Statements that an assist is about, with `A`, `B` and `C` for names.
const STATEMENTS: &[&str] = &[
    "input A: \"about\"\n",
    "let A = session \"Use {B}\"\n",
    "const A = session \"Use it\"  # well\n  retry: 2\n",
    "session \"a\" -> session \"b\" -> session \"{C}\"\n",
    "let A = session \"a\" -> session \"b\"\n",
    "session \"one\\ntwo {A}\"\n",
    "A = session \"{A}\"\n",
    "output A = B\n",
    "let { A, B } = do C(\"x\")\n",
    "parallel:\n  # why\n  A = session \"x\"\n  B = session \"y\"\n  session \"z\"\n",
    "agent A:\n  prompt: \"{B}\"\n  persist: true\n",
    "let A = session: B\n  context: { A, C }\n",
    "resume: A\n",
    "# the block\nblock A(B):\n  # in it\n  let C = session \"{B} {A}\"\n  C = session \"again\"\n  session \"{C}\"\n",
    "block A:\n  let C = session \"x\"\n  output C\n",
    "block A:\n  session \"x\"  # it\n  # the end\n\n",
    "if **{A}**:\n    session \"x\"\n\n    # the end\n",
    "do A(B)\n",
    "let A = do B(C)\n",
    "do A\n",
    "for A, B in C:\n  let C = session \"{A}\"\n  session \"{B} {C}\"\n  do A(B)\n",
    "repeat 3 as A:\n  if **{B}**:  # why\n    break  # now\n  session \"{A} {B}\"\n",
    "loop (max: 3):\n  B = session \"x\"\n  session \"{B}\"\n  if **{B}**:\n    break\n",
    "try:\n  session \"{A}\"\nfinally:\n  session \"{B}\"\n",
    "let A = B | map:\n  session \"{item} {C}\"\n  session \"{item}\"\n",
    "use \"./A.prose\" as A  # it\n",
    "session \"\"\"\n    {A}\n  {B.C}\n\"\"\"\n",
    "if **{A}**:\n  let B = C\n  session \"x\"\nelse:\n  session \"y\"\n  session \"{B}\"\n",
];

fn generated() -> impl Strategy<Value = String> {
    let names = || prop::sample::select(vec!["x", "y", "z", "item"]);
    let statement = (prop::sample::select(STATEMENTS), names(), names(), names());
    prop::collection::vec(statement, 1..8).prop_map(|statements| {
        statements.into_iter().map(|(statement, a, b, c)| with_names(statement, [a, b, c])).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 75, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn assists_of_generated_programs_bring_no_errors(text in generated()) {
        check_all(&text, Path::new("generated"));
        check_all(&text.replace('\n', "\r\n"), Path::new("generated"));
    }

    #[test]
    fn nothing_is_too_broken_for_assists(
        text in generated(),
        at in any::<prop::sample::Index>(),
        piece in prop::sample::select(vec!["", "\"", "\"\"\"", "{", "(", "\n  ", ":", "é", "\t", "->"]),
        ends in any::<(prop::sample::Index, prop::sample::Index)>(),
    ) {
        let mut text = text;
        text.insert_str(at.index(text.len() + 1), piece);
        let (a, b) = (ends.0.index(text.len() + 1), ends.1.index(text.len() + 1));
        let place = |at: usize| TextSize::new(at as u32);
        let (host, file) = analysed(&text);
        assists(host.db(), file, TextRange::new(place(a.min(b)), place(a.max(b))));
        organize_uses(host.db(), file);
    }
}
