//! The call graph of blocks.
//!
//! The graph is made of summaries, so an edit that changes no call and binds no name, such as one in a prompt, leaves it as it is.

#![allow(missing_docs, reason = "the macros of salsa write functions that have none")]

use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;

use crate::db::{Db, SourceFile};
use crate::index::Site;
use crate::model::*;
use crate::statements::TopStatement;
use crate::statements::chunks::summarized;

/// The call graph of the blocks of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default, salsa::SalsaValue)]
pub struct CallGraph<'db> {
    /// The blocks with their calls, in the order of the text.
    pub blocks: Vec<Caller<'db>>,
    /// The calls outside of blocks, in the order of the text.
    pub root: Vec<Call<'db>>,
    /// The blocks of each name. There is one, unless the program is wrong.
    by_name: FxHashMap<SmolStr, Vec<usize>>,
    /// The names of the blocks that call a block, each once.
    callers: FxHashMap<SmolStr, Vec<SmolStr>>,
    /// For each name of blocks that certain calls lead back to, the cycle that it is part of.
    cycles: FxHashMap<SmolStr, CycleId>,
}

/// The identity of a cycle of blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, salsa::SalsaValue)]
pub struct CycleId(usize);

/// A block and the calls in it.
#[derive(Debug, Clone, PartialEq, Eq, salsa::SalsaValue)]
pub struct Caller<'db> {
    /// The name of the block.
    pub name: SmolStr,
    /// Where the name is bound.
    pub site: Site<'db>,
    /// Its calls, in the order of the text.
    pub calls: Vec<Call<'db>>,
}

/// A call of a block.
#[derive(Debug, Clone, PartialEq, Eq, salsa::SalsaValue)]
pub struct Call<'db> {
    /// The name of the block that is called; it need not be that of any.
    pub block: SmolStr,
    /// The statement that the call is in.
    pub statement: TopStatement<'db>,
    /// Where it is in the model of the statement.
    pub id: RefId,
    /// Whether every run of the block or the top-level statement around it comes to it, unless it fails before.
    pub is_certain: bool,
}

/// The call graph of the blocks of a file.
#[salsa::tracked(returns(ref))]
pub fn call_graph(db: &dyn Db, file: SourceFile) -> CallGraph<'_> {
    let mut graph = CallGraph::default();
    for (statement, summary) in summarized(db, file) {
        // A block without a name cannot be called, and its calls belong to no block.
        let mut callers: Vec<Option<usize>> = Vec::new();
        let mut certain: FxHashSet<RefId> = summary.certain_calls.iter().copied().collect();
        for block in &summary.blocks {
            certain.extend(&block.certain_calls);
            let bound = block.name.and_then(|name| summary.name(name));
            callers.push(bound.map(|_| graph.blocks.len()));
            if let Some(bound) = bound {
                let site = Site { statement, name: bound.id };
                graph.by_name.entry(bound.text.clone()).or_default().push(graph.blocks.len());
                graph.blocks.push(Caller { name: bound.text.clone(), site, calls: Vec::new() });
            }
        }
        for used in summary.uses.iter().filter(|used| used.kind == RefKind::Block) {
            let (block, id) = (used.text.clone(), used.id);
            let call = Call { block, statement, id, is_certain: certain.contains(&id) };
            match used.block.map(|block| callers.get(block as usize).copied().flatten()) {
                None => graph.root.push(call),
                Some(Some(caller)) => graph.blocks[caller].calls.push(call),
                Some(None) => {}
            }
        }
    }
    let mut known: FxHashSet<(&SmolStr, &SmolStr)> = FxHashSet::default();
    for caller in &graph.blocks {
        for call in caller.calls.iter().filter(|call| known.insert((&caller.name, &call.block))) {
            graph.callers.entry(call.block.clone()).or_default().push(caller.name.clone());
        }
    }
    graph.cycles = graph.find_cycles();
    graph
}

