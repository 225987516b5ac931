//! The inside of strings and discretions.

use super::{AstNode, NameRef, children, nodes, token};
use crate::{SyntaxKind, SyntaxToken, TextRange};

nodes! {
    /// A string of either kind
    Str = STRING
    /// `**condition**` or `***condition***`
    Discretion = DISCRETION
    /// `{name}`, `{a.b[0]}` inside a string or a discretion
    Interpolation = INTERPOLATION
}

/// A piece of a string or a discretion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Literal text.
    Text(SyntaxToken),
    /// An escape such as `\n`.
    Escape(SyntaxToken),
    /// A reference in braces.
    Interpolation(Interpolation),
}

/// What strings and discretions have in common.
pub trait Template: AstNode {
    /// The pieces in order, without the marks at both ends.
    fn parts(&self) -> impl Iterator<Item = Part> {
        self.syntax().children_with_tokens().filter_map(|child| match child {
            rowan::NodeOrToken::Node(node) => Interpolation::cast(node).map(Part::Interpolation),
            rowan::NodeOrToken::Token(token) => match token.kind() {
                SyntaxKind::TEXT => Some(Part::Text(token)),
                SyntaxKind::ESCAPE => Some(Part::Escape(token)),
                _ => None,
            },
        })
    }

    /// The text with escapes replaced; interpolations stand as they are written.
    fn text(&self) -> String {
        self.parts()
            .map(|part| match part {
                Part::Text(token) => token.text().to_owned(),
                Part::Escape(token) => unescape(token.text()).to_owned(),
                Part::Interpolation(node) => node.syntax().text().to_string(),
            })
            .collect()
    }

    /// The range between the marks.
    fn content_range(&self) -> TextRange {
        let is_mark = |token: &SyntaxToken| {
            matches!(token.kind(), SyntaxKind::QUOTE | SyntaxKind::TRIPLE_QUOTE | SyntaxKind::DISCRETION_MARK)
        };
        let range = self.syntax().text_range();
        let first = self.syntax().first_token().filter(is_mark);
        let start = first.as_ref().map_or(range.start(), |mark| mark.text_range().end());
        let last = self.syntax().last_token().filter(is_mark).filter(|last| Some(last) != first.as_ref());
        TextRange::new(start, last.map_or(range.end(), |mark| mark.text_range().start()))
    }
}

impl Template for Str {}
impl Template for Discretion {}

/// What an escape such as `\n` stands for.
pub fn unescape(escape: &str) -> &str {
    match escape {
        "\\n" => "\n",
        "\\t" => "\t",
        _ => escape.get(1..).unwrap_or_default(),
    }
}

impl Str {
    /// Whether the string is written between triple quotes.
    pub fn is_triple(&self) -> bool {
        token(self, SyntaxKind::TRIPLE_QUOTE).is_some()
    }
}

impl Interpolation {
    /// The name that is looked up.
    pub fn root(&self) -> Option<NameRef> {
        children(self).next()
    }

    /// The tokens after the root: `.b`, `[0]`, `[i]`.
    pub fn path(&self) -> impl Iterator<Item = SyntaxToken> + use<> {
        self.0
            .descendants_with_tokens()
            .filter_map(|child| child.into_token())
            .filter(|token| !matches!(token.kind(), SyntaxKind::L_BRACE | SyntaxKind::R_BRACE))
            .skip(1)
    }
}
