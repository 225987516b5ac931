//! Whether two programs are the same but for their layout.

use prose_syntax::SyntaxKind::{self, *};
use prose_syntax::{NodeOrToken, Parse, SyntaxNode, SyntaxToken, WalkEvent};

/// Whether the trees have the same nodes, tokens and comments in the same order. Layout does not count, nor does a comma before the
/// end of a list.
pub(crate) fn is_same_program(a: &SyntaxNode, b: &SyntaxNode) -> bool {
    signs(a).eq(signs(b)) && comments(a).eq(comments(b))
}

/// Whether the mistakes are the same, wherever they are.
pub(crate) fn has_same_mistakes(a: &Parse, b: &Parse) -> bool {
    let codes = |parse: &Parse| parse.diagnostics().iter().map(|found| found.code).collect::<Vec<_>>();
    // Tabs in the indentation are the one mistake that layout mends.
    let mut before = codes(a);
    before.retain(|code| code.as_str() != TABS);
    let mut after = codes(b);
    after.retain(|code| code.as_str() != TABS);
    before == after
}

/// The code of tabs in the indentation.
pub(crate) const TABS: &str = "E103";

#[derive(PartialEq, Eq)]
enum Sign {
    Enter(SyntaxKind),
    Leave,
    Token(SyntaxKind, Box<str>),
}

fn signs(root: &SyntaxNode) -> impl Iterator<Item = Sign> {
    let mut events = root.preorder_with_tokens().peekable();
    std::iter::from_fn(move || {
        loop {
            match events.next()? {
                WalkEvent::Enter(NodeOrToken::Node(node)) => return Some(Sign::Enter(node.kind())),
                WalkEvent::Leave(NodeOrToken::Node(_)) => return Some(Sign::Leave),
                WalkEvent::Enter(NodeOrToken::Token(token)) => {
                    if counts(&token) {
                        return Some(Sign::Token(token.kind(), token.text().into()));
                    }
                }
                WalkEvent::Leave(NodeOrToken::Token(_)) => {}
            }
        }
    })
}

/// Whether the token is part of the program, and no layout.
fn counts(token: &SyntaxToken) -> bool {
    let kind = token.kind();
    !kind.is_trivia() && (kind != COMMA || !is_trailing(token))
}

fn is_trailing(comma: &SyntaxToken) -> bool {
    let mut next = comma.next_sibling_or_token();
    while let Some(element) = next {
        match element.kind() {
            kind if kind.is_trivia() => next = element.next_sibling_or_token(),
            kind => return matches!(kind, R_PAREN | R_BRACKET | R_BRACE),
        }
    }
    false
}

/// The comments, each with the number of tokens before it.
fn comments(root: &SyntaxNode) -> impl Iterator<Item = (usize, String)> {
    let mut count = 0;
    root.descendants_with_tokens().filter_map(NodeOrToken::into_token).filter_map(move |token| {
        let kind = token.kind();
        if kind == COMMENT {
            return Some((count, token.text().trim_end().to_owned()));
        }
        count += usize::from(counts(&token));
        None
    })
}
