//! Files as lists of top-level statements, which keep their identity across edits.

#![allow(missing_docs, reason = "the macros of salsa write functions that have none")]

pub(crate) mod chunks;

use std::sync::{Arc, OnceLock};

use prose_syntax::{LineIndex, Parse, SyntaxKind, SyntaxNode, TextRange, TextSize};
use rowan::GreenNode;

use self::chunks::{Chunk, layout, members};
use crate::db::{Db, SourceFile};
use crate::lower;
use crate::model::Body;
use crate::summary::Summary;

/// The tree and the syntax diagnostics of a file.
#[salsa::tracked(returns(ref), no_eq)]
pub fn parse(db: &dyn Db, file: SourceFile) -> Arc<Parse> {
    Arc::new(file.text(db).parse())
}

/// The lines of a file.
#[salsa::tracked(returns(ref))]
pub fn line_index(db: &dyn Db, file: SourceFile) -> Arc<LineIndex> {
    Arc::new(LineIndex::new(file.text(db).as_str()))
}

/// A top-level statement. It stays the same while its text changes, as long as its kind and its name do, and the number of those like it
/// before it in its chunk. Its place in the file is no part of it.
#[salsa::tracked(debug)]
pub struct TopStatement<'db> {
    /// The chunk that it is part of.
    #[returns(copy)]
    pub chunk: Chunk<'db>,
    /// By what it is known again.
    #[returns(copy)]
    #[doc(hidden)]
    pub key: Key,
    /// Which statement of its chunk it is.
    #[tracked]
    #[returns(copy)]
    #[doc(hidden)]
    pub position: u32,
    /// Its tree.
    #[tracked]
    #[returns(ref)]
    #[doc(hidden)]
    pub tree: Arc<Tree>,
}

/// By what a statement is known again.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    pub(crate) kind: SyntaxKind,
    pub(crate) name: u64,
    /// How many statements of this kind and name stand before it in its chunk. Salsa counts them itself, but looks at each of them for the next one.
    pub(crate) nth: u32,
}

/// The tree of a statement, with its own diagnostics.
#[doc(hidden)]
#[derive(Debug)]
pub struct Tree {
    green: GreenNode,
    body: OnceLock<Body>,
    summary: OnceLock<Arc<Summary>>,
}

impl Tree {
    pub(crate) fn new(green: GreenNode) -> Self {
        Self { green, body: OnceLock::new(), summary: OnceLock::new() }
    }

    pub(crate) fn syntax(&self) -> SyntaxNode {
        SyntaxNode::new_root(self.green.clone())
    }

    /// The model of the statement.
    pub(crate) fn body(&self) -> &Body {
        self.body.get_or_init(|| lower::lower(self.syntax()))
    }

    /// The summary of the statement.
    pub(crate) fn summary(&self) -> &Arc<Summary> {
        self.summary.get_or_init(|| Arc::new(Summary::new(self.body())))
    }
}

impl PartialEq for Tree {
    fn eq(&self, other: &Self) -> bool {
        // The parser keeps the nodes of what an edit does not touch, so most comparisons end here.
        std::ptr::eq(&*self.green, &*other.green) || self.green == other.green
    }
}

impl Eq for Tree {}

/// The top-level statements of a file.
#[derive(Debug, Clone, PartialEq, Eq, salsa::SalsaValue)]
pub struct Statements<'db> {
    /// The statements in the order of the text.
    pub list: Vec<Placed<'db>>,
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
    let members = chunks::chunks(db, file).list.iter().flat_map(|chunk| members(db, *chunk));
    let placed = members.zip(&layout(db, file).starts);
    let list = placed.map(|(member, start)| Placed { statement: member.statement, start: *start });
    Statements { list: list.collect() }
}

/// The model of a statement.
pub fn body<'db>(db: &'db dyn Db, statement: TopStatement<'db>) -> &'db Body {
    statement.tree(db).body()
}

/// The summary of a statement, without positions: an edit of a prompt does not change it.
pub fn summary<'db>(db: &'db dyn Db, statement: TopStatement<'db>) -> &'db Summary {
    single_summary(db, statement)
}

/// The summary of one statement, for queries that do not depend on the rest of its chunk.
#[salsa::tracked(returns(ref))]
fn single_summary<'db>(db: &'db dyn Db, statement: TopStatement<'db>) -> Arc<Summary> {
    Arc::clone(statement.tree(db).summary())
}

impl<'db> TopStatement<'db> {
    /// The file that it is part of.
    pub fn file(self, db: &'db dyn Db) -> SourceFile {
        self.chunk(db).file(db)
    }

    /// The tree of the statement alone: its root is the statement's node, and its offsets are relative to it.
    pub fn syntax(self, db: &'db dyn Db) -> SyntaxNode {
        self.tree(db).syntax()
    }

    /// The kind of its node.
    pub fn kind(self, db: &'db dyn Db) -> SyntaxKind {
        self.key(db).kind
    }

    /// Where it starts in its file; none if it stands there no more.
    pub fn start(self, db: &'db dyn Db) -> Option<TextSize> {
        let chunk = self.chunk(db);
        let nth = chunk.first(db) + self.position(db);
        layout(db, chunk.file(db)).starts.get(nth as usize).map(|start| TextSize::from(*start))
    }

    /// How many bytes it takes.
    pub fn len(self, db: &'db dyn Db) -> TextSize {
        self.tree(db).green.text_len()
    }

    /// Its range, given where it starts.
    pub fn range(self, db: &'db dyn Db, start: TextSize) -> TextRange {
        TextRange::at(start, self.len(db))
    }
}
