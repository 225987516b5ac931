//! The tree-sitter grammar reads programs as the parser does: it finds the same statements and properties in them.

use std::collections::BTreeSet;
use std::fs;

use expect_test::expect;
use prose_syntax::SyntaxKind::{BLOCK, ERROR, PROPERTY, SOURCE_FILE};
use prose_syntax::{NodeOrToken, Severity, SyntaxNode, SyntaxToken, codes, keywords, properties};
use prose_tests::{official_files, repository};
use tree_sitter::{Node, Parser, Tree};

fn parser() -> Parser {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_prose::LANGUAGE.into()).unwrap();
    parser
}

fn parse(text: &str) -> Tree {
    parser().parse(text, None).unwrap()
}

/// The ranges of all statements and properties, as `prose-syntax` has them.
fn expected(text: &str) -> BTreeSet<(usize, usize)> {
    let tree = prose_syntax::parse(text).syntax();
    let is_statement = |node: &SyntaxNode| {
        node.kind() == PROPERTY
            || (!matches!(node.kind(), ERROR | BLOCK)
                && node.parent().is_some_and(|parent| matches!(parent.kind(), SOURCE_FILE | BLOCK)))
    };
    tree.descendants().filter(is_statement).map(|node| code_range(&node)).collect()
}

/// The range of a node without the comments at its end.
fn code_range(node: &SyntaxNode) -> (usize, usize) {
    let code = |token: &SyntaxToken| !token.kind().is_trivia() && !token.text().is_empty();
    let tokens = node.descendants_with_tokens().filter_map(NodeOrToken::into_token);
    let end = tokens.filter(code).last().map_or(node.text_range().end(), |last| last.text_range().end());
    (node.text_range().start().into(), end.into())
}

/// The same as the grammar has them.
fn found(tree: &Tree) -> BTreeSet<(usize, usize)> {
    let mut ranges = BTreeSet::new();
    for_each(tree.root_node(), &mut |node| {
        let parent = node.parent().map_or("", |parent| parent.kind());
        let is_listed =
            matches!(parent, "source_file" | "block") && !matches!(node.kind(), "comment" | "block");
        if node.is_named() && !node.is_error() && (is_listed || node.kind() == "property") {
            ranges.insert((node.start_byte(), node.end_byte()));
        }
    });
    ranges
}

fn for_each(node: Node<'_>, see: &mut impl FnMut(Node<'_>)) {
    see(node);
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        for_each(child, see);
    }
}

/// What the grammar finds wrong in a text, and where it differs from the parser.
fn differences(name: &str, text: &str) -> String {
    let tree = parse(text);
    let mut shown = String::new();
    let at = |byte: usize| text[..byte].matches('\n').count() + 1;
    for_each(tree.root_node(), &mut |node| {
        if node.is_error() || node.is_missing() {
            shown.push_str(&format!(
                "{name}:{}: {} {:?}\n",
                at(node.start_byte()),
                node,
                &text[node.byte_range()]
            ));
        }
    });
    let (expected, found) = (expected(text), found(&tree));
    for (which, ranges) in
        [("missing", expected.difference(&found)), ("superfluous", found.difference(&expected))]
    {
        for &(start, end) in ranges {
            shown.push_str(&format!("{name}:{}: {which} {:?}\n", at(start), &text[start..end]));
        }
    }
    shown
}

#[track_caller]
fn check<'a>(programs: impl IntoIterator<Item = (String, &'a str)>) {
    let mut shown = String::new();
    let mut count = 0;
    for (name, text) in programs {
        assert!(!expected(text).is_empty() || text.trim().is_empty(), "{name} has no statements");
        shown.push_str(&differences(&name, text));
        count += 1;
    }
    assert!(shown.is_empty(), "{shown}");
    assert!(count > 0, "there is no program");
}

/// The examples that are no lesson in mistakes.
fn examples() -> Vec<(String, String)> {
    let mut programs = Vec::new();
    for folder in ["examples", "examples/library", "crates/prose-syntax/tests/programs"] {
        for entry in fs::read_dir(repository().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if name.ends_with(".prose") {
                programs.push((name, fs::read_to_string(path).unwrap()));
            }
        }
    }
    programs.sort();
    programs
}

#[test]
fn the_grammar_finds_the_statements_of_the_examples() {
    let examples = examples();
    assert!(examples.len() >= 16, "{examples:?}");
    let sound = examples.iter().filter(|(name, _)| name != "mistakes.prose");
    check(sound.map(|(name, text)| (name.clone(), text.as_str())));
}

/// The lesson in mistakes: behind each of them the grammar finds its way back. It guesses no misspelt keyword.
#[test]
fn the_grammar_finds_its_way_between_mistakes() {
    let text = fs::read_to_string(repository().join("examples/mistakes.prose")).unwrap();
    let (expected, found) = (expected(&text), found(&parse(&text)));
    let missing: Vec<&str> =
        expected.difference(&found).map(|&(start, end)| text[start..end].lines().next().unwrap()).collect();
    expect![[r#"
        [
            "outptu result = draft",
        ]
    "#]]
    .assert_debug_eq(&missing);
}

#[test]
fn a_difference_is_found() {
    let shown = differences("", "let a = 1\nlet = 2\n");
    assert!(shown.contains(":2: ") && !shown.contains(":1: "), "{shown}");
}

#[test]
fn the_grammar_finds_the_statements_of_the_reference() {
    check(keywords::REFERENCE.iter().map(|keyword| (format!("`{}`", keyword.text()), keyword.example)));
    let properties = properties::PROPERTIES.iter().chain(properties::PERMISSIONS);
    check(properties.map(|property| (format!("`{}`", property.name), property.example)));
}

#[test]
fn the_grammar_finds_the_statements_of_the_lessons_of_diagnostics() {
    let lessons = codes::Code::ALL.iter().map(|code| (format!("{code}"), code.info().right));
    check(lessons.filter(|(_, text)| is_sound(text)));
}

fn is_sound(text: &str) -> bool {
    prose_syntax::parse(text).diagnostics().iter().all(|diagnostic| diagnostic.severity() != Severity::Error)
}

#[test]
#[ignore = "needs the official programs, see tests/fetch-official-programs"]
fn the_grammar_finds_the_statements_of_the_official_documents() {
    let mut programs = Vec::new();
    for (name, document) in official_files("md") {
        for (index, fenced) in document.split("\n```prose\n").enumerate().skip(1) {
            let text =
                fenced.split_inclusive('\n').take_while(|line| !line.starts_with("```")).collect::<String>();
            programs.push((format!("{name}, program {index}"), text));
        }
    }
    let sound = programs.iter().filter(|(_, text)| is_sound(text));
    let sound: Vec<_> = sound.map(|(name, text)| (name.clone(), text.as_str())).collect();
    assert!(sound.len() >= 200, "{} programs", sound.len());
    check(sound);
}

#[test]
#[ignore = "needs the official programs, see tests/fetch-official-programs"]
fn the_grammar_finds_the_statements_of_the_official_programs() {
    let programs = official_files("prose");
    assert!(programs.len() >= 60, "{} programs", programs.len());
    check(programs.iter().map(|(name, text)| (name.clone(), text.as_str())));
}
