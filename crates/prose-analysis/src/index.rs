//! Every name of a file.

#![allow(missing_docs, reason = "the macros of salsa write functions that have none")]

use std::borrow::Borrow;
use std::sync::Arc;

use prose_syntax::suggest::nearest;
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;

use crate::db::{Db, SourceFile};
use crate::model::{NameId, NameKind, Place, RefKind};
use crate::neighbours::{MAX_COMPARED, Neighbours};
use crate::statements::chunks::{Chunk, chunks, summaries, summarized};
use crate::statements::{TopStatement, summary};
use crate::summary::{Persist, Summary, Used};

/// A name as the key of a query.
#[salsa::interned(debug)]
pub struct Symbol<'db> {
    /// The file that it is a name in.
    #[returns(copy)]
    pub file: SourceFile,
    /// The name.
    #[returns(ref)]
    pub text: SmolStr,
}

/// A name in the model of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, salsa::SalsaValue)]
pub struct Site<'db> {
    /// The statement.
    pub statement: TopStatement<'db>,
    /// The name in it.
    pub name: NameId,
}

/// Where a variable is bound.
#[derive(Debug, Clone, PartialEq, Eq, salsa::SalsaValue)]
pub struct VariableSite<'db> {
    /// The place.
    pub site: Site<'db>,
    /// What is bound.
    pub kind: NameKind,
    /// The block whose variable it is; none for one of the file.
    pub block: Option<SmolStr>,
    /// The program whose result it is.
    pub program: Option<SmolStr>,
    /// The block whose result it is.
    pub called_block: Option<SmolStr>,
}

/// Everything that one name stands for in a file.
#[derive(Debug, Clone, PartialEq, Eq, Default, salsa::SalsaValue)]
pub struct Named<'db> {
    /// The agents, in the order of the text.
    pub agents: Vec<Site<'db>>,
    /// The blocks.
    pub blocks: Vec<Site<'db>>,
    /// The imported programs.
    pub imports: Vec<Site<'db>>,
    /// The variables, without loop, catch and pipeline variables.
    pub variables: Vec<VariableSite<'db>>,
    /// The first loop, catch or pipeline variable, which is out of scope after its body (R18).
    pub local: Option<Site<'db>>,
    /// Whether an `import` brings a skill of that name.
    pub is_skill: bool,
    /// Whether the word stands on a line that was not understood, and so may have been defined or used there.
    pub lost: bool,
    /// How it is used.
    pub uses: Uses,
    /// What is asked of the variables again and again.
    firsts: Firsts,
}

/// The first variables of some kinds of a name, as numbers in [`Named::variables`]: a program may bind one name very often, and ask for it as often.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, salsa::SalsaValue)]
struct Firsts {
    /// Of the file.
    root: Option<u32>,
    /// Of the file, in another statement than that.
    root_elsewhere: Option<u32>,
    /// Of the file, declared with a keyword.
    root_declared: Option<u32>,
    /// Of the file, and not only assigned.
    root_known: Option<u32>,
    /// Not only assigned.
    known: Option<u32>,
    /// Of another block than the first one.
    other_block: Option<u32>,
}

/// How a name is used in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, salsa::SalsaValue)]
pub struct Uses {
    /// As an agent.
    pub agent: bool,
    /// As a block.
    pub block: bool,
    /// As a program.
    pub program: bool,
    /// As a skill.
    pub skill: bool,
    /// As a variable that no body of its own answers to.
    pub variable: bool,
    /// The same outside of long texts, where a word in braces may be text.
    pub value: bool,
}

