//! A top-level statement as lists of its parts, and how a part is found.

use prose_syntax::{SyntaxKind, TextRange};
use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use super::*;

/// One top-level statement and everything below it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Body {
    pub(crate) stmts: Vec<StmtData>,
    pub(crate) exprs: Vec<ExprData>,
    pub(crate) names: Vec<NameData>,
    pub(crate) refs: Vec<RefData>,
    pub(crate) scopes: Vec<ScopeData>,
    pub(crate) lists: Vec<ListData>,
    /// Words of lines that were not understood. They may have defined or used anything.
    pub(crate) lost: Vec<SmolStr>,
    /// The name that answers to a text in a scope other than that of the file.
    pub(crate) answers: FxHashMap<(ScopeId, SmolStr), NameId>,
    /// Whether statements and names are in the order of the text, so that those in a range are found without looking at the others. What is damaged
    /// may be in another order.
    pub(crate) is_in_order: bool,
}

impl Body {
    /// Gives back the memory that was set aside for more parts: most bodies stay as they are for long.
    pub(crate) fn shrink(&mut self) {
        self.stmts.shrink_to_fit();
        self.exprs.shrink_to_fit();
        self.names.shrink_to_fit();
        self.refs.shrink_to_fit();
        self.scopes.shrink_to_fit();
        self.lists.shrink_to_fit();
        self.lost.shrink_to_fit();
        self.answers.shrink_to_fit();
    }

    /// The top-level statement; none only for a body of nothing.
    pub fn root(&self) -> Option<StmtId> {
        (!self.stmts.is_empty()).then_some(StmtId(0))
    }

    /// Every statement, outer ones before those in them.
    pub fn stmts(&self) -> impl ExactSizeIterator<Item = (StmtId, &StmtData)> {
        self.stmts.iter().enumerate().map(|(index, data)| (StmtId::nth(index), data))
    }

    /// Every expression.
    pub fn exprs(&self) -> impl ExactSizeIterator<Item = (ExprId, &ExprData)> {
        self.exprs.iter().enumerate().map(|(index, data)| (ExprId::nth(index), data))
    }

    /// Every name that is bound, in the order of the text.
    pub fn names(&self) -> impl ExactSizeIterator<Item = (NameId, &NameData)> {
        self.names.iter().enumerate().map(|(index, data)| (NameId::nth(index), data))
    }

    /// Every name that is used.
    pub fn refs(&self) -> impl ExactSizeIterator<Item = (RefId, &RefData)> {
        self.refs.iter().enumerate().map(|(index, data)| (RefId::nth(index), data))
    }

    /// The statements that start in a range, outer ones before those in them.
    pub(crate) fn stmts_in(&self, range: TextRange) -> impl Iterator<Item = (StmtId, &StmtData)> {
        starting_in(&self.stmts, range, self.is_in_order, |data| data.range)
            .map(|(index, data)| (StmtId::nth(index), data))
    }

    /// The names that are bound in a range, in the order of the text.
    pub fn names_in(&self, range: TextRange) -> impl Iterator<Item = (NameId, &NameData)> {
        starting_in(&self.names, range, self.is_in_order, |data| data.range)
            .map(|(index, data)| (NameId::nth(index), data))
    }

    /// The names that are used in a range, in the order of the text.
    pub fn refs_in(&self, range: TextRange) -> impl Iterator<Item = (RefId, &RefData)> {
        starting_in(&self.refs, range, self.is_in_order, |data| data.range)
            .map(|(index, data)| (RefId::nth(index), data))
    }

    /// The innermost statement around a part of the text.
    pub(crate) fn stmt_around(&self, range: TextRange) -> Option<&StmtData> {
        if !self.is_in_order {
            let around = self.stmts.iter().filter(|data| data.range.contains_range(range));
            return around.min_by_key(|data| data.range.len());
        }
        // Those that start before it and do not reach it are after each other, or in one that reaches it.
        let begun = self.stmts.partition_point(|data| data.range.start() <= range.start());
        let mut at = begun.checked_sub(1)?;
        loop {
            let data = &self.stmts[at];
            if data.range.contains_range(range) {
                return Some(data);
            }
            at = match data.list.and_then(|list| self.before(list, at)) {
                Some(before) => before,
                None => at.checked_sub(1)?,
            };
        }
    }

    /// The statement that a list belongs to, if it comes before another one.
    fn before(&self, list: ListId, at: usize) -> Option<usize> {
        let owner = self[list].owner.0 as usize;
        (owner < at).then_some(owner)
    }

