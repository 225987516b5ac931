//! Programs in the canonical form of the language reference (R126, R127).
//!
//! In that form a program has no comments, arrow chains are the statements that they stand for, and all that is defined comes first, in the
//! order in which it takes effect (R5): imports, inputs, agents, blocks; but an agent with a variable stays behind the statement that binds it. What is left is in the one style of the formatter. The
//! program runs as before, so what a session is told, and what a condition is judged by, are not touched: a `while` is not turned into
//! an `until` with `not`. A chain that is a branch of a `parallel` or a part of a value stays a chain, as several statements would be
//! several branches.

use std::collections::HashSet;

use prose_syntax::ast::{ArrowChain, AstNode};
use prose_syntax::chains::{as_statements, end};
use prose_syntax::fix::line_ending;
use prose_syntax::{Parse, SyntaxKind, SyntaxNode, TextEdit, TextRange, TextSize, parse};

use crate::{apply, format};

/// The canonical form of a program without errors.
pub fn canonical(text: &str) -> String {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let text = without_comments(&parse(text), text);
    let text = without_chains(text);
    format(&with_definitions_first(&parse(&text).syntax(), &text))
}

/// The program without its comments, and without the lines that hold nothing else.
fn without_comments(parsed: &Parse, text: &str) -> String {
    let tokens = parsed.syntax().descendants_with_tokens().filter_map(|element| element.into_token());
    let comments = tokens.filter(|token| token.kind() == SyntaxKind::COMMENT);
    let edits: Vec<TextEdit> =
        comments.map(|comment| TextEdit::replace(lines_of(text, comment.text_range()), "")).collect();
    apply(text, &edits)
}

/// A comment with the blanks before it, or all of its line.
fn lines_of(text: &str, comment: TextRange) -> TextRange {
    let code = text[..usize::from(comment.start())].trim_end_matches([' ', '\t']);
    if !(code.is_empty() || code.ends_with(['\n', '\r'])) {
        return TextRange::new(TextSize::of(code), comment.end());
    }
    let rest = &text[usize::from(comment.end())..];
    let line_break = match rest.as_bytes() {
        [b'\r', b'\n', ..] => 2,
        [] => 0,
        _ => 1,
    };
    TextRange::new(TextSize::of(code), comment.end() + TextSize::new(line_break))
}

/// The program with statements in place of arrow chains.
fn without_chains(mut text: String) -> String {
    loop {
        let root = parse(&text).syntax();
        let mut edits: Vec<TextEdit> = Vec::new();
        for chain in root.descendants().filter_map(ArrowChain::cast) {
            // What is in a chain has its turn when the chain is none any more.
            let is_free =
                edits.last().is_none_or(|last| last.range.end() <= chain.syntax().text_range().start());
            edits.extend(as_statements(&chain, &text).filter(|_| is_free).unwrap_or_default());
        }
        if edits.is_empty() {
            return text;
        }
        text = apply(&text, &edits);
    }
}

/// The names that a statement binds, and those that it gives values to.
fn names(statement: &SyntaxNode) -> impl Iterator<Item = String> {
    let is_name = |node: &SyntaxNode| match node.kind() {
        SyntaxKind::NAME => true,
        SyntaxKind::NAME_REF => node.parent().is_some_and(|parent| parent.kind() == SyntaxKind::ASSIGNMENT),
        _ => false,
    };
    statement.descendants().filter(is_name).map(|node| node.text().to_string())
}

/// All names in a statement.
fn words(statement: &SyntaxNode) -> impl Iterator<Item = String> {
    let tokens = statement.descendants_with_tokens().filter_map(|element| element.into_token());
    tokens.filter(|token| token.kind() == SyntaxKind::IDENT).map(|token| token.text().to_owned())
}

/// In which order statements at the top level stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Import,
    Input,
    Agent,
    Block,
    Rest,
}

/// The program with what it defines before what it does.
fn with_definitions_first(root: &SyntaxNode, text: &str) -> String {
    let line_break = line_ending(text);
    let mut placed: Vec<(Rank, String)> = Vec::new();
    let mut has_begun = false;
    let mut bound: HashSet<String> = HashSet::new();
    let mut before = TextSize::new(0);
    for statement in root.children() {
        let rank = match statement.kind() {
            SyntaxKind::USE | SyntaxKind::IMPORT => Rank::Import,
            // What is asked for once something has run is asked for then (R88).
            SyntaxKind::INPUT if !has_begun => Rank::Input,
            // What an agent has of a variable should be read where the variable is known.
            SyntaxKind::AGENT if words(&statement).all(|word| !bound.contains(&word)) => Rank::Agent,
            SyntaxKind::BLOCK_DEF => Rank::Block,
            _ => {
                has_begun |= statement.kind() != SyntaxKind::AGENT;
                bound.extend(names(&statement));
                Rank::Rest
            }
        };
        let range = TextRange::new(statement.text_range().start(), end(&statement));
        let gap = &text[TextRange::new(before, range.start())];
        let lines = gap.matches('\n').count().max(gap.matches('\r').count());
        let is_apart = lines > 1 || matches!(rank, Rank::Agent | Rank::Block);
        let apart = if is_apart { line_break } else { "" };
        placed.push((rank, format!("{apart}{}{line_break}", &text[range])));
        before = range.end();
    }
    placed.sort_by_key(|(rank, _)| *rank);
    let mut result = String::new();
    let mut last = None;
    for (rank, statement) in placed {
        if last.is_some_and(|last| last != rank) {
            result += line_break;
        }
        result += &statement;
        last = Some(rank);
    }
    result.trim_start_matches(['\n', '\r']).to_owned()
}
