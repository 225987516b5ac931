//! What depends on the order of statements: names that are declared twice, and uses before there is anything to use.
//!
//! All of it is found in summaries, so an edit that changes no summary does not bring it about again.

use std::cell::OnceCell;
use std::collections::hash_map::Entry;
use std::path::{Path, PathBuf};

use prose_syntax::suggest::nearest;
use prose_syntax::{Code, Fix, SyntaxKind, TextEdit, TextRange, TextSize};
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;

use super::{Finding, Found, RelatedPlace};
use crate::call_graph::{Call, Caller, CycleId, call_graph};
use crate::db::{Db, SourceFile};
use crate::index::{Site, index, is_probably_misspelled};
use crate::location::normalized;
use crate::model::*;
use crate::neighbours::{MAX_COMPARED, Neighbours};
use crate::repairs::Repair;
use crate::statements::chunks::summarized;
use crate::statements::{TopStatement, body, summary};
use crate::summary::{Bound, Persist, Summary};

/// The maximum number of related locations of a finding.
const MAX_RELATED: usize = 5;

pub(super) fn check(db: &dyn Db, file: SourceFile) -> Found<'_> {
    let statements: Vec<_> = summarized(db, file).collect();
    let order =
        Order { db, file, statements: &statements, positions: OnceCell::new(), agents: OnceCell::new() };
    let mut found = Vec::new();
    order.definitions(&mut found);
    order.imports(&mut found);
    order.declarations(&mut found);
    order.late_inputs(&mut found);
    order.memory(&mut found);
    super::early::check(db, file, &statements, &mut found);
    order.recursion(&mut found);
    found
}

struct Order<'a, 'db> {
    db: &'db dyn Db,
    file: SourceFile,
    statements: &'a [(TopStatement<'db>, &'db Summary)],
    /// Where each statement stands among the others, computed on demand: few programs declare a name again.
    positions: OnceCell<FxHashMap<TopStatement<'db>, usize>>,
    /// The names of the agents, computed on demand.
    agents: OnceCell<Agents<'db>>,
}

/// The names of the agents of a file, in the order of the text.
struct Agents<'db> {
    names: Vec<&'db SmolStr>,
    /// By their neighbourhood, if they are very many.
    neighbours: Option<Neighbours<usize>>,
}

impl<'db> Agents<'db> {
    /// The one that was probably meant by a word.
    fn nearest(&self, word: &str) -> Option<&'db SmolStr> {
        match &self.neighbours {
            None => nearest(word, self.names.iter().copied(), |name| name),
            Some(neighbours) => nearest(word, neighbours.of(word).map(|at| self.names[at]), |name| name),
        }
    }
}

/// A list of statements below a top-level one; none for the top level.
type List<'db> = Option<(TopStatement<'db>, ListId)>;

/// Where a declaration was seen first.
type First<'db, K> = FxHashMap<K, Site<'db>>;

