//! Which parts of a program every run comes to, unless something fails before: what is certain to fail there is an error.

#![allow(missing_docs, reason = "the macros of salsa write functions that have none")]

use rustc_hash::FxHashSet;
use smol_str::SmolStr;

use super::Checker;
use crate::call_graph::call_graph;
use crate::certain::{certain_statements, certain_statements_of};
use crate::db::{Db, SourceFile};
use crate::model::*;
use crate::statements::TopStatement;
use crate::statements::chunks::summarized;

/// What every run of a file comes to.
#[derive(Debug, Clone, PartialEq, Eq, Default, salsa::SalsaValue)]
pub(crate) struct Reached<'db> {
    /// The first statement that may end the program before its end.
    last: Option<TopStatement<'db>>,
    /// The statements after that one.
    unsure: FxHashSet<TopStatement<'db>>,
    /// The blocks that are called for sure.
    blocks: FxHashSet<SmolStr>,
}

/// What every run of a file comes to.
#[salsa::tracked(returns(ref))]
pub(crate) fn reached(db: &dyn Db, file: SourceFile) -> Reached<'_> {
    let mut reached = Reached::default();
    let graph = call_graph(db, file);
    for (statement, summary) in summarized(db, file) {
        if reached.last.is_some() {
            reached.unsure.insert(statement);
        }
        if summary.may_end {
            reached.last.get_or_insert(statement);
        }
    }
    for call in graph.root.iter().filter(|call| call.is_certain) {
        if !reached.unsure.contains(&call.statement) {
            graph.visit_certain(call, |name| reached.blocks.insert(name.clone()));
        }
    }
    reached
}

impl Checker<'_, '_> {
    /// Whether every run of the program comes to a use of a name, unless something fails before.
    pub(super) fn is_surely_reached(&self, id: RefId) -> bool {
        let (stmt, range) = (self.body[id].stmt, self.body[id].range);
        if !self.is_statement_reached(stmt) {
            return false;
        }
        // What decides nothing any more is not looked at.
        let may_be_skipped = |data: &ExprData| match &data.expr {
            Expr::Ternary { condition, .. } => {
                condition.is_none_or(|at| !self.body[at].range.contains_range(range))
            }
            Expr::Binary { operators, .. } => {
                operators.iter().any(|operator| matches!(operator, Operator::And | Operator::Or))
            }
            _ => false,
        };
        let mut around = self.body.exprs().filter(|(_, data)| data.range.contains_range(range));
        let is_condition_after = match &self.body[stmt].stmt {
            Stmt::If { branches, .. } => branches
                .iter()
                .skip(1)
                .filter_map(|branch| branch.condition)
                .any(|condition| self.body[condition].range.contains_range(range)),
            _ => false,
        };
        !is_condition_after && !around.any(|(_, data)| may_be_skipped(data))
    }

    /// Whether every run of the program comes to a statement, unless something fails before. Agents are defined in each of them.
    pub(super) fn is_statement_reached(&self, stmt: StmtId) -> bool {
        if matches!(self.body[stmt].stmt, Stmt::Agent { .. }) {
            return true;
        }
        self.certain.get_or_init(|| self.certain_statements()).contains(&stmt)
    }

    /// The parts of the statement that every run of the program comes to, if it comes to the statement or to a block of it.
    fn certain_statements(&self) -> FxHashSet<StmtId> {
        let body = self.body;
        let reached = reached(self.db, self.file);
        let mut certain: FxHashSet<StmtId> = FxHashSet::default();
        if body.root().is_some() && !reached.unsure.contains(&self.statement) {
            certain.extend(certain_statements_of(body, StmtId::ROOT));
        }
        for (_, data) in body.stmts() {
            if let Stmt::Block { name: Some(name), body: Some(list), .. } = data.stmt
                && reached.blocks.contains(&body[name].text)
            {
                certain.extend(certain_statements(body, list));
            }
        }
        certain
    }
}
