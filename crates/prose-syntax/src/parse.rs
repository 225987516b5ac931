//! The result of parsing a text.

use rowan::{GreenNode, TextRange};

use crate::parser::Parser;
use crate::{Diagnostic, SyntaxNode};
use crate::{ast, grammar, layout, lexer};

/// The result of parsing one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parse {
    pub(crate) green: GreenNode,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// For each literal whose end depends on text after it: its start, and how far the text was looked at. An edit there may
    /// move its end.
    pub(crate) lookaheads: Vec<TextRange>,
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

/// Parses a file, or some top-level statements of one. Files of 4 GiB and more are the caller's to refuse, since positions are
/// 32 bits wide.
pub fn parse(text: &str) -> Parse {
    let tokens = lexer::lex(text);
    let mut layout = layout::lay_out(text, &tokens);
    let mut parser = Parser::new(text, &tokens, &mut layout);
    grammar::source_file(&mut parser);
    let (green, mut diagnostics, mut lookaheads) = parser.into_parts();
    // Layout and grammar report in passes of their own. The sort is stable, so those at one place keep their order.
    diagnostics.sort_by_key(|diagnostic| diagnostic.range.start());
    lookaheads.extend_from_slice(&tokens.lookaheads);
    lookaheads.sort_by_key(|looked| looked.start());
    Parse { green, diagnostics, lookaheads }
}
