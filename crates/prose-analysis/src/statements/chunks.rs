//! The top-level statements of a file in chunks, so that an edit costs what it touches.
//!
//! To see that nothing has changed costs salsa something for each query, and a file may have tens of thousands of statements. So
//! what is known of them is known by the chunk: queries of a chunk that the edit does not touch, and that uses no name that it changes, are found valid in
//! one step for all of its statements.
//!
//! Where a chunk begins depends on the text of the statement there and on how long the chunk before has become, and so is the same again a few
//! statements after an edit. It makes no difference to what is found.

#![allow(missing_docs, reason = "the macros of salsa write functions that have none")]

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use prose_syntax::SyntaxKind;
use rowan::{GreenNode, GreenNodeData, NodeOrToken};
use rustc_hash::{FxHashMap, FxHasher};
use smol_str::SmolStr;

use crate::db::{Db, SourceFile};
use crate::lower;
use crate::statements::{Key, TopStatement, Tree, parse};
use crate::summary::Summary;

/// A chunk is no shorter, unless a long statement or the end of the file ends it: what is analysed again with an edited statement is as much as this.
const MIN_BYTES: usize = 512;
/// A chunk that is as long ends with the next statement.
const MAX_BYTES: usize = 2048;
/// Of so many statements one begins a chunk, if the chunk before is long enough.
const ONE_OF: u64 = 4;

/// Some statements of a file that follow each other. It stays the same while they change, as long as the header of its first statement does.
#[salsa::tracked(debug)]
pub struct Chunk<'db> {
    /// The file.
    #[returns(copy)]
    pub file: SourceFile,
    /// By what it is known again.
    #[returns(copy)]
    #[doc(hidden)]
    pub key: ChunkKey,
    /// The trees of the statements.
    #[tracked]
    #[returns(ref)]
    #[doc(hidden)]
    pub nodes: Nodes,
    /// How many statements of the file stand before it.
    #[tracked]
    #[returns(copy)]
    pub first: u32,
}

/// By what a chunk is known again.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct ChunkKey {
    /// Of its first statement; nothing for the first chunk of a file.
    header: u64,
    /// How many chunks with such a statement stand before it.
    nth: u32,
}

/// The trees of the statements of a chunk.
#[doc(hidden)]
#[derive(Debug, Clone)]
pub struct Nodes(Box<[GreenNode]>);

impl PartialEq for Nodes {
    fn eq(&self, other: &Self) -> bool {
        // The parser keeps the nodes of what an edit does not touch, so most comparisons end with the places in memory.
        let is_same = |(one, other): (&GreenNode, &GreenNode)| std::ptr::eq(&**one, &**other) || one == other;
        self.0.len() == other.0.len() && self.0.iter().zip(&other.0).all(is_same)
    }
}

impl Eq for Nodes {}

/// The chunks of a file, and where their statements start.
#[derive(Debug, Clone, PartialEq, Eq, salsa::SalsaValue)]
pub(crate) struct Layout<'db> {
    /// The chunks, without places.
    chunks: Chunks<'db>,
    /// Where each statement of the file starts, in bytes.
    pub(crate) starts: Vec<u32>,
}

/// The chunks of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default, salsa::SalsaValue)]
pub(crate) struct Chunks<'db> {
    /// In the order of the text.
    pub(crate) list: Vec<Chunk<'db>>,
    /// Words of lines between the statements that were not understood.
    pub(crate) lost: Vec<SmolStr>,
}

/// The chunks of a file, and where their statements start.
#[salsa::tracked(returns(ref))]
pub(crate) fn layout(db: &dyn Db, file: SourceFile) -> Layout<'_> {
    let root = parse(db, file).green();
    let mut cutter = Cutter { db, file, chunks: Vec::new(), alike: FxHashMap::default() };
    let mut lost = Vec::new();
    let mut starts = Vec::new();
    let (mut key, mut nodes, mut bytes) = (0, Vec::new(), 0);
    let mut start = 0;
    for child in root.children() {
        let node = match child {
            NodeOrToken::Node(node) => node,
            NodeOrToken::Token(token) => {
                start += u32::from(token.text_len());
                continue;
            }
        };
        if lower::is_lost(root, node) {
            lower::words(node, &mut lost);
        }
        let len = usize::from(node.text_len());
        if let Some(header) = border(node, bytes) {
            cutter.cut(key, std::mem::take(&mut nodes), starts.len());
            (key, bytes) = (header, 0);
        }
        starts.push(start);
        nodes.push(node.to_owned());
        bytes += len;
        start += u32::from(node.text_len());
    }
    cutter.cut(key, nodes, starts.len());
    Layout { chunks: Chunks { list: cutter.chunks, lost }, starts }
}

/// What a chunk that begins with a statement is known by, if one does, given how long the chunk before has become.
fn border(node: &GreenNodeData, bytes: usize) -> Option<u64> {
    let is_long = usize::from(node.text_len()) >= MAX_BYTES;
    if bytes == 0 || bytes < MIN_BYTES && !is_long {
        return None;
    }
    let header = header(node);
    (is_long || bytes >= MAX_BYTES || header.is_multiple_of(ONE_OF)).then_some(header)
}

