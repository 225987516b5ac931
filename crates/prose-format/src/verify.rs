//! Checks that two programs differ only in layout.

use prose_syntax::Parse;
use prose_syntax::SyntaxKind::{self, *};
use rowan::{Children, GreenNodeData, NodeOrToken};

/// Whether the trees have the same nodes, tokens and comments in the same order. Layout does not count, nor does a comma before the
/// end of a list.
pub(crate) fn is_same_program(a: &Parse, b: &Parse) -> bool {
    let (mut a, mut b) = (Signs::of(a.green()), Signs::of(b.green()));
    loop {
        match (a.next(), b.next()) {
            (None, None) => return a.comments == b.comments,
            (x, y) if x != y => return false,
            _ => {}
        }
    }
}

/// Whether the diagnostics are the same, regardless of their positions.
pub(crate) fn has_same_mistakes(a: &Parse, b: &Parse) -> bool {
    // Tabs in the indentation are the one mistake that layout fixes.
    let codes = |parse: &Parse| {
        let codes = parse.diagnostics().iter().map(|found| found.code);
        codes.filter(|code| code.as_str() != TABS).collect::<Vec<_>>()
    };
    codes(a) == codes(b)
}

/// The code of tabs in the indentation.
pub(crate) const TABS: &str = "E103";

/// The beginning or the end of a node, or a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign<'a> {
    Enter(SyntaxKind),
    Leave,
    Token(SyntaxKind, &'a str),
}

/// What a tree is made of, without its layout.
struct Signs<'a> {
    root: Option<&'a GreenNodeData>,
    /// The nodes around the place at hand, from outside to inside, each with the children that are still to come.
    open: Vec<Children<'a>>,
    /// A sign after a comma, which had to be looked at first.
    next: Option<Sign<'a>>,
    tokens: usize,
    /// Each comment with the number of tokens before it; which node it is in means nothing.
    comments: Vec<(usize, &'a str)>,
}

impl<'a> Signs<'a> {
    fn of(root: &'a GreenNodeData) -> Self {
        Self { root: Some(root), open: Vec::new(), next: None, tokens: 0, comments: Vec::new() }
    }

    /// The next sign; a comma counts.
    fn advance(&mut self) -> Option<Sign<'a>> {
        if let Some(root) = self.root.take() {
            self.open.push(root.children());
            return Some(Sign::Enter(SyntaxKind::from(root.kind())));
        }
        loop {
            match self.open.last_mut()?.next() {
                None => {
                    self.open.pop();
                    return Some(Sign::Leave);
                }
                Some(NodeOrToken::Node(node)) => {
                    self.open.push(node.children());
                    return Some(Sign::Enter(SyntaxKind::from(node.kind())));
                }
                Some(NodeOrToken::Token(token)) => match SyntaxKind::from(token.kind()) {
                    COMMENT => self.comments.push((self.tokens, token.text().trim_end())),
                    kind if kind.is_trivia() => {}
                    kind => return Some(Sign::Token(kind, token.text())),
                },
            }
        }
    }
}

impl<'a> Iterator for Signs<'a> {
    type Item = Sign<'a>;

    fn next(&mut self) -> Option<Sign<'a>> {
        let sign = self.next.take().or_else(|| self.advance())?;
        let Sign::Token(kind, _) = sign else { return Some(sign) };
        if kind == COMMA {
            // A comment after the comma must not be counted with it before it is known whether that counts.
            let seen = self.comments.len();
            let next = self.advance();
            if matches!(next, Some(Sign::Token(R_PAREN | R_BRACKET | R_BRACE, _))) {
                self.tokens += 1;
                return next;
            }
            self.next = next;
            self.comments[seen..].iter_mut().for_each(|(tokens, _)| *tokens += 1);
        }
        self.tokens += 1;
        Some(sign)
    }
}
