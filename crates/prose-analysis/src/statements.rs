//! Files as lists of top-level statements, each of which is known again after an edit.

#![allow(missing_docs, reason = "the macros of salsa write functions that have none")]

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use prose_syntax::{Parse, SyntaxKind, SyntaxNode, TextRange, TextSize};
use rowan::{GreenNode, NodeOrToken};
use rustc_hash::{FxHashMap, FxHasher};
use smol_str::SmolStr;

use crate::db::{Db, SourceFile};
use crate::lower::{self, kind_of};
use crate::model::Body;
use crate::summary::Summary;

/// The tree and the syntax diagnostics of a file.
#[salsa::tracked(returns(ref), no_eq)]
pub fn parse(db: &dyn Db, file: SourceFile) -> Arc<Parse> {
    Arc::new(file.text(db).parse())
}

/// A top-level statement. It stays the same while its text changes, as long as its kind and its name, or the beginning of its header
/// where it has none, do. Its place in the file is no part of it.
#[salsa::tracked(debug)]
pub struct TopStatement<'db> {
    /// The file.
    #[returns(copy)]
    pub file: SourceFile,
    /// By what it is known again.
    #[returns(copy)]
    #[doc(hidden)]
    pub key: Key,
    /// Its tree.
    #[tracked]
    #[returns(ref)]
    #[doc(hidden)]
    pub tree: Tree,
}

/// By what a statement is known again.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    kind: SyntaxKind,
    header: u64,
    /// How many statements of this kind and header stand above. Salsa counts them itself, but looks at each of them for the next one.
    nth: u32,
}

/// The tree of a statement.
#[doc(hidden)]
#[derive(Debug, Clone)]
pub struct Tree(GreenNode);

impl PartialEq for Tree {
    fn eq(&self, other: &Self) -> bool {
        // The parser keeps the nodes of what an edit does not touch, so most comparisons end here.
        std::ptr::eq(&*self.0, &*other.0) || self.0 == other.0
    }
}

impl Eq for Tree {}

/// The top-level statements of a file.
#[derive(Debug, Clone, PartialEq, Eq, salsa::SalsaValue)]
pub struct Statements<'db> {
    /// The statements in the order of the text.
    pub list: Vec<Placed<'db>>,
    /// Words of lines between them that were not understood.
    pub lost: Vec<SmolStr>,
}

/// The top-level statements of a file without their places.
#[derive(Debug, Clone, PartialEq, Eq, salsa::SalsaValue)]
pub struct Sequence<'db> {
    /// The statements in the order of the text.
    pub list: Vec<TopStatement<'db>>,
    /// Words of lines between them that were not understood.
    pub lost: Vec<SmolStr>,
}

/// A statement and where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, salsa::SalsaValue)]
pub struct Placed<'db> {
    /// The statement.
    pub statement: TopStatement<'db>,
    /// Where it starts, in bytes.
    pub start: u32,
}

impl<'db> Statements<'db> {
    /// The statement around an offset: the last one that starts at or before it.
    pub fn at(&self, offset: TextSize) -> Option<(TopStatement<'db>, TextSize)> {
        let behind = self.list.partition_point(|placed| TextSize::from(placed.start) <= offset);
        let placed = self.list[..behind].last()?;
        Some((placed.statement, placed.start.into()))
    }
}

/// The top-level statements of a file.
#[salsa::tracked(returns(ref))]
pub fn statements(db: &dyn Db, file: SourceFile) -> Statements<'_> {
    let root = parse(db, file).green();
    let mut list = Vec::new();
    let mut lost = Vec::new();
    let mut start = TextSize::new(0);
    let mut alike: FxHashMap<(SyntaxKind, u64), u32> = FxHashMap::default();
    for child in root.children() {
        if let NodeOrToken::Node(node) = child {
            let kind = kind_of(node.kind());
            if lower::is_lost(root, node) {
                lower::words(node, &mut lost);
            }
            let header = header(node);
            let count = alike.entry((kind, header)).or_default();
            let key = Key { kind, header, nth: *count };
            *count += 1;
            let statement = TopStatement::new(db, file, key, Tree(node.to_owned()));
            list.push(Placed { statement, start: start.into() });
        }
        start += match child {
            NodeOrToken::Node(node) => node.text_len(),
            NodeOrToken::Token(token) => token.text_len(),
        };
    }
    Statements { list, lost }
}