    /// Looks whether statements and names are in the order of the text.
    pub(crate) fn note_order(&mut self) {
        self.is_in_order = self.stmts.is_sorted_by_key(|data| data.range.start())
            && self.names.is_sorted_by_key(|data| data.range.start())
            && self.refs.is_sorted_by_key(|data| data.range.start());
    }

    /// Every list of statements.
    pub fn lists(&self) -> impl ExactSizeIterator<Item = (ListId, &ListData)> {
        self.lists.iter().enumerate().map(|(index, data)| (ListId::nth(index), data))
    }

    /// The statement with that node.
    pub fn stmt_at(&self, syntax: SyntaxKind, range: TextRange) -> Option<StmtId> {
        self.stmts().find(|(_, data)| data.syntax == syntax && data.range == range).map(|(id, _)| id)
    }

    /// The frame that a scope belongs to: that of a block, or that of the file.
    pub fn frame(&self, mut scope: ScopeId) -> ScopeId {
        while self[scope].kind.is_local()
            && let Some(parent) = self[scope].parent
        {
            scope = parent;
        }
        scope
    }

    /// Whether a scope is that of a body that may run several times in one run of its frame, or lies in one.
    pub fn is_in_loop(&self, scope: ScopeId) -> bool {
        self.scopes_around(scope)
            .map(|scope| self[scope].kind)
            .take_while(|kind| kind.is_local())
            .any(|kind| kind == ScopeKind::Loop)
    }

    /// The name that answers to a use inside the statement: a loop, catch or pipeline variable, or one of the frame of a block.
    pub fn local(&self, id: RefId) -> Option<NameId> {
        let data = &self[id];
        // An agent's texts are interpolated where it is spawned, so nothing around it answers.
        if !matches!(data.kind, RefKind::Variable | RefKind::Write)
            || matches!(data.place, Place::Agent { .. })
        {
            return None;
        }
        self.answer_around(data.scope, &data.text)
    }

    /// The name that answers to a text in the innermost of a scope and those around it that has one.
    pub(crate) fn answer_around(&self, scope: ScopeId, text: &SmolStr) -> Option<NameId> {
        self.scopes_around(scope).find_map(|scope| self.answer(scope, text))
    }

    /// The name that answers to a text in a scope other than that of the file: the first one, but one that is only assigned if no other does.
    pub fn answer(&self, scope: ScopeId, text: &SmolStr) -> Option<NameId> {
        self.answers.get(&(scope, text.clone())).copied()
    }

    /// The scope and those around it, from the inside out.
    pub fn scopes_around(&self, scope: ScopeId) -> impl Iterator<Item = ScopeId> {
        std::iter::successors(Some(scope), |scope| self[*scope].parent)
    }

    /// The text of an expression, if it is one.
    pub fn text(&self, expr: ExprId) -> Option<&Text> {
        match &self[expr].expr {
            Expr::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The value of a one-line string, if the expression is one.
    pub fn string(&self, expr: ExprId) -> Option<&str> {
        self.text(expr).filter(|text| text.kind == TextKind::OneLine).and_then(|text| text.value.as_deref())
    }

    /// A word that stands for itself, such as the name of a model, if the expression is one.
    pub fn word(&self, expr: ExprId) -> Option<&str> {
        let ExprData { expr: Expr::Text(text), range } = &self[expr] else { return None };
        text.value.as_deref().filter(|_| text.content == *range)
    }

    /// The variable that an expression names, if it is nothing else.
    pub fn name_of(&self, expr: ExprId) -> Option<RefId> {
        match self[expr].expr {
            Expr::Name(name) => Some(name),
            _ => None,
        }
    }

    /// The bytes of a value.
    pub fn value_range(&self, value: Value) -> TextRange {
        match value {
            Value::Stmt(stmt) => self[stmt].range,
            Value::Expr(expr) => self[expr].range,
        }
    }
}

/// The parts that start in a range, with their numbers.
fn starting_in<T>(
    parts: &[T],
    range: TextRange,
    is_in_order: bool,
    place: impl Fn(&T) -> TextRange + Copy,
) -> impl Iterator<Item = (usize, &T)> {
    let first =
        if is_in_order { parts.partition_point(|part| place(part).start() < range.start()) } else { 0 };
    let starts_before_end = move |(_, part): &(usize, &T)| !is_in_order || place(part).start() <= range.end();
    let starts_in = move |(_, part): &(usize, &T)| range.contains_inclusive(place(part).start());
    parts.iter().enumerate().skip(first).take_while(starts_before_end).filter(starts_in)
}
