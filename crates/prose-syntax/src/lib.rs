//! The OpenProse language as text: lexer, layout, parser, lossless tree, typed AST and syntax diagnostics.
//!
//! Parsing never fails: [`parse`] returns a tree whose text is the input, byte for byte, and the diagnostics found on the way.

pub mod ast;
#[doc(hidden)]
pub mod bench;
pub mod braces;
pub mod chains;
pub mod codes;
mod diagnostic;
pub mod fix;
mod grammar;
pub mod keywords;
mod layout;
mod lexer;
mod lines;
mod literals;
pub mod names;
pub mod options;
mod parser;
pub mod properties;
mod reparse;
mod severity;
pub mod suggest;
mod syntax_kind;
pub mod text;

pub use codes::{Code, Level, Profile, Tag};
pub use diagnostic::{Diagnostic, Fix, FixSafety, NameRole, Related, TextEdit, UndecidedName};
pub use lines::LineIndex;
pub use rowan::{NodeOrToken, TextRange, TextSize, TokenAtOffset, WalkEvent};
pub use severity::Severity;
pub use syntax_kind::{KEYWORDS, ProseLanguage, SyntaxElement, SyntaxKind, SyntaxNode, SyntaxToken};

/// The result of parsing one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parse {
    green: rowan::GreenNode,
    diagnostics: Vec<Diagnostic>,
    /// For each literal whose end depends on text after it: its start, and how far the text was looked at. An edit there may
    /// move its end.
    lookaheads: Vec<TextRange>,
}

impl Parse {
    /// The root of the tree, of kind `SOURCE_FILE`.
    pub fn syntax(&self) -> SyntaxNode {
        SyntaxNode::new_root(self.green.clone())
    }

    /// The root without places, as it is shared between a parse and the one after an edit.
    pub fn green(&self) -> &rowan::GreenNodeData {
        &self.green
    }

    /// The typed view of the root.
    pub fn tree(&self) -> ast::SourceFile {
        ast::AstNode::cast(self.syntax()).expect("the root is a source file: the parser starts no other")
    }

    /// The syntax diagnostics, sorted by position.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }
}

/// Parses a file. Files of 4 GiB and more are the caller's to refuse, since positions are 32 bits wide.
pub fn parse(text: &str) -> Parse {
    let parser::Parsed { green, diagnostics, lookaheads } = parser::parse(text);
    Parse { green, diagnostics, lookaheads }
}
