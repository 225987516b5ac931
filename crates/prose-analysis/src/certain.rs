//! What every run of some statements comes to, unless it fails before.

use crate::model::*;

/// The calls of blocks that every run of a list of statements comes to.
pub(crate) fn certain_calls(body: &Body, list: ListId) -> Vec<RefId> {
    calls_of(body, certain_statements(body, list))
}

/// The calls of blocks that every run of a top-level statement comes to.
pub(crate) fn certain_calls_of_root(body: &Body) -> Vec<RefId> {
    calls_of(body, certain_statements_of(body, StmtId::ROOT))
}

fn calls_of(body: &Body, statements: Vec<StmtId>) -> Vec<RefId> {
    let calls = statements.into_iter().filter_map(|stmt| match body[stmt].stmt {
        Stmt::Call { block, .. } => block,
        _ => None,
    });
    calls.collect()
}

/// The statements that every run of a list of statements comes to, unless it is left before.
pub(crate) fn certain_statements(body: &Body, list: ListId) -> Vec<StmtId> {
    let mut certain = Vec::new();
    collect(body, list, &mut certain);
    certain
}

/// The same for all of a statement, which is one of them.
pub(crate) fn certain_statements_of(body: &Body, stmt: StmtId) -> Vec<StmtId> {
    let mut certain = Vec::new();
    collect_of(body, stmt, &mut certain);
    certain
}

/// Whether a statement may leave the body it is in before its end.
pub(crate) fn may_end(body: &Body, stmt: StmtId) -> bool {
    collect_of(body, stmt, &mut Vec::new())
}

/// Adds the statements that a run of the list surely comes to, unless it is left before. Gives whether it may be left.
fn collect(body: &Body, list: ListId, certain: &mut Vec<StmtId>) -> bool {
    body[list].stmts.iter().any(|stmt| collect_of(body, *stmt, certain))
}

fn collect_of(body: &Body, stmt: StmtId, certain: &mut Vec<StmtId>) -> bool {
    let of_value = |value: &Option<Value>, certain: &mut Vec<StmtId>| matches!(value, Some(Value::Stmt(stmt)) if collect_of(body, *stmt, certain));
    // What is in a body that may not run is not certain, but it may leave the block before what follows.
    let may_be_left = |list: ListId| body.may_leave(list) || body.may_jump(list);
    certain.push(stmt);
    match &body[stmt].stmt {
        Stmt::Let { value, .. } | Stmt::Assign { value, .. } => of_value(value, certain),
        // An output without a name leaves the block (B5).
        Stmt::Output { name, value } => of_value(value, certain) || name.is_none(),
        Stmt::Return(value) => {
            of_value(value, certain);
            true
        }
        Stmt::Throw(_) | Stmt::Break | Stmt::Continue => true,
        Stmt::Chain(links) => links.iter().any(|link| collect_of(body, *link, certain)),
        Stmt::Do { body: Some(list) } | Stmt::Parallel { body: Some(list), .. } => {
            collect(body, *list, certain)
        }
        Stmt::Repeat { body: Some(list), count, .. } => {
            let is_certain = count.is_some_and(|count| matches!(body[count].expr, Expr::Number(_)));
            // A `break` leaves no more than the loop.
            (!is_certain || collect(body, *list, certain)) && body.may_leave(*list)
        }
        Stmt::If { branches, otherwise } => {
            branches.iter().filter_map(|branch| branch.body).chain(*otherwise).any(may_be_left)
        }
        Stmt::Choice { options, .. } => options.iter().filter_map(|option| option.body).any(may_be_left),
        Stmt::For { body: Some(list), .. } | Stmt::Loop { body: Some(list), .. } => body.may_leave(*list),
        // An error may be thrown anywhere.
        Stmt::Try { .. } | Stmt::Assert { .. } => true,
        _ => false,
    }
}

impl Body {
    /// Whether a `break` or `continue` is in the list or below it.
    fn may_jump(&self, list: ListId) -> bool {
        let range = self[list].range;
        self.stmts_in(range).any(|(_, data)| {
            matches!(data.stmt, Stmt::Break | Stmt::Continue) && range.contains_range(data.range)
        })
    }
}
