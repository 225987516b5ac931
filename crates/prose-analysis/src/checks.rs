//! The checks: one file for each subject.
//!
//! A check looks at one statement and, of the rest of the file, at the names that the statement uses. What depends on the order of
//! statements is checked over summaries in [`order`].

mod braces;
mod branches;
mod callees;
mod calls;
mod conditions;
mod control;
mod early;
mod faulty_imports;
mod imports;
mod isolation;
mod names;
mod options;
mod order;
mod permissions;
mod properties;
mod reach;
mod texts;
mod ungranted;
mod unused;

use std::cell::OnceCell;
use std::collections::hash_map::Entry;
use std::hash::Hash;
use std::sync::Arc;

use prose_syntax::{Code, Diagnostic, Fix, TextRange};
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;

use crate::db::{Db, SourceFile};
use crate::index::{Named, Site, lookup_in};
use crate::model::{Body, NameId, ScopeId, StmtId};
use crate::neighbours::Neighbours;
use crate::repairs::Repair;
use crate::resolve::{Resolution, resolutions};
use crate::statements::TopStatement;
use crate::statements::chunks::{Chunk, members};

/// A diagnostic with ranges relative to a statement.
#[derive(Debug, Clone, PartialEq, Eq, salsa::SalsaValue)]
pub struct Finding<'db> {
    /// The diagnostic. Its ranges are relative to the statement.
    pub diagnostic: Diagnostic,
    /// The last of several top-level statements that it is about; none if it is about one.
    pub until: Option<TopStatement<'db>>,
    /// Places in other statements that have to do with it.
    pub elsewhere: Vec<(RelatedPlace<'db>, String)>,
    /// Fixes that change more than the statement, the best first.
    pub repairs: Vec<Repair<'db>>,
}

/// A place in a statement that a finding names. Where it is in the text is asked for only when the finding is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, salsa::SalsaValue)]
pub enum RelatedPlace<'db> {
    /// A name.
    Name(Site<'db>),
    /// All of a statement.
    Whole(TopStatement<'db>),
}

/// The findings of a file, each with the top-level statement that it is in.
type Found<'db> = Vec<(TopStatement<'db>, Finding<'db>)>;

impl<'db> Finding<'db> {
    pub(crate) fn new(code: Code, range: TextRange, message: impl Into<String>) -> Self {
        Diagnostic::new(code, range, message).into()
    }

    /// The same with a place in any statement that explains it.
    pub(crate) fn with_site(mut self, site: Option<Site<'db>>, message: impl Into<String>) -> Self {
        self.elsewhere.extend(site.map(|site| (RelatedPlace::Name(site), message.into())));
        self
    }

    /// The same with another top-level statement that explains it.
    pub(crate) fn with_statement(mut self, statement: TopStatement<'db>, message: impl Into<String>) -> Self {
        self.elsewhere.push((RelatedPlace::Whole(statement), message.into()));
        self
    }

    /// The same with a fix in the statement, if there is one.
    pub(crate) fn with_fix(mut self, fix: impl Into<Option<Fix>>) -> Self {
        self.diagnostic = self.diagnostic.with_fix(fix);
        self
    }

    /// The same, lenient if the case is known to be harmless.
    pub(crate) fn with_lenient(mut self, lenient: bool) -> Self {
        self.diagnostic.lenient = lenient;
        self
    }

    /// The same with a fix that changes more.
    pub(crate) fn with_repair(mut self, repair: impl Into<Option<Repair<'db>>>) -> Self {
        self.repairs.extend(repair.into());
        self
    }
}

impl From<Diagnostic> for Finding<'_> {
    fn from(diagnostic: Diagnostic) -> Self {
        Self { diagnostic, until: None, elsewhere: Vec::new(), repairs: Vec::new() }
    }
}

/// The context of a check.
pub(crate) struct Checker<'a, 'db> {
    db: &'db dyn Db,
    file: SourceFile,
    chunk: Chunk<'db>,
    statement: TopStatement<'db>,
    body: &'a Body,
    resolution: &'a Resolution,
    findings: Vec<Finding<'db>>,
    /// The names of the statement by their neighbourhood, computed on demand.
    neighbours: OnceCell<Neighbours<NameId>>,
    /// The text of the statement, computed on demand.
    text: OnceCell<String>,
    /// What was not understood in the statement, in the order of the text, computed on demand.
    errors: OnceCell<Vec<TextRange>>,
    /// The names of the blocks of the statement by their frames, computed on demand.
    frames: OnceCell<FxHashMap<ScopeId, SmolStr>>,
    /// The parts that every run of the program comes to, computed on demand.
    certain: OnceCell<FxHashSet<StmtId>>,
}

impl<'db> Checker<'_, 'db> {
    /// What a name stands for in the file.
    fn look_up(&self, text: &SmolStr) -> Option<Arc<Named<'db>>> {
        lookup_in(self.db, self.chunk, text)
    }

    fn report(&mut self, finding: impl Into<Finding<'db>>) {
        self.findings.push(finding.into());
    }
}

/// The items whose key an earlier item has: the key, the first item that has it, and the item.
fn repeated<K: Eq + Hash + Copy, T: Copy>(
    items: impl IntoIterator<Item = (K, T)>,
) -> impl Iterator<Item = (K, T, T)> {
    let mut firsts = FxHashMap::default();
    items.into_iter().filter_map(move |(key, item)| match firsts.entry(key) {
        Entry::Occupied(first) => Some((key, *first.get(), item)),
        Entry::Vacant(place) => {
            place.insert(item);
            None
        }
    })
}

/// The findings of a statement.
#[salsa::tracked(returns(ref), no_eq)]
pub(crate) fn check<'db>(db: &'db dyn Db, chunk: Chunk<'db>) -> Found<'db> {
    let mut found = Vec::new();
    for (member, resolution) in members(db, chunk).iter().zip(resolutions(db, chunk)) {
        let mut checker = Checker {
            db,
            file: chunk.file(db),
            chunk,
            statement: member.statement,
            body: member.tree.body(),
            resolution,
            findings: Vec::new(),
            neighbours: OnceCell::new(),
            text: OnceCell::new(),
            errors: OnceCell::new(),
            frames: OnceCell::new(),
            certain: OnceCell::new(),
        };
        names::check(&mut checker);
        properties::check(&mut checker);
        texts::check(&mut checker);
        control::check(&mut checker);
        options::check(&mut checker);
        callees::check(&mut checker);
        calls::check(&mut checker);
        branches::check(&mut checker);
        braces::check(&mut checker);
        imports::check(&mut checker);
        unused::check(&mut checker);
        found.extend(checker.findings.into_iter().map(|finding| (member.statement, finding)));
    }
    found
}

/// What is wrong with the order of the statements of a file, and with names that they share.
#[salsa::tracked(returns(ref), no_eq)]
pub(crate) fn check_file(db: &dyn Db, file: SourceFile) -> Found<'_> {
    let mut found = order::check(db, file);
    unused::after_the_end(db, file, &mut found);
    found
}

/// Which sessions of a file speak of earlier work that they are not passed.
#[salsa::tracked(returns(ref), no_eq)]
pub(crate) fn check_isolated(db: &dyn Db, file: SourceFile) -> Found<'_> {
    isolation::check(db, file)
}

/// Which imports of a file lead to programs with errors, or that request rights which they do not have.
#[salsa::tracked(returns(ref))]
pub(crate) fn check_imported(db: &dyn Db, file: SourceFile) -> Found<'_> {
    let mut found = faulty_imports::check(db, file);
    found.extend(ungranted::check(db, file));
    found
}