impl<'db> Order<'_, 'db> {
    fn summary(&self, statement: TopStatement<'db>) -> &'db Summary {
        summary(self.db, statement)
    }

    fn range(&self, statement: TopStatement<'db>, name: NameId) -> TextRange {
        body(self.db, statement)[name].range
    }

    fn names(&self) -> impl Iterator<Item = (Site<'db>, &'db Summary, &'db Bound)> {
        self.statements.iter().flat_map(|(statement, summary)| {
            summary
                .names
                .iter()
                .map(move |bound| (Site { statement: *statement, name: bound.id }, *summary, bound))
        })
    }

    /// A finding at a name that was bound before at `first`.
    fn again(&self, code: Code, site: Site<'db>, first: Site<'db>, message: String) -> Finding<'db> {
        let finding = Finding::new(code, self.range(site.statement, site.name), message);
        finding.with_site(Some(first), "first defined here")
    }

    fn definitions(&self, found: &mut Found<'db>) {
        let mut definitions: First<'_, (NameKind, &SmolStr)> = First::default();
        for (site, _, bound) in self.names() {
            let code = match bound.kind {
                NameKind::Agent => Code::E006,
                NameKind::Block => Code::E118,
                _ => continue,
            };
            match definitions.entry((bound.kind, &bound.text)) {
                Entry::Occupied(first) => {
                    let (what, name) = (bound.kind.noun(), &bound.text);
                    let message = format!("{what} `{name}` is already defined; rename one of them");
                    found.push((site.statement, self.again(code, site, *first.get(), message)));
                }
                Entry::Vacant(place) => _ = place.insert(site),
            }
        }
        let mut reported = FxHashSet::default();
        for (site, _, bound) in self.names() {
            let name = &bound.text;
            let Some(agent) = definitions.get(&(NameKind::Agent, name)) else { continue };
            let (code, lenient) = match bound.kind {
                NameKind::Agent | NameKind::Import => continue,
                NameKind::Block => (Code::E123, false),
                kind => (Code::E122, kind.is_local() || kind == NameKind::Param),
            };
            if !reported.insert((name, code, bound.block)) {
                continue;
            }
            let message = format!("`{name}` is also the name of an agent; rename one of them");
            let finding =
                Finding::new(code, self.range(site.statement, site.name), message).with_lenient(lenient);
            found.push((site.statement, finding.with_site(Some(*agent), "the agent is defined here")));
        }
    }

    fn imports(&self, found: &mut Found<'db>) {
        // `./a.prose` and `./b/../a.prose` are one program, and a name of a registry has neither `.` nor `..`.
        let mut paths: FxHashMap<PathBuf, (TopStatement<'db>, Option<&SmolStr>)> = FxHashMap::default();
        let mut names: First<'_, &SmolStr> = First::default();
        for (statement, summary) in self.statements {
            for import in &summary.imports {
                let name = import.name.and_then(|name| summary.name(name)).map(|bound| &bound.text);
                let site = import.name.map(|name| Site { statement: *statement, name });
                let target = import.path.as_ref().map(|path| (path, normalized(Path::new(path))));
                if let Some((path, target)) = &target
                    && let Some((first, first_name)) = paths.get(target)
                {
                    let range = body(self.db, *statement)[import.stmt].range;
                    let message = match name == *first_name {
                        true => format!("`{path}` is already imported"),
                        false => format!("`{path}` is already imported under another name"),
                    };
                    let first = self
                        .summary(*first)
                        .imports
                        .first()
                        .and_then(|import| import.name)
                        .map(|name| Site { statement: *first, name });
                    let title = "Remove the second import".to_owned();
                    let finding = Finding::new(Code::E010, range, message)
                        .with_site(first, "first imported here")
                        .with_lenient(name != *first_name)
                        .with_repair(Repair::RemoveLines { title, range });
                    found.push((*statement, finding));
                    continue;
                }
                if let Some((_, target)) = target {
                    paths.insert(target, (*statement, name));
                }
                let (Some(name), Some(site)) = (name, site) else { continue };
                match names.entry(name) {
                    Entry::Occupied(first) => {
                        let message = format!(
                            "another program is already imported as `{name}`; rename this one with `as`"
                        );
                        let fix = (!import.has_alias).then(|| {
                            let at = body(self.db, *statement)[import.stmt].range.end();
                            let edit = TextEdit::insert(at, format!(" as {name}2"));
                            Fix::suggestion(format!("Import as `{name}2`"), edit)
                        });
                        let finding = self.again(Code::E133, site, *first.get(), message);
                        found.push((*statement, finding.with_fix(fix)));
                    }
                    Entry::Vacant(place) => _ = place.insert(site),
                }
            }
        }
    }

    fn declarations(&self, found: &mut Found<'db>) {
        // In one list of statements; a list of its own for each statement, and one for the top level.
        let mut in_list: First<'_, (List<'_>, &SmolStr, Group)> = First::default();
        // In the statement itself, which other declarations may be in.
        let mut in_header: First<'_, (TopStatement<'_>, &SmolStr)> = First::default();
        let mut in_file: First<'_, (&SmolStr, Group)> = First::default();
        // The variables of the file or of a block that enclose a list, for shadowing.
        for (site, summary, bound) in self.names() {
            let name = &bound.text;
            let group = match bound.kind {
                NameKind::Input => Group::Input,
                NameKind::Let | NameKind::Const => Group::Variable,
                NameKind::Output => Group::Output,
                NameKind::Branch => Group::Branch,
                kind if kind.is_local() || kind == NameKind::Param => {
                    self.shadowing(site, bound, found);
                    continue;
                }
                _ => continue,
            };
            let list = bound.list.map(|list| (site.statement, list));
            let first_in_list = in_list.get(&(list, name, group)).copied();
            let first_in_file = in_file.get(&(name, group)).copied();
            in_list.entry((list, name, group)).or_insert(site);
            if list.is_none() && matches!(group, Group::Input | Group::Variable) {
                in_header.entry((site.statement, name)).or_insert(site);
            }
            in_file.entry((name, group)).or_insert(site);
            let finding = match group {
                Group::Input => {
                    if let Some(first) = first_in_file {
                        // On paths that exclude each other an input may be asked for twice.
                        if first_in_list.is_none() && bound.list.is_some() {
                            continue;
                        }
                        let message = format!("input `{name}` is already declared");
                        let finding = self.again(Code::E021, site, first, message);
                        finding.with_repair(self.remove(site, "the second input"))
                    } else if let Some(variable) = in_list.get(&(list, name, Group::Variable)) {
                        let message = format!("variable `{name}` is already declared");
                        self.again(Code::E019, site, *variable, message)
                    } else {
                        continue;
                    }
                }
                Group::Variable => {
                    let input = in_list.get(&(list, name, Group::Input)).copied();
                    // Names that one `let` takes apart are distinguished on their own.
                    if first_in_list.is_some_and(|first| self.is_one_statement(site, first)) {
                        continue;
                    }
                    if let Some(first) = first_in_list.or(input) {
                        let message =
                            format!("variable `{name}` is already declared; assign to it with `{name} = …`");
                        self.again(Code::E019, site, first, message).with_fix(self.assign(site))
                    } else if let Some(outer) =
                        self.declared_around(site, summary, bound, &in_list, &in_header)
                    {
                        let message = format!(
                            "variable `{name}` is already declared outside of this body; assign to it with `{name} = …`"
                        );
                        Finding::new(Code::W105, self.range(site.statement, site.name), message)
                            .with_site(Some(outer), "declared here")
                            .with_fix(self.assign(site))
                    } else if let Some(first) = first_in_file {
                        let message = format!("`{name}` is also declared elsewhere in the program");
                        self.again(Code::E019, site, first, message).with_lenient(true)
                    } else {
                        continue;
                    }
                }
                Group::Output => {
                    let variable = in_file
                        .get(&(name, Group::Variable))
                        .or_else(|| in_file.get(&(name, Group::Input)))
                        .filter(|_| bound.block.is_none());
                    if let Some(first) = first_in_list.or(first_in_file) {
                        let message = format!("output `{name}` is already declared; this one replaces it");
                        self.again(Code::E024, site, first, message).with_lenient(first_in_list.is_none())
                    } else if let Some(variable) = variable {
                        let message = format!(
                            "output `{name}` replaces the variable of the same name; rename one of them"
                        );
                        // That of a block is another one, and gone when the block ends.
                        let is_of_block = self
                            .summary(variable.statement)
                            .name(variable.name)
                            .is_some_and(|variable| variable.block.is_some());
                        let is_harmless = is_of_block
                            || bound.from_itself
                            || is_probably_misspelled(self.db, self.file, name);
                        self.again(Code::E128, site, *variable, message).with_lenient(is_harmless)
                    } else {
                        continue;
                    }
                }
                Group::Branch => {
                    let variable = || in_file.get(&(name, Group::Variable)).copied();
                    if let Some(first) = first_in_list {
                        let message = format!("duplicate branch name `{name}`; one result would be lost");
                        self.again(Code::E127, site, first, message)
                    } else if let Some(first) = first_in_file.or_else(variable) {
                        let message = format!("`{name}` is also bound elsewhere in the program");
                        self.again(Code::E127, site, first, message).with_lenient(true)
                    } else {
                        continue;
                    }
                }
            };
            found.push((site.statement, finding));
        }
    }

    fn is_one_statement(&self, site: Site<'db>, other: Site<'db>) -> bool {
        let stmt = |site: Site<'db>| body(self.db, site.statement)[site.name].stmt;
        site.statement == other.statement && stmt(site) == stmt(other)
    }

    /// The fix that makes an assignment of a declaration.
    fn assign(&self, site: Site<'db>) -> Option<Fix> {
        let body = body(self.db, site.statement);
        let stmt = &body[body[site.name].stmt];
        let Stmt::Let { is_const: false, destructured: false, .. } = stmt.stmt else { return None };
        let keyword = TextRange::new(stmt.range.start(), body[site.name].range.start());
        Some(Fix::suggestion("Assign to it without `let`", TextEdit::delete(keyword)))
    }

    fn remove(&self, site: Site<'db>, what: &str) -> Repair<'db> {
        let body = body(self.db, site.statement);
        Repair::RemoveLines { title: format!("Remove {what}"), range: body[body[site.name].stmt].range }
    }

    /// The declaration of a name in a list around a nested declaration of the same frame (A4).
    fn declared_around(
        &self,
        site: Site<'db>,
        summary: &Summary,
        bound: &Bound,
        in_list: &First<'db, (List<'db>, &SmolStr, Group)>,
        in_header: &First<'db, (TopStatement<'db>, &SmolStr)>,
    ) -> Option<Site<'db>> {
        // Asked for only below the top level: what is read here has all of this checked again when its prompt is edited.
        let list = bound.list?;
        let here = body(self.db, site.statement);
        let name = &bound.text;
        let first_of = |list: List<'db>| {
            let groups = [Group::Input, Group::Variable].into_iter();
            let sites = groups.filter_map(|group| in_list.get(&(list, name, group)).copied());
            sites.min_by_key(|site| (self.position(site.statement), site.name))
        };
        let is_of_frame = |outer: &Site<'db>| {
            *outer != site && summary.name(outer.name).is_some_and(|outer| outer.block == bound.block)
        };
        // The lists around it, from the inside out.
        let owner_of = |list: &ListId| here[here[*list].owner].list;
        let around = std::iter::successors(owner_of(&list), owner_of);
        let in_lists = around.filter_map(|list| first_of(Some((site.statement, list))).filter(is_of_frame));
        let in_header = in_header.get(&(site.statement, name)).copied().filter(is_of_frame);
        if let Some(outermost) = in_header.or_else(|| in_lists.last()) {
            return Some(outermost);
        }
        if bound.block.is_some() {
            return None;
        }
        first_of(None).filter(|outer| self.position(outer.statement) < self.position(site.statement))
    }

    fn position(&self, statement: TopStatement<'db>) -> usize {
        let positions = self.positions.get_or_init(|| {
            self.statements
                .iter()
                .enumerate()
                .map(|(position, (statement, _))| (*statement, position))
                .collect()
        });
        positions.get(&statement).copied().unwrap_or(usize::MAX)
    }

    /// A loop, catch or pipeline variable or a parameter with the name of a variable around it.
    fn shadowing(&self, site: Site<'db>, bound: &Bound, found: &mut Found<'db>) {
        let here = body(self.db, site.statement);
        let data = &here[site.name];
        let around = here[data.scope].parent;
        let in_statement = around.and_then(|scope| here.answer_around(scope, &data.text));
        let outer = match in_statement {
            Some(name) => Some(Site { statement: site.statement, name }),
            None => {
                let named = index(self.db, self.file).get(&bound.text);
                named.and_then(|named| named.first_root_variable().map(|variable| variable.site))
            }
        };
        let Some(outer) = outer.filter(|outer| *outer != site) else { return };
        let message = format!("`{}` shadows a variable of the same name", bound.text);
        let finding = Finding::new(Code::W106, data.range, message);
        found.push((site.statement, finding.with_site(Some(outer), "the shadowed variable is bound here")));
    }

    /// Inputs after a statement that runs (B1).
    fn late_inputs(&self, found: &mut Found<'db>) {
        let mut runs = false;
        for (statement, summary) in self.statements {
            for input in &summary.inputs {
                let bound = summary.name(input.name);
                if runs || bound.is_some_and(|bound| bound.list.is_some()) {
                    let message = format!("input `{}` must come before the first statement", input.text);
                    let range = self.range(*statement, input.name);
                    found.push((*statement, Finding::new(Code::E022, range, message)));
                }
            }
            runs |= summary.runs && statement.kind(self.db) != SyntaxKind::BLOCK_DEF;
        }
    }

    /// Resumed agents that can have no memory yet (C1), and sessions that drop the one they have (C3).
    fn memory(&self, found: &mut Found<'db>) {
        let mut spawned: FxHashSet<&SmolStr> = FxHashSet::default();
        // When a block runs is not known, and it may be what starts the memory.
        let mut spawned_in_blocks: FxHashSet<&SmolStr> = FxHashSet::default();
        let mut reported: FxHashSet<&SmolStr> = FxHashSet::default();
        for (statement, summary) in self.statements {
            for used in summary.uses.iter().filter(|used| used.kind == RefKind::Agent) {
                if used.block.is_some() {
                    spawned_in_blocks.insert(&used.text);
                    continue;
                }
                let persist = self.persistence(&used.text);
                // Asked for only where something is found: places change with every edit of the statement.
                let range = || body(self.db, *statement)[used.id].range;
                let name = &used.text;
                let is_spawned = spawned.contains(name);
                let may_have_memory = is_spawned || spawned_in_blocks.contains(name);
                if used.resumes && persist == Persist::Run && !may_have_memory && reported.insert(name) {
                    let message =
                        format!("agent `{name}` has no memory yet; start it with `session: {name}`");
                    let keyword = self.resume_keyword(*statement, used.id);
                    let edit = keyword.map(|keyword| TextEdit::replace(keyword, "session"));
                    // Either of the two may be meant.
                    let fix = edit.map(|edit| Fix::suggestion("Start it with `session`", edit));
                    let mut finding = Finding::new(Code::E018, range(), message);
                    finding.diagnostic.other_fixes.extend(fix);
                    found.push((*statement, finding));
                } else if !used.resumes && matches!(persist, Persist::Run | Persist::Longer) && is_spawned {
                    let message = format!(
                        "this session replaces the memory of agent `{name}`; use `resume: {name}` to continue with it"
                    );
                    found.push((*statement, Finding::new(Code::W011, range(), message)));
                }
                spawned.insert(self.agent_meant(name));
            }
        }
    }

    /// The agent that a name stands for, or probably should.
    fn agent_meant<'a>(&'a self, name: &'a SmolStr) -> &'a SmolStr {
        let named = index(self.db, self.file).get(name);
        if named.is_some_and(|named| !named.agents.is_empty()) {
            return name;
        }
        let agents = self.agents.get_or_init(|| {
            let agents = self.names().filter(|(_, _, bound)| bound.kind == NameKind::Agent);
            let names: Vec<&SmolStr> = agents.map(|(_, _, bound)| &bound.text).collect();
            let neighbours = (names.len() > MAX_COMPARED).then(|| Neighbours::new(names.iter().enumerate()));
            Agents { names, neighbours }
        });
        agents.nearest(name).unwrap_or(name)
    }

    fn resume_keyword(&self, statement: TopStatement<'db>, id: RefId) -> Option<TextRange> {
        let body = body(self.db, statement);
        let stmt = &body[body[id].stmt];
        matches!(stmt.stmt, Stmt::Resume { .. })
            .then(|| TextRange::at(stmt.range.start(), TextSize::of("resume")))
    }

    fn persistence(&self, agent: &SmolStr) -> Persist {
        let named = index(self.db, self.file).get(agent);
        let site = named.and_then(|named| named.agents.first().copied());
        site.and_then(|site| summary(self.db, site.statement).agent(site.name))
            .map(|agent| agent.persist.clone())
            .unwrap_or_default()
    }

    /// Blocks that always come back to themselves. Those that do so through each other are one mistake.
    fn recursion(&self, found: &mut Found<'db>) {
        let graph = call_graph(self.db, self.file);
        // The finding of the cycle that a block is part of.
        let mut cycles: FxHashMap<CycleId, usize> = FxHashMap::default();
        for Caller { name, site, calls } in &graph.blocks {
            let Some(cycle) = graph.cycle(name) else { continue };
            let comes_back = |call: &&Call<'db>| call.is_certain && graph.cycle(&call.block) == Some(cycle);
            let Some(call) = calls.iter().find(comes_back) else { continue };
            if let Some(at) = cycles.get(&cycle) {
                let finding = &mut found[*at].1;
                // The first of them is that of the block where the cycle was found.
                if finding.elsewhere.len() <= MAX_RELATED {
                    let message = format!("`{name}` is part of the recursion");
                    finding.elsewhere.push((RelatedPlace::Name(*site), message));
                }
                continue;
            }
            cycles.insert(cycle, found.len());
            let range = body(self.db, call.statement)[call.id].range;
            let message = format!("infinite recursion: every call of block `{name}` reaches this call");
            let finding = Finding::new(Code::W121, range, message);
            found.push((call.statement, finding.with_site(Some(*site), "the block starts here")));
        }
    }
}

/// Names that exclude each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Group {
    Input,
    Variable,
    Output,
    Branch,
}