impl<'db> Named<'db> {
    /// The variables of the file itself.
    pub fn root_variables(&self) -> impl Iterator<Item = &VariableSite<'db>> {
        self.variables.iter().filter(|site| site.block.is_none())
    }

    fn nth(&self, nth: Option<u32>) -> Option<&VariableSite<'db>> {
        self.variables.get(nth? as usize)
    }

    /// The first variable of the file itself.
    pub fn first_root_variable(&self) -> Option<&VariableSite<'db>> {
        self.nth(self.firsts.root)
    }

    /// The first variable of the file itself that another statement binds.
    pub(crate) fn first_root_variable_outside(
        &self,
        statement: TopStatement<'db>,
    ) -> Option<&VariableSite<'db>> {
        let is_outside = |site: &&VariableSite<'db>| site.site.statement != statement;
        self.first_root_variable().filter(is_outside).or_else(|| self.nth(self.firsts.root_elsewhere))
    }

    /// The first variable of the file itself that is declared with a keyword.
    pub(crate) fn first_declared(&self) -> Option<&VariableSite<'db>> {
        self.nth(self.firsts.root_declared)
    }

    /// Whether there is a variable that is not only assigned, of the file itself or of any block.
    pub(crate) fn is_declared(&self, in_file: bool) -> bool {
        if in_file { self.firsts.root_known.is_some() } else { self.firsts.known.is_some() }
    }

    /// Whether all of the variables are of one block, or of none.
    pub(crate) fn is_of_one_block(&self) -> bool {
        self.firsts.other_block.is_none()
    }

    fn find_firsts(&mut self) {
        let mut firsts = Firsts::default();
        let first = self.variables.first();
        let mut root: Option<&VariableSite<'db>> = None;
        for (nth, site) in self.variables.iter().enumerate() {
            // Each binding takes at least one byte of a text whose length fits.
            let note = |place: &mut Option<u32>, is_such: bool| {
                if is_such {
                    place.get_or_insert(nth as u32);
                }
            };
            let (is_root, is_known) = (site.block.is_none(), site.kind != NameKind::Assigned);
            if is_root {
                let of_first = *root.get_or_insert(site);
                note(&mut firsts.root_elsewhere, of_first.site.statement != site.site.statement);
            }
            note(&mut firsts.root, is_root);
            note(&mut firsts.root_declared, is_root && site.kind.is_declaration());
            note(&mut firsts.root_known, is_root && is_known);
            note(&mut firsts.known, is_known);
            note(&mut firsts.other_block, first.is_some_and(|first| first.block != site.block));
        }
        self.firsts = firsts;
    }

    /// Whether it is used as what it is not. That is reported where it is used, so it is not unused as well.
    pub(crate) fn is_mistaken(&self) -> bool {
        self.uses.agent && self.agents.is_empty()
            || self.uses.block && self.blocks.is_empty()
            || self.uses.program && self.imports.is_empty()
            || self.uses.value && self.variables.is_empty()
    }
}

/// Names of a file and what they stand for.
#[derive(Debug, Clone, PartialEq, Eq, Default, salsa::SalsaValue)]
pub struct Index<'db> {
    names: FxHashMap<Name, Arc<Named<'db>>>,
}

/// A name as a key.
#[derive(Debug, Clone, PartialEq, Eq, Hash, salsa::SalsaValue)]
struct Name(SmolStr);

impl Borrow<SmolStr> for Name {
    fn borrow(&self) -> &SmolStr {
        &self.0
    }
}

impl<'db> Index<'db> {
    /// What a name stands for.
    pub fn get(&self, name: &SmolStr) -> Option<&Arc<Named<'db>>> {
        self.names.get(name)
    }

    /// How many names there are.
    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    /// The names and what they stand for, in no order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&SmolStr, &Arc<Named<'db>>)> {
        self.names.iter().map(|(name, named)| (&name.0, named))
    }

    /// The part with the names of a statement.
    fn extend_with(&mut self, summary: &Summary, index: &Self) {
        let bound = summary.names.iter().map(|bound| &bound.text);
        for name in bound.chain(summary.uses.iter().map(|used| &used.text)) {
            if let Some((name, named)) = index.names.get_key_value(name)
                && !self.names.contains_key(name)
            {
                self.names.insert(name.clone(), Arc::clone(named));
            }
        }
    }
}

