//! Shows a tree so that it can be read: a node a line, with its own tokens; trivia is left out.

use expect_test::Expect;
use prose_syntax::{NodeOrToken, SyntaxKind, SyntaxNode, parse};

/// Parses the text, which has no diagnostics, and compares its tree. A newline after the opening quote does not count.
#[track_caller]
pub(crate) fn check(text: &str, expect: Expect) {
    let text = text.strip_prefix('\n').unwrap_or(text);
    let parse = parse(text);
    let errors: Vec<_> =
        parse.diagnostics().iter().filter(|found| found.code.as_str().starts_with('E')).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    assert_eq!(parse.syntax().text().to_string(), text);
    expect.assert_eq(&outline(&parse.syntax()));
}

/// The tree as indented lines.
pub(crate) fn outline(root: &SyntaxNode) -> String {
    let mut lines = String::new();
    node(root, 0, &mut lines);
    lines
}

fn node(of: &SyntaxNode, depth: usize, lines: &mut String) {
    lines.push_str(&format!("{:1$}{2:?}", "", depth * 2, of.kind()));
    let mut on_own_line = true;
    for child in of.children_with_tokens() {
        match child {
            NodeOrToken::Token(token)
                if matches!(token.kind(), SyntaxKind::WHITESPACE | SyntaxKind::NEWLINE) => {}
            NodeOrToken::Token(token) if on_own_line => lines.push_str(&format!(" {:?}", token.text())),
            NodeOrToken::Token(token) => {
                lines.push_str(&format!("{:1$}{2:?}", "", depth * 2 + 2, token.text()));
                on_own_line = true;
            }
            NodeOrToken::Node(child) => {
                if on_own_line {
                    lines.push('\n');
                }
                node(&child, depth + 1, lines);
                on_own_line = false;
            }
        }
    }
    if on_own_line {
        lines.push('\n');
    }
}
