//! Variables that are read before anything binds them.

use std::cell::OnceCell;
use std::collections::hash_map::Entry;

use prose_syntax::{Code, SyntaxKind, TextRange};
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;

use super::{Finding, Found};
use crate::call_graph::call_graph;
use crate::certain::certain_statements;
use crate::db::{Db, SourceFile};
use crate::index::{Site, lookup};
use crate::model::*;
use crate::statements::{TopStatement, body};
use crate::summary::{Summary, Used};

/// Reports uses before the first binding. Where nothing can have bound the name, a run that comes to the use fails.
pub(super) fn check<'db>(
    db: &'db dyn Db,
    file: SourceFile,
    statements: &[(TopStatement<'db>, &'db Summary)],
    found: &mut Found<'db>,
) {
    // The first statement that binds a variable of the file, unless blocks bind it too or it is an input.
    let mut bound_at: FxHashMap<&SmolStr, (usize, Site<'db>, bool)> = FxHashMap::default();
    let mut in_blocks: FxHashSet<&SmolStr> = FxHashSet::default();
    for (position, (statement, summary)) in statements.iter().enumerate() {
        for bound in summary.names.iter().filter(|bound| bound.kind.is_variable() && !bound.kind.is_local()) {
            if bound.block.is_some() {
                in_blocks.insert(&bound.text);
            } else {
                let site = Site { statement: *statement, name: bound.id };
                bound_at.entry(&bound.text).or_insert((position, site, bound.list.is_none()));
            }
        }
        in_blocks.extend(&summary.lost);
    }
    let calls = OnceCell::new();
    // One finding for each name, the first that every run fails by where there is one.
    let mut reported: FxHashMap<&SmolStr, (usize, Code)> = FxHashMap::default();
    for (position, (statement, summary)) in statements.iter().enumerate() {
        for used in &summary.uses {
            if used.kind != RefKind::Variable
                || matches!(used.place, Place::Agent { .. })
                || reported
                    .get(&used.text)
                    .is_some_and(|(_, code)| *code == Code::E150 || used.place.is_text())
            {
                continue;
            }
            let is_in_block = used.block.is_some();
            let first = bound_at.get(&used.text);
            let finding = match first {
                Some(_) if in_blocks.contains(&used.text) => None,
                Some((first, site, at_top)) if !is_in_block && !used.is_local => {
                    // The value is made before its name is bound.
                    let names_value = matches!(statement.kind(db), SyntaxKind::LET | SyntaxKind::OUTPUT);
                    let in_itself = *at_top && *first == position && names_value;
                    match *first > position || in_itself {
                        true => Some((
                            *site,
                            in_itself,
                            *first > position || is_early(db, file, *statement, used),
                        )),
                        false if *first == position && is_early(db, file, *statement, used) => {
                            Some((*site, false, true))
                        }
                        false => None,
                    }
                }
                None if is_in_block && used.is_local && is_early(db, file, *statement, used) => {
                    let name =
                        summary.names.iter().find(|bound| bound.text == used.text && !bound.kind.is_local());
                    name.map(|bound| (Site { statement: *statement, name: bound.id }, false, true))
                }
                // The variable of the file that a block reads, which is called for sure before it is bound.
                Some((first, site, _)) if is_in_block && !used.is_local && !used.place.is_text() => {
                    let calls = calls.get_or_init(|| first_calls(db, file, statements));
                    let name = used.block.and_then(|block| summary.blocks.get(block as usize)?.name);
                    let called = name.and_then(|name| calls.get(&summary.name(name)?.text));
                    let is_early = called.is_some_and(|call| {
                        let made = body(db, call.statement);
                        call.position < *first
                            || call.position == *first
                                && is_bound_around(made, site.name, made[call.id].range)
                    });
                    let here = body(db, *statement);
                    (is_early && is_reached_in_block(here, used)).then_some((*site, false, true))
                }
                _ => None,
            };
            let Some((site, in_itself, is_certain)) = finding else { continue };
            let here = body(db, *statement);
            let range = here[used.id].range;
            let in_itself =
                in_itself || site.statement == *statement && is_bound_around(here, site.name, range);
            let message = match in_itself {
                true => format!("`{}` is bound by this statement itself, so it is empty here", used.text),
                false => format!("`{}` is bound only later, so it is empty here", used.text),
            };
            // What is empty in a text is left as it is written.
            let code = if is_certain && !used.place.is_text() { Code::E150 } else { Code::W125 };
            let finding = Finding::new(code, range, message).with_site(Some(site), "bound here");
            match reported.get(&used.text).copied() {
                Some((_, Code::W125)) if code == Code::W125 => {}
                Some((at, _)) => {
                    found[at] = (*statement, finding);
                    reported.insert(&used.text, (at, code));
                }
                None => {
                    reported.insert(&used.text, (found.len(), code));
                    found.push((*statement, finding));
                }
            }
        }
    }
}

/// Whether a name is in the statement that binds it, before it is bound.
fn is_bound_around(body: &Body, name: NameId, range: TextRange) -> bool {
    let stmt = &body[body[name].stmt];
    stmt.range.contains_range(range)
        && body[name].range.start() < range.start()
        && matches!(stmt.stmt, Stmt::Let { .. } | Stmt::Assign { .. } | Stmt::Output { .. })
}

/// Whether a use comes before everything that binds the name, all of which is in the same statement and the same frame.
fn is_early<'db>(db: &'db dyn Db, file: SourceFile, statement: TopStatement<'db>, used: &Used) -> bool {
    let Some(named) = lookup(db, file, &used.text) else { return false };
    let body = body(db, statement);
    let data = &body[used.id];
    let frame = body.frame(data.scope);
    // A loop, catch or pipeline variable answers first, and its body may be another.
    if used.place.is_text() || named.lost || named.local.is_some() {
        return false;
    }
    // With other bindings farther down another frame may be the first to run.
    let is_here = |site: Site<'db>| {
        site.statement == statement && {
            let name = &body[site.name];
            let is_after =
                name.range.start() > data.range.start() || is_bound_around(body, site.name, data.range);
            name.scope == frame && name.kind != NameKind::Param && is_after
        }
    };
    // The statements farther down run later, if they are no blocks.
    let in_file = frame == ScopeId(0);
    let is_later = |site: Site<'db>| in_file && site.statement != statement;
    if !named.variables.iter().all(|variable| is_later(variable.site) || is_here(variable.site)) {
        return false;
    }
    // Branches that run at once are looked at by themselves.
    let around = || body.stmts().filter(|(_, stmt)| stmt.range.contains_range(data.range));
    let in_parallel = around().any(|(_, stmt)| {
        let holds = |variable: &crate::index::VariableSite<'db>| {
            variable.site.statement == statement && stmt.range.contains_range(body[variable.site.name].range)
        };
        matches!(stmt.stmt, Stmt::Parallel { .. }) && named.variables.iter().any(holds)
    });
    // An earlier round or call may have bound the name where the first one has not come to the use.
    let is_again = body.is_in_loop(data.scope) || frame != ScopeId(0);
    let may_be_bound = in_parallel || is_again && may_be_skipped(body, data);
    !may_be_bound
}

