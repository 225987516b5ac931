//! The formatter keeps what the makers of the language publish: the same program, and hardly another text.

use prose_format::format;
use prose_syntax::{NodeOrToken, SyntaxKind, WalkEvent, parse};
use prose_tests::official_files;

#[test]
#[ignore = "needs the official programs"]
fn they_stay_the_same_programs() {
    let mut changed = 0;
    let mut lines = 0;
    for (name, text) in official_files("prose") {
        let formatted = format(&text);
        assert_eq!(shape(&formatted), shape(&text), "{name}");
        assert_eq!(format(&formatted), formatted, "{name}");
        let found = |text: &str| parse(text).diagnostics().iter().map(|found| found.code).collect::<Vec<_>>();
        assert_eq!(found(&formatted), found(&text), "{name}");
        let kept: std::collections::HashSet<&str> = text.lines().collect();
        changed += formatted.lines().filter(|line| !kept.contains(line)).count();
        lines += formatted.lines().count();
    }
    // Their style is the style: where the formatter would change more than a few lines, it is the formatter that is wrong.
    assert!(lines > 5_000 && changed * 100 < lines, "{changed} of {lines} lines changed");
}

/// The nodes and the tokens, without layout.
fn shape(text: &str) -> Vec<(SyntaxKind, String)> {
    let mut shape: Vec<(SyntaxKind, String)> = Vec::new();
    for event in parse(text).syntax().preorder_with_tokens() {
        match event {
            WalkEvent::Enter(NodeOrToken::Node(node)) => shape.push((node.kind(), String::new())),
            WalkEvent::Enter(NodeOrToken::Token(token)) if !token.kind().is_trivia() => {
                let is_end =
                    matches!(token.kind(), SyntaxKind::R_PAREN | SyntaxKind::R_BRACKET | SyntaxKind::R_BRACE);
                // A comma before the end of a list is layout.
                shape.pop_if(|(kind, _)| is_end && *kind == SyntaxKind::COMMA);
                shape.push((token.kind(), token.text().to_owned()));
            }
            _ => {}
        }
    }
    shape
}
