//! A program to plant mistakes in, and what can be changed about it.

use std::ops::Range;

use prose_syntax::{SyntaxKind, SyntaxNode, SyntaxToken, parse};

/// A program without mistakes.
pub(crate) struct Program {
    pub(crate) name: String,
    pub(crate) text: String,
    root: SyntaxNode,
}

/// A change that makes one mistake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plant {
    pub(crate) range: Range<usize>,
    pub(crate) with: String,
    /// The line of the new text, from 0, on which the mistake is.
    pub(crate) line: usize,
}

impl Program {
    pub(crate) fn new(name: String, text: String) -> Self {
        let root = parse(&text).syntax();
        Self { name, text, root }
    }

    pub(crate) fn nodes(&self, kinds: &[SyntaxKind]) -> impl Iterator<Item = SyntaxNode> {
        self.root.descendants().filter(|node| kinds.contains(&node.kind()))
    }

    pub(crate) fn tokens(&self, kinds: &[SyntaxKind]) -> impl Iterator<Item = SyntaxToken> {
        let tokens = self.root.descendants_with_tokens().filter_map(|element| element.into_token());
        tokens.filter(|token| kinds.contains(&token.kind()))
    }

    /// The strings that are written on one line.
    pub(crate) fn short_strings(&self) -> impl Iterator<Item = SyntaxNode> {
        self.nodes(&[SyntaxKind::STRING]).filter(|node| !node.text().to_string().starts_with("\"\"\""))
    }

    /// The top-level statements that a line can be put before without a change of meaning.
    pub(crate) fn places(&self) -> impl Iterator<Item = SyntaxNode> {
        self.root.children().filter(|node| {
            let before = node.prev_sibling().map(|before| before.kind());
            let takes_clauses = [SyntaxKind::IF, SyntaxKind::TRY, SyntaxKind::CHOICE, SyntaxKind::PARALLEL];
            self.begins_line(start(node)) && before.is_some_and(|kind| !takes_clauses.contains(&kind))
        })
    }

    /// The statements inside of bodies that take one line.
    pub(crate) fn short_statements(&self) -> impl Iterator<Item = SyntaxNode> {
        self.nodes(&[SyntaxKind::BLOCK]).flat_map(|block| block.children()).filter(|node| {
            let clauses = [SyntaxKind::CHOICE_OPTION];
            self.begins_line(start(node))
                && !node.text().to_string().contains('\n')
                && !clauses.contains(&node.kind())
        })
    }

    /// Whether nothing but indentation stands before an offset.
    pub(crate) fn begins_line(&self, offset: usize) -> bool {
        self.text[self.line_start(offset)..offset].trim().is_empty()
    }

    pub(crate) fn line_start(&self, offset: usize) -> usize {
        self.text[..offset].rfind('\n').map_or(0, |index| index + 1)
    }

    /// The line of an offset with its line break.
    pub(crate) fn line(&self, offset: usize) -> Range<usize> {
        let end = self.text[offset..].find('\n').map_or(self.text.len(), |index| offset + index + 1);
        self.line_start(offset)..end
    }

    pub(crate) fn line_number(&self, offset: usize) -> usize {
        self.text[..offset].matches('\n').count()
    }

    /// Puts `with` in the place of `range`; the mistake is on the line where it starts.
    pub(crate) fn replace(&self, range: Range<usize>, with: impl Into<String>) -> Plant {
        Plant { line: self.line_number(range.start), range, with: with.into() }
    }

    pub(crate) fn delete(&self, range: Range<usize>) -> Plant {
        self.replace(range, "")
    }

    /// Inserts lines before a top-level statement; the mistake is on the last of them with a `!` at its start, which is left out.
    pub(crate) fn insert_lines(&self, before: &SyntaxNode, lines: &str) -> Plant {
        let at = start(before);
        let marked = lines.lines().position(|line| line.starts_with('!')).unwrap_or(0);
        let with: String =
            lines.lines().map(|line| format!("{}\n", line.strip_prefix('!').unwrap_or(line))).collect();
        Plant { line: self.line_number(at) + marked, range: at..at, with }
    }
}

impl Plant {
    pub(crate) fn apply(&self, text: &str) -> String {
        let Range { start, end } = self.range;
        [&text[..start], &self.with, &text[end..]].concat()
    }
}

pub(crate) fn start(node: &SyntaxNode) -> usize {
    node.text_range().start().into()
}

pub(crate) fn end(node: &SyntaxNode) -> usize {
    node.text_range().end().into()
}

pub(crate) fn range(token: &SyntaxToken) -> Range<usize> {
    token.text_range().into()
}

/// A direct child that is a token.
pub(crate) fn token(node: &SyntaxNode, kind: SyntaxKind) -> Option<SyntaxToken> {
    node.children_with_tokens().filter_map(|element| element.into_token()).find(|token| token.kind() == kind)
}

/// A direct child that is a node.
pub(crate) fn child(node: &SyntaxNode, kind: SyntaxKind) -> Option<SyntaxNode> {
    node.children().find(|child| child.kind() == kind)
}

/// The name that stands in a node.
pub(crate) fn name(node: &SyntaxNode) -> Option<SyntaxNode> {
    child(node, SyntaxKind::NAME)
}

/// A word with a slip of the pen: two letters that have changed places, or one that is left out.
pub(crate) fn misspelt(word: &str) -> String {
    let mut letters: Vec<char> = word.chars().collect();
    let first = if letters.len() < 4 { 0 } else { 1 };
    let differing = (first..letters.len() - 1).find(|&at| letters[at] != letters[at + 1]);
    match differing {
        Some(at) => letters.swap(at, at + 1),
        None => _ = letters.pop(),
    }
    letters.into_iter().collect()
}