/// Every name of a file.
#[salsa::tracked(returns(ref))]
pub fn index(db: &dyn Db, file: SourceFile) -> Index<'_> {
    let mut names: FxHashMap<SmolStr, Named<'_>> = FxHashMap::default();
    for word in &chunks(db, file).lost {
        names.entry(word.clone()).or_default().lost = true;
    }
    for (statement, summary) in summarized(db, file) {
        for bound in &summary.names {
            let named = names.entry(bound.text.clone()).or_default();
            let site = Site { statement, name: bound.id };
            if bound.kind.is_local() {
                named.local.get_or_insert(site);
                continue;
            }
            match bound.kind {
                NameKind::Agent => named.agents.push(site),
                NameKind::Block => named.blocks.push(site),
                NameKind::Import => named.imports.push(site),
                kind => {
                    let block = bound.block.and_then(|block| {
                        let name = summary.blocks.get(block as usize)?.name?;
                        Some(summary.name(name)?.text.clone())
                    });
                    // A block without a name has variables too, which nothing outside can reach.
                    let block = block.or_else(|| bound.block.map(|_| SmolStr::default()));
                    let (program, called_block) = (bound.program.clone(), bound.called_block.clone());
                    named.variables.push(VariableSite { site, kind, block, program, called_block });
                }
            }
        }
        for used in &summary.uses {
            let uses = &mut names.entry(used.text.clone()).or_default().uses;
            match used.kind {
                RefKind::Agent => uses.agent = true,
                RefKind::Block => uses.block = true,
                RefKind::Callee => uses.program = true,
                RefKind::Variable if used.is_local && used.block.is_none() => {}
                RefKind::Variable => {
                    uses.variable = true;
                    uses.value |= !matches!(used.place, Place::Literal | Place::Agent { one_line: false });
                }
                RefKind::Write => {}
            }
        }
        for skill in &summary.skills {
            names.entry(skill.clone()).or_default().is_skill = true;
        }
        for skill in &summary.used_skills {
            names.entry(skill.clone()).or_default().uses.skill = true;
        }
        for word in &summary.lost {
            names.entry(word.clone()).or_default().lost = true;
        }
    }
    for word in summarized(db, file).flat_map(|(_, summary)| &summary.mentions) {
        if let Some(named) = names.get_mut(word) {
            named.uses.variable |= !named.variables.is_empty();
        }
    }
    let names = names.into_iter().map(|(text, mut named)| {
        named.find_firsts();
        (Name(text), Arc::new(named))
    });
    Index { names: names.collect() }
}

/// The names that a chunk binds or uses, and what they stand for in the file. The other names of the file do not change it.
#[salsa::tracked(returns(ref))]
pub(crate) fn scope<'db>(db: &'db dyn Db, chunk: Chunk<'db>) -> Index<'db> {
    let index = index(db, chunk.file(db));
    let mut scope = Index::default();
    summaries(db, chunk).iter().for_each(|member| scope.extend_with(&member.summary, index));
    scope
}

/// What a name stands for in the file of a chunk. Asking for a name that the chunk binds or uses is no query of its own.
pub(crate) fn lookup_in<'db>(db: &'db dyn Db, chunk: Chunk<'db>, name: &SmolStr) -> Option<Arc<Named<'db>>> {
    scope(db, chunk).get(name).cloned().or_else(|| lookup(db, chunk.file(db), name))
}

/// The names that are used and stand for nothing, in the order of the alphabet. What is nearly one of them was probably meant, and
/// so is not unused.
#[salsa::tracked(returns(ref))]
pub fn undefined(db: &dyn Db, file: SourceFile) -> Vec<SmolStr> {
    let is_undefined = |named: &Named<'_>| {
        let Uses { agent, block, program, skill: _, variable, value: _ } = named.uses;
        let stands_for_nothing = named.agents.is_empty()
            && named.blocks.is_empty()
            && named.imports.is_empty()
            && named.variables.is_empty();
        stands_for_nothing && (agent || block || program || variable)
    };
    let names = index(db, file).iter().filter(|(_, named)| is_undefined(named));
    let mut names: Vec<SmolStr> = names.map(|(name, _)| name.clone()).collect();
    names.sort_unstable();
    names
}

/// Whether a name was probably meant where another is used that stands for nothing.
pub fn is_probably_misspelled(db: &dyn Db, file: SourceFile, name: &str) -> bool {
    confused(db, file).as_ref().is_some_and(|confused| confused.unused == name)
        || is_near_undefined(db, file, name)
}