/// Whether a run of the frame around a use may not come to it.
fn may_be_skipped(body: &Body, data: &RefData) -> bool {
    let mut around = body.stmts().filter(|(_, stmt)| stmt.range.contains_range(data.range));
    around.any(|(id, stmt)| {
        let is_condition = |at: ExprId| body[at].range.contains_range(data.range);
        match &stmt.stmt {
            Stmt::If { branches, .. } => {
                !branches.first().and_then(|branch| branch.condition).is_some_and(is_condition)
            }
            Stmt::Choice { .. } | Stmt::Try { .. } | Stmt::Pipeline { .. } => true,
            Stmt::Block { .. } => false,
            _ => id == StmtId::ROOT && stmt.syntax == SyntaxKind::ERROR,
        }
    }) || body.exprs().any(|(_, expr)| {
        expr.range.contains_range(data.range)
            && match &expr.expr {
                Expr::Ternary { .. } => true,
                Expr::Binary { operators, .. } => {
                    operators.iter().any(|operator| matches!(operator, Operator::And | Operator::Or))
                }
                _ => false,
            }
    })
}

/// The first call of a block that a run comes to for sure.
struct FirstCall<'db> {
    position: usize,
    statement: TopStatement<'db>,
    id: RefId,
}

/// For each block that is called for sure, the call outside of blocks that leads to it first.
fn first_calls<'db>(
    db: &'db dyn Db,
    file: SourceFile,
    statements: &[(TopStatement<'db>, &'db Summary)],
) -> FxHashMap<SmolStr, FirstCall<'db>> {
    let graph = call_graph(db, file);
    let positions: FxHashMap<_, _> =
        statements.iter().enumerate().map(|(position, (statement, _))| (*statement, position)).collect();
    let mut first: FxHashMap<SmolStr, FirstCall<'db>> = FxHashMap::default();
    // The calls are in the order of the text.
    for call in graph.root.iter().filter(|call| call.is_certain) {
        let Some(position) = positions.get(&call.statement).copied() else { continue };
        graph.visit_certain(call, |name| match first.entry(name.clone()) {
            Entry::Occupied(_) => false,
            Entry::Vacant(place) => {
                place.insert(FirstCall { position, statement: call.statement, id: call.id });
                true
            }
        });
    }
    first
}

/// Whether every run of the block around a use comes to it.
fn is_reached_in_block(body: &Body, used: &Used) -> bool {
    let data = &body[used.id];
    let lists = body.stmts().filter_map(|(_, stmt)| match stmt.stmt {
        Stmt::Block { body: Some(list), .. } if body[list].range.contains_range(data.range) => Some(list),
        _ => None,
    });
    !may_be_skipped(body, data)
        && lists.last().is_some_and(|list| certain_statements(body, list).contains(&data.stmt))
}
