//! Parsing again after an edit, in time that depends on the edit and not on the file.
//!
//! A file is a list of top-level statements. One that starts at column 0 with a word that cannot continue the statement above is a
//! *boundary*: layout and grammar after it do not depend on what comes before it. So only the statements around an edit
//! are parsed again, and the green nodes of all others are kept. Only literals look further, and record how far
//! they looked.

use rowan::{GreenNodeData, GreenTokenData, NodeOrToken, TextRange, TextSize};

use crate::parse::{Parse, parse};
use crate::syntax_kind::SyntaxKind::{self, *};

impl Parse {
    /// The parse of the text after one edit: `old_range` of the old text was replaced by `inserted` bytes, which gave
    /// `new_text`. Equal to `parse(new_text)`.
    pub fn reparse(&self, old_range: TextRange, inserted: TextSize, new_text: &str) -> Parse {
        let old_len = self.green.text_len();
        let fits =
            old_range.end() <= old_len && old_len - old_range.len() + inserted == TextSize::of(new_text);
        if fits { Edit { parse: self, old_range, inserted, new_text }.apply() } else { parse(new_text) }
    }
}

struct Edit<'a> {
    parse: &'a Parse,
    old_range: TextRange,
    inserted: TextSize,
    new_text: &'a str,
}

type GreenElement<'a> = NodeOrToken<&'a GreenNodeData, &'a GreenTokenData>;

/// A top-level child of the tree.
struct Child<'a> {
    start: TextSize,
    element: GreenElement<'a>,
}

impl Edit<'_> {
    fn apply(&self) -> Parse {
        let mut start = TextSize::new(0);
        let children: Vec<Child<'_>> = self
            .parse
            .green
            .children()
            .map(|element| {
                let child = Child { start, element };
                start += child.len();
                child
            })
            .collect();

        let first = self.first_child(&children);
        let mut behind = children.partition_point(|child| child.start <= self.old_range.end());
        let mut step = 1;
        loop {
            behind = nth_boundary(&children, behind, step);
            let needs_next = |behind: usize| {
                // Whether a `try` without handler is reported depends on the statement after it.
                ends_with_try(children[first..behind].iter().map(|child| child.element))
            };
            while behind < children.len() && needs_next(behind) {
                behind = nth_boundary(&children, behind + 1, 1);
            }
            let from = children.get(first).map_or(TextSize::new(0), |child| child.start);
            let old_end = children.get(behind).map_or(self.parse.green.text_len(), |child| child.start);
            let to = self.moved(old_end);
            let Some(text) = self.new_text.get(usize::from(from)..usize::from(to)) else {
                return parse(self.new_text);
            };
            let fragment = parse(text);
            let looked_over_end = fragment.lookaheads.iter().any(|looked| looked.end() == TextSize::of(text));
            if behind < children.len() && (looked_over_end || ends_with_try(fragment.green.children())) {
                behind += 1;
                step *= 2;
                continue;
            }
            return self.spliced(first..behind, TextRange::new(from, old_end), fragment);
        }
    }

    /// Where `offset`, which lies after the edit, is in the new text.
    fn moved(&self, offset: TextSize) -> TextSize {
        offset - self.old_range.len() + self.inserted
    }

    /// The first child to parse again: one boundary before the statement that was edited, since that may have become part of the
    /// one before it, and before every literal that looked at the edited text.
    fn first_child(&self, children: &[Child<'_>]) -> usize {
        let mut offset = self.old_range.start();
        loop {
            let edited = children.partition_point(|child| child.start <= offset);
            let mut boundaries = (0..edited).rev().filter(|&index| is_boundary(children, index));
            boundaries.next();
            let first = boundaries.find(|&index| !follows_try(children, index)).unwrap_or(0);
            let from = children.get(first).map_or(TextSize::new(0), |child| child.start);
            let looked = self
                .parse
                .lookaheads
                .iter()
                .filter(|looked| looked.start() < from && looked.end() >= self.old_range.start())
                .map(|looked| looked.start())
                .min();
            match looked {
                Some(earlier) => offset = earlier,
                None => return first,
            }
        }
    }

    fn spliced(&self, replaced: std::ops::Range<usize>, old: TextRange, fragment: Parse) -> Parse {
        let children = fragment.green.children().map(|child| match child {
            NodeOrToken::Node(node) => NodeOrToken::Node(node.to_owned()),
            NodeOrToken::Token(token) => NodeOrToken::Token(token.to_owned()),
        });
        let green = self.parse.green.splice_children(replaced, children);

        let into_file = |range: TextRange| range + old.start();
        let behind = |range: TextRange| TextRange::new(self.moved(range.start()), self.moved(range.end()));
        let kept = &self.parse.diagnostics;
        let before = kept.partition_point(|diagnostic| diagnostic.range.start() < old.start());
        // What is missing at the end of the file is reported after its last byte.
        let is_after = |at: TextSize| at >= old.end() && old.end() < self.parse.green.text_len();
        let after = kept.partition_point(|diagnostic| !is_after(diagnostic.range.start()));
        let diagnostics = kept[..before]
            .iter()
            .cloned()
            .chain(fragment.diagnostics.into_iter().map(|diagnostic| diagnostic.moved(into_file)))
            .chain(kept[after..].iter().map(|diagnostic| diagnostic.clone().moved(behind)))
            .collect();

        let looked = &self.parse.lookaheads;
        let before = looked.partition_point(|looked| looked.start() < old.start());
        let after = looked.partition_point(|looked| looked.start() < old.end());
        let lookaheads = looked[..before]
            .iter()
            .copied()
            .chain(fragment.lookaheads.into_iter().map(into_file))
            .chain(looked[after..].iter().copied().map(behind))
            .collect();
        Parse { green, diagnostics, lookaheads }
    }
}