struct Cutter<'db> {
    db: &'db dyn Db,
    file: SourceFile,
    chunks: Vec<Chunk<'db>>,
    /// How many chunks there are of each header.
    alike: FxHashMap<u64, u32>,
}

impl Cutter<'_> {
    /// Makes a chunk of the statements before the `behind`th of the file.
    fn cut(&mut self, header: u64, nodes: Vec<GreenNode>, behind: usize) {
        if nodes.is_empty() {
            return;
        }
        let nth = self.alike.entry(header).or_default();
        let key = ChunkKey { header, nth: *nth };
        *nth += 1;
        // Each statement takes at least one byte of a text whose length fits.
        let first = (behind - nodes.len()) as u32;
        let nodes = Nodes(nodes.into_boxed_slice());
        self.chunks.push(Chunk::new(self.db, self.file, key, nodes, first));
    }
}

/// The chunks of a file without places, which change with every edit.
#[salsa::tracked(returns(ref))]
pub(crate) fn chunks(db: &dyn Db, file: SourceFile) -> Chunks<'_> {
    layout(db, file).chunks.clone()
}

/// A statement of a chunk and its tree.
#[derive(Debug, Clone, PartialEq, Eq, salsa::SalsaValue)]
pub(crate) struct Member<'db> {
    pub(crate) statement: TopStatement<'db>,
    pub(crate) tree: Arc<Tree>,
}

/// The statements of a chunk, in the order of the text.
#[salsa::tracked(returns(ref), no_eq)]
pub(crate) fn members<'db>(db: &'db dyn Db, chunk: Chunk<'db>) -> Vec<Member<'db>> {
    let mut alike: FxHashMap<(SyntaxKind, u64), u32> = FxHashMap::default();
    let members = chunk.nodes(db).0.iter().zip(0..).map(|(node, position)| {
        let (kind, name) = (SyntaxKind::from(node.kind()), name(node));
        let nth = alike.entry((kind, name)).or_default();
        let key = Key { kind, name, nth: *nth };
        *nth += 1;
        let statement = TopStatement::new(db, chunk, key, position, Arc::new(Tree::new(node.clone())));
        // Where the tree is the same, this is the one from before, with what was made of it.
        Member { statement, tree: Arc::clone(statement.tree(db)) }
    });
    members.collect()
}

/// The summaries of the statements of a chunk, without positions: an edit of a prompt does not change them.
#[salsa::tracked(returns(ref))]
pub(crate) fn summaries<'db>(db: &'db dyn Db, chunk: Chunk<'db>) -> Vec<Summarized<'db>> {
    let summarized = |Member { statement, tree }: &Member<'db>| Summarized {
        statement: *statement,
        summary: Arc::clone(tree.summary()),
    };
    members(db, chunk).iter().map(summarized).collect()
}

/// A statement and its summary.
#[derive(Debug, Clone, PartialEq, Eq, salsa::SalsaValue)]
pub(crate) struct Summarized<'db> {
    pub(crate) statement: TopStatement<'db>,
    pub(crate) summary: Arc<Summary>,
}

/// The statements of a file with their summaries, in the order of the text.
pub(crate) fn summarized(
    db: &dyn Db,
    file: SourceFile,
) -> impl Iterator<Item = (TopStatement<'_>, &Summary)> {
    file_summaries(db, file).iter().map(|member| (member.statement, &*member.summary))
}

/// The same as a query, so that dependents validate one query and not all chunks.
#[salsa::tracked(returns(ref))]
fn file_summaries(db: &dyn Db, file: SourceFile) -> Vec<Summarized<'_>> {
    chunks(db, file).list.iter().flat_map(|chunk| summaries(db, *chunk)).cloned().collect()
}

/// A number for the name that a statement binds or calls; 0 where it has none.
fn name(node: &GreenNodeData) -> u64 {
    let name = node.children().filter_map(NodeOrToken::into_node);
    let mut name =
        name.filter(|node| matches!(SyntaxKind::from(node.kind()), SyntaxKind::NAME | SyntaxKind::NAME_REF));
    name.next().map_or(0, |name| {
        let mut hasher = FxHasher::default();
        hash_text(name, &mut 64, &mut hasher);
        hasher.finish()
    })
}

/// A number for the name of a statement or, where it has none, the beginning of its header.
fn header(node: &GreenNodeData) -> u64 {
    let name = name(node);
    if name != 0 {
        return mixed(name);
    }
    let mut hasher = FxHasher::default();
    for child in node.children() {
        match child {
            NodeOrToken::Node(node)
                if matches!(SyntaxKind::from(node.kind()), SyntaxKind::BLOCK | SyntaxKind::PROPERTY_LIST) =>
            {
                break;
            }
            // Edits after the first words of a prompt move no border.
            NodeOrToken::Node(node) => hash_text(node, &mut 16, &mut hasher),
            NodeOrToken::Token(token) => token.text().hash(&mut hasher),
        }
    }
    mixed(hasher.finish())
}

/// The last bits of a hash, which decide on borders, made as good as the first ones.
fn mixed(hash: u64) -> u64 {
    hash ^ (hash >> 32) ^ (hash >> 47)
}

/// Hashes the first `left` bytes or so of a node: long prompts are not read for each edit elsewhere.
fn hash_text(node: &GreenNodeData, left: &mut usize, hasher: &mut FxHasher) {
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