impl<'db> CallGraph<'db> {
    /// The blocks of a name.
    pub fn named(&self, name: &str) -> impl Iterator<Item = &Caller<'db>> {
        self.by_name.get(name).into_iter().flatten().map(|at| &self.blocks[*at])
    }

    /// Visits the blocks that a run which comes to a call surely comes to. What follows from one that is not new is left out.
    pub(crate) fn visit_certain(&self, call: &Call<'db>, mut is_new: impl FnMut(&SmolStr) -> bool) {
        let mut waiting = vec![&call.block];
        while let Some(name) = waiting.pop() {
            if is_new(name) {
                let calls = self.named(name).flat_map(|block| &block.calls).filter(|call| call.is_certain);
                waiting.extend(calls.map(|call| &call.block));
            }
        }
    }

    /// Whether a run of a block may come to a call of the same block.
    pub fn is_recursive(&self, name: &str) -> bool {
        let mut seen: FxHashSet<&str> = FxHashSet::default();
        let mut waiting = vec![name];
        while let Some(block) = waiting.pop() {
            for call in self.named(block).flat_map(|caller| &caller.calls) {
                if call.block == name {
                    return true;
                }
                if seen.insert(&call.block) {
                    waiting.push(&call.block);
                }
            }
        }
        false
    }

    /// Whether a run of one of some blocks may come to a call of a block. Where very many blocks lead there, one of them is taken to be
    /// one of those.
    pub(crate) fn may_be_reached_from(&self, to: &str, blocks: &FxHashSet<SmolStr>) -> bool {
        const MAX_CALLERS: usize = 1000;
        let mut seen: FxHashSet<&str> = FxHashSet::default();
        let mut waiting = vec![to];
        while let Some(block) = waiting.pop() {
            for caller in self.callers.get(block).into_iter().flatten() {
                if blocks.contains(caller) || seen.len() > MAX_CALLERS {
                    return true;
                }
                if seen.insert(caller) {
                    waiting.push(caller);
                }
            }
        }
        false
    }

    /// The cycle of blocks that every run of one of them comes to, and comes back from, that a block is part of.
    pub fn cycle(&self, name: &str) -> Option<CycleId> {
        self.cycles.get(name).copied()
    }

    /// The strongly connected components of certain calls: Tarjan's algorithm, which looks at each call once, with a stack of its own, since
    /// calls may go deep.
    fn find_cycles(&self) -> FxHashMap<SmolStr, CycleId> {
        let mut names: FxHashMap<&SmolStr, usize> = FxHashMap::default();
        let mut number = |name| {
            let next = names.len();
            *names.entry(name).or_insert(next)
        };
        let mut edges: Vec<(usize, usize)> = Vec::new();
        for caller in &self.blocks {
            let from = number(&caller.name);
            let certain = caller.calls.iter().filter(|call| call.is_certain);
            edges.extend(certain.map(|call| (from, number(&call.block))));
        }
        let mut search = CycleSearch::new(names.len(), edges);
        (0..names.len()).for_each(|name| search.visit_all_from(name));
        let cycles = names.into_iter().filter_map(|(name, at)| Some((name.clone(), search.cycle_of[at]?)));
        cycles.collect()
    }
}

/// The search for cycles in a graph of numbers.
struct CycleSearch {
    /// Where each number leads to.
    edges: Vec<Vec<usize>>,
    /// When each number was first met; none if it was not yet.
    met: Vec<Option<usize>>,
    /// The earliest one that is known to be reached from each number, and still open.
    low: Vec<usize>,
    is_open: Vec<bool>,
    open: Vec<usize>,
    clock: usize,
    cycle_of: Vec<Option<CycleId>>,
}

impl CycleSearch {
    fn new(count: usize, pairs: Vec<(usize, usize)>) -> Self {
        let mut edges = vec![Vec::new(); count];
        pairs.into_iter().for_each(|(from, to)| edges[from].push(to));
        Self {
            edges,
            met: vec![None; count],
            low: vec![0; count],
            is_open: vec![false; count],
            open: Vec::new(),
            clock: 0,
            cycle_of: vec![None; count],
        }
    }

    fn visit_all_from(&mut self, start: usize) {
        if self.met[start].is_some() {
            return;
        }
        self.meet(start);
        // Each number on the way, with how many of its edges were followed.
        let mut way = vec![(start, 0)];
        while let Some((at, followed)) = way.last_mut() {
            let at = *at;
            match self.edges[at].get(*followed).copied() {
                Some(next) => {
                    *followed += 1;
                    match self.met[next] {
                        None => {
                            self.meet(next);
                            way.push((next, 0));
                        }
                        Some(met) if self.is_open[next] => self.low[at] = self.low[at].min(met),
                        Some(_) => {}
                    }
                }
                None => {
                    way.pop();
                    if let Some((before, _)) = way.last() {
                        self.low[*before] = self.low[*before].min(self.low[at]);
                    }
                    if self.met[at] == Some(self.low[at]) {
                        self.close(at);
                    }
                }
            }
        }
    }

    fn meet(&mut self, at: usize) {
        self.met[at] = Some(self.clock);
        self.low[at] = self.clock;
        self.clock += 1;
        self.is_open[at] = true;
        self.open.push(at);
    }

    /// Closes the component that begins at a number. Of a single one it is a cycle only if it leads to itself.
    fn close(&mut self, first: usize) {
        let is_cycle = self.open.last() != Some(&first) || self.edges[first].contains(&first);
        while let Some(member) = self.open.pop() {
            self.is_open[member] = false;
            self.cycle_of[member] = is_cycle.then_some(CycleId(first));
            if member == first {
                break;
            }
        }
    }
}