impl Child<'_> {
    fn len(&self) -> TextSize {
        match self.element {
            NodeOrToken::Node(node) => node.text_len(),
            NodeOrToken::Token(token) => token.text_len(),
        }
    }
}

/// The `count`th boundary at or after `from`, or the end.
fn nth_boundary(children: &[Child<'_>], from: usize, count: usize) -> usize {
    (from..children.len())
        .filter(|&index| is_boundary(children, index))
        .nth(count - 1)
        .unwrap_or(children.len())
}

/// Whether a statement starts here that no text above it can belong to.
fn is_boundary(children: &[Child<'_>], index: usize) -> bool {
    let NodeOrToken::Node(node) = children[index].element else { return false };
    // A property that is not indented belongs to the agent or session above, if there is one.
    if SyntaxKind::from(node.kind()) == PROPERTY {
        return false;
    }
    let starts_line = match index.checked_sub(1).map(|before| &children[before].element) {
        None => true,
        Some(NodeOrToken::Token(token)) => SyntaxKind::from(token.kind()) == NEWLINE,
        Some(NodeOrToken::Node(_)) => false,
    };
    starts_line && first_token(node).is_some_and(starts_statement)
}

fn starts_statement(token: SyntaxKind) -> bool {
    !matches!(
        token,
        ELIF_KW | ELSE_KW | CATCH_KW | FINALLY_KW | OPTION_KW | ARROW | PIPE | R_PAREN | R_BRACKET | R_BRACE
    )
}

fn follows_try(children: &[Child<'_>], index: usize) -> bool {
    ends_with_try(children[..index].iter().map(|child| child.element))
}

/// Whether the last statement is a `try`, binds one to a name, or has one last in its body. After it may be the rest of a line
/// that is not a part of it.
fn ends_with_try<'a>(children: impl DoubleEndedIterator<Item = GreenElement<'a>>) -> bool {
    children
        .rev()
        .filter_map(NodeOrToken::into_node)
        .find(|node| SyntaxKind::from(node.kind()) != ERROR)
        .is_some_and(|node| SyntaxKind::from(node.kind()) == TRY || ends_with_try(node.children()))
}

fn first_token(node: &GreenNodeData) -> Option<SyntaxKind> {
    node.children().find_map(|child| match child {
        NodeOrToken::Node(node) => first_token(node),
        NodeOrToken::Token(token) => Some(SyntaxKind::from(token.kind())),
    })
}