fn is_near_undefined(db: &dyn Db, file: SourceFile, name: &str) -> bool {
    let undefined = undefined(db, file);
    let is_near = |word: &SmolStr| nearest(word, [name], |name| name).is_some();
    match undefined.len() {
        ..=MAX_COMPARED => undefined.iter().any(is_near),
        _ => undefined_neighbours(db, file).of(name).any(|at| is_near(&undefined[at])),
    }
}

/// The names that are used and stand for nothing, by their neighbourhood.
#[salsa::tracked(returns(ref))]
fn undefined_neighbours(db: &dyn Db, file: SourceFile) -> Neighbours<usize> {
    Neighbours::new(undefined(db, file).iter().enumerate())
}

/// The names of a file by their neighbourhood.
#[salsa::tracked(returns(ref))]
pub(crate) fn neighbours(db: &dyn Db, file: SourceFile) -> Neighbours<SmolStr> {
    Neighbours::new(index(db, file).iter().map(|(name, _)| (name.clone(), name)))
}

/// The blocks that have a variable of a name.
#[derive(Debug, Clone, PartialEq, Eq, Default, salsa::SalsaValue)]
pub(crate) struct BindingBlocks {
    /// Their names.
    pub(crate) blocks: FxHashSet<SmolStr>,
    /// Whether one of them is called.
    pub(crate) is_called: bool,
    /// Whether the variables are parameters, all of them.
    pub(crate) are_params: bool,
}

/// The blocks that have a variable of a name.
#[salsa::tracked(returns(ref))]
pub(crate) fn binding_blocks<'db>(db: &'db dyn Db, symbol: Symbol<'db>) -> BindingBlocks {
    let Some(named) = named(db, symbol) else { return BindingBlocks::default() };
    let blocks: FxHashSet<SmolStr> = named.variables.iter().filter_map(|site| site.block.clone()).collect();
    let is_called =
        blocks.iter().any(|block| lookup(db, symbol.file(db), block).is_some_and(|named| named.uses.block));
    let are_params = named.variables.iter().all(|site| site.kind == NameKind::Param);
    BindingBlocks { blocks, is_called, are_params }
}

/// Whether one of the agents of a name has a memory.
#[salsa::tracked(returns(copy))]
pub(crate) fn keeps_memory<'db>(db: &'db dyn Db, symbol: Symbol<'db>) -> bool {
    let persists = |site: &Site<'db>| {
        summary(db, site.statement).agent(site.name).is_none_or(|agent| agent.persist != Persist::No)
    };
    named(db, symbol).is_some_and(|named| named.agents.iter().any(persists))
}

/// The only unknown name of a file, and the variable that was probably meant by it.
#[derive(Debug, Clone, PartialEq, Eq, salsa::SalsaValue)]
pub(crate) struct Confused {
    /// The name that is used as a variable and stands for nothing.
    pub(crate) unknown: SmolStr,
    /// The name of the variable, which nothing uses.
    pub(crate) unused: SmolStr,
}

