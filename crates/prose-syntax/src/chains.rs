//! Arrow chains as the statements that they stand for (R34).

use crate::ast::{ArrowChain, AstNode, Statement};
use crate::fix::line_ending;
use crate::lines::line_start;
use crate::{SyntaxKind, SyntaxNode, TextEdit, TextRange, TextSize};

/// The edits that make a statement of each session of an arrow chain, in their order. Where the chain is a value, its last session is.
///
/// None where the sessions would then no longer run one after another, or where a comment is between them. `text` is that of the tree.
pub fn as_statements(chain: &ArrowChain, text: &str) -> Option<Vec<TextEdit>> {
    let parent = chain.syntax().parent()?;
    let is_list = |node: &SyntaxNode| matches!(node.kind(), SyntaxKind::BLOCK | SyntaxKind::SOURCE_FILE);
    let statement = if is_list(&parent) { chain.syntax().clone() } else { parent };
    let list = statement.parent().filter(is_list)?;
    // The branches of a `parallel` run at once.
    let is_branch = list.parent().is_some_and(|owner| owner.kind() == SyntaxKind::PARALLEL);
    let can_be_split = match Statement::cast(statement.clone())? {
        Statement::ArrowChain(_) | Statement::Assignment(_) | Statement::Output(_) | Statement::Return(_) => {
            true
        }
        // To take a session apart is a mistake, which is not for this to fix.
        Statement::Let(node) => node.name().is_some(),
        _ => false,
    };
    let links: Vec<SyntaxNode> = chain.links().map(|link| link.syntax().clone()).collect();
    let has_comment = chain.syntax().children_with_tokens().any(|child| child.kind() == SyntaxKind::COMMENT);
    if is_branch || !can_be_split || has_comment {
        return None;
    }
    let start = statement.text_range().start();
    let before = &text[..usize::from(start)];
    let indent = &before[line_start(before, before.len())..];
    let (last, earlier) = links.split_last()?;
    if earlier.is_empty() || !indent.bytes().all(|byte| byte == b' ') {
        return None;
    }
    let head = &text[TextRange::new(start, links[0].text_range().start())];
    let mut edits = Vec::new();
    if !head.is_empty() {
        edits.push(TextEdit::replace(TextRange::at(start, TextSize::of(head)), ""));
    }
    let line_break = line_ending(text);
    for (before, link) in links.iter().zip(&links[1..]) {
        let gap = TextRange::new(end(before), link.text_range().start());
        let head = if link == last { head } else { "" };
        edits.push(TextEdit::replace(gap, format!("{line_break}{indent}{head}")));
    }
    Some(edits)
}

/// Where the last word of a node ends.
pub fn end(node: &SyntaxNode) -> TextSize {
    let tokens = node.descendants_with_tokens().filter_map(|element| element.into_token());
    let words = tokens.filter(|token| !token.kind().is_trivia());
    words.last().map_or(node.text_range().end(), |token| token.text_range().end())
}