/// Where each top-level statement of a file starts, for those who ask about single ones.
#[salsa::tracked(returns(ref))]
pub(crate) fn starts(db: &dyn Db, file: SourceFile) -> FxHashMap<TopStatement<'_>, u32> {
    statements(db, file).list.iter().map(|placed| (placed.statement, placed.start)).collect()
}

/// The top-level statements of a file without their places, which change with every edit.
#[salsa::tracked(returns(ref))]
pub fn sequence(db: &dyn Db, file: SourceFile) -> Sequence<'_> {
    let statements = statements(db, file);
    let list = statements.list.iter().map(|placed| placed.statement);
    Sequence { list: list.collect(), lost: statements.lost.clone() }
}

/// The model of a statement.
#[salsa::tracked(returns(ref), no_eq)]
pub fn body<'db>(db: &'db dyn Db, statement: TopStatement<'db>) -> Body {
    lower::lower(statement.syntax(db))
}

/// What others want to know of a statement, without places: an edit of a prompt leaves it as it is.
#[salsa::tracked(returns(ref))]
pub fn summary<'db>(db: &'db dyn Db, statement: TopStatement<'db>) -> Summary {
    Summary::new(body(db, statement))
}

impl<'db> TopStatement<'db> {
    /// The tree of the statement alone: its root is the statement's node, and its offsets are relative to it.
    pub fn syntax(self, db: &'db dyn Db) -> SyntaxNode {
        SyntaxNode::new_root(self.tree(db).0.clone())
    }

    /// The kind of its node.
    pub fn kind(self, db: &'db dyn Db) -> SyntaxKind {
        self.key(db).kind
    }

    /// Where it starts in its file; none if it stands there no more.
    pub fn start(self, db: &'db dyn Db) -> Option<TextSize> {
        starts(db, self.file(db)).get(&self).map(|start| TextSize::from(*start))
    }

    /// How many bytes it takes.
    pub fn len(self, db: &'db dyn Db) -> TextSize {
        self.tree(db).0.text_len()
    }

    /// Its range, given where it starts.
    pub fn range(self, db: &'db dyn Db, start: TextSize) -> TextRange {
        TextRange::at(start, self.len(db))
    }
}

/// A number for the name of a statement or, where it has none, the beginning of its header.
fn header(node: &rowan::GreenNodeData) -> u64 {
    let mut hasher = FxHasher::default();
    let name = node.children().find_map(|child| match child {
        NodeOrToken::Node(node)
            if matches!(kind_of(node.kind()), SyntaxKind::NAME | SyntaxKind::NAME_REF) =>
        {
            Some(node)
        }
        _ => None,
    });
    match name {
        Some(name) => hash_text(name, &mut 64, &mut hasher),
        None => {
            for child in node.children() {
                match child {
                    NodeOrToken::Node(node)
                        if matches!(kind_of(node.kind()), SyntaxKind::BLOCK | SyntaxKind::PROPERTY_LIST) =>
                    {
                        break;
                    }
                    NodeOrToken::Node(node) => hash_text(node, &mut 64, &mut hasher),
                    NodeOrToken::Token(token) => token.text().hash(&mut hasher),
                }
            }
        }
    }
    hasher.finish()
}

/// Hashes the first `left` bytes or so of a node: long prompts are not read for each edit elsewhere.
fn hash_text(node: &rowan::GreenNodeData, left: &mut usize, hasher: &mut FxHasher) {
    for child in node.children() {
        if *left == 0 {
            return;
        }
        match child {
            NodeOrToken::Node(node) => hash_text(node, left, hasher),
            NodeOrToken::Token(token) => {
                let bytes = token.text().as_bytes();
                let taken = &bytes[..bytes.len().min(*left)];
                taken.hash(hasher);
                *left -= taken.len();
            }
        }
    }
}