/// The only name that is used as a variable and stands for nothing, and the only variable that nothing uses, if the variable can be seen where
/// the name is used. If another variable is nearly called so, that is meant.
#[salsa::tracked(returns(ref))]
pub(crate) fn confused(db: &dyn Db, file: SourceFile) -> Option<Confused> {
    let names = index(db, file);
    let mut unknown =
        undefined(db, file).iter().filter(|name| names.get(name).is_some_and(|named| named.uses.value));
    let (Some(unknown), None) = (unknown.next(), unknown.next()) else { return None };
    let named = names.get(unknown)?;
    let is_other = named.uses.agent || named.uses.block || named.uses.program;
    if is_other || named.lost || named.local.is_some() {
        return None;
    }
    let is_unused = |(name, named): &(&SmolStr, &Arc<Named<'_>>)| {
        let is_wanted = |site: &VariableSite<'_>| site.kind.is_declaration() || site.kind == NameKind::Param;
        named.variables.iter().any(is_wanted) && !(named.uses.variable || named.lost || name.starts_with('_'))
    };
    let mut unused = names.iter().filter(is_unused);
    let (Some((unused, named)), None) = (unused.next(), unused.next()) else { return None };
    let [variable] = named.variables.as_slice() else { return None };
    let bound = summary(db, variable.site.statement).name(variable.site.name)?;
    // The last variable of a block may be its result, and that of a body may not be bound.
    if bound.kind != NameKind::Param && bound.list.is_some() {
        return None;
    }
    let mut is_bound = false;
    for (statement, summary) in summarized(db, file) {
        is_bound |= statement == variable.site.statement;
        let is_blind = |used: &Used| {
            used.text == *unknown
                && (!is_bound
                    || bound.block.is_some()
                        && (statement != variable.site.statement || used.block != bound.block))
        };
        if summary.uses.iter().any(is_blind) {
            return None;
        }
    }
    let variables = names.iter().filter(|(_, named)| !named.variables.is_empty() || named.local.is_some());
    let is_near = nearest(unknown, variables, |(name, _)| name.as_str()).is_some();
    (!is_near).then(|| Confused { unknown: unknown.clone(), unused: unused.clone() })
}

/// The names of the blocks whose headers were not understood.
#[derive(Debug, Clone, PartialEq, Eq, Default, salsa::SalsaValue)]
pub(crate) struct BrokenHeaders {
    /// In the order of the alphabet.
    names: Vec<SmolStr>,
    /// The same, each backwards.
    backwards: Vec<String>,
}

impl BrokenHeaders {
    /// Whether one of the names starts with a word.
    pub(crate) fn start_with(&self, word: &str) -> bool {
        let at = self.names.partition_point(|name| name.as_str() < word);
        self.names.get(at).is_some_and(|name| name.starts_with(word))
    }

    /// Whether one of the names ends with a word.
    pub(crate) fn end_with(&self, word: &str) -> bool {
        if self.backwards.is_empty() {
            return false;
        }
        let word = backwards(word);
        let at = self.backwards.partition_point(|name| *name < word);
        self.backwards.get(at).is_some_and(|name| name.starts_with(&word))
    }
}

fn backwards(word: &str) -> String {
    word.chars().rev().collect()
}

/// The names of the blocks whose headers were not understood.
#[salsa::tracked(returns(ref))]
pub(crate) fn broken_headers(db: &dyn Db, file: SourceFile) -> BrokenHeaders {
    let mut names: Vec<SmolStr> = Vec::new();
    for (_, summary) in summarized(db, file) {
        let broken = summary.blocks.iter().filter(|block| block.has_lost_params);
        names.extend(broken.filter_map(|block| Some(summary.name(block.name?)?.text.clone())));
    }
    names.sort_unstable();
    let mut backwards: Vec<String> = names.iter().map(|name| backwards(name)).collect();
    backwards.sort_unstable();
    BrokenHeaders { names, backwards }
}

/// Computes again what is kept for a file that was emptied.
pub(crate) fn release(db: &dyn Db, file: SourceFile) {
    index(db, file);
    undefined(db, file);
    undefined_neighbours(db, file);
    neighbours(db, file);
    confused(db, file);
    broken_headers(db, file);
    has_nameless_input(db, file);
}

/// Whether an input of a file has lost its name: then a name that stands for nothing may be that.
#[salsa::tracked(returns(copy))]
pub fn has_nameless_input(db: &dyn Db, file: SourceFile) -> bool {
    summarized(db, file).any(|(_, summary)| summary.has_nameless_input)
}

/// What a name stands for in a file. Asking for one name does not depend on the others.
#[salsa::tracked(returns(clone))]
pub fn named<'db>(db: &'db dyn Db, symbol: Symbol<'db>) -> Option<Arc<Named<'db>>> {
    index(db, symbol.file(db)).get(symbol.text(db)).cloned()
}

/// What a name stands for in a file.
pub fn lookup<'db>(db: &'db dyn Db, file: SourceFile, text: &SmolStr) -> Option<Arc<Named<'db>>> {
    named(db, Symbol::new(db, file, text.clone()))
}
