//! What the benchmarks measure parsing against. No part of the language.

use rowan::{GreenNode, GreenNodeBuilder};

use crate::lexer;
use crate::syntax_kind::SyntaxKind::*;

/// The number of raw tokens.
pub fn lex(text: &str) -> usize {
    lexer::lex(text).list.len()
}

/// The least that a lossless tree costs: the same tokens in one node a line.
pub fn flat_tree(text: &str) -> GreenNode {
    let tokens = lexer::lex(text);
    let mut builder = GreenNodeBuilder::new();
    builder.start_node(SOURCE_FILE.into());
    builder.start_node(BLOCK.into());
    for (index, token) in tokens.list[..tokens.list.len() - 1].iter().enumerate() {
        builder.token(token.kind.into(), &text[tokens.range(index)]);
        if token.kind == NEWLINE {
            builder.finish_node();
            builder.start_node(BLOCK.into());
        }
    }
    builder.finish_node();
    builder.finish_node();
    builder.finish()
}
