//! What has no effect: names that nothing uses (decision 7), and statements that are never reached.

use prose_syntax::{Code, Diagnostic, Fix, SyntaxKind, TextEdit, TextRange};

use super::{Checker, Finding, Found};
use crate::db::{Db, SourceFile};
use crate::index::{Site, is_probably_misspelled};
use crate::model::*;
use crate::repairs::Repair;
use crate::statements::TopStatement;
use crate::statements::chunks::summarized;

pub(super) fn check(checker: &mut Checker<'_, '_>) {
    names(checker);
    unreachable(checker);
}

fn names(checker: &mut Checker<'_, '_>) {
    let body = checker.body;
    let mut reported = rustc_hash::FxHashSet::default();
    for (id, data) in body.names() {
        let name = &data.text;
        // Such a name is marked as unused.
        if name.starts_with('_') {
            continue;
        }
        let named = checker.look_up(name).unwrap_or_default();
        if named.lost || named.is_mistaken() {
            continue;
        }
        let uses = named.uses;
        let is_first_input = || {
            // A second declaration is reported as that.
            let site = Site { statement: checker.statement, name: id };
            let mut inputs = named.variables.iter().filter(|variable| variable.kind == NameKind::Input);
            inputs.next().is_none_or(|first| first.site == site)
        };
        let (code, message, removed) = match data.kind {
            NameKind::Agent if !(uses.agent || uses.variable && named.variables.is_empty()) => {
                (Code::W116, format!("agent `{name}` is never used"), Some("the agent"))
            }
            NameKind::Block if !uses.block => {
                (Code::W117, format!("block `{name}` is never called"), Some("the block"))
            }
            NameKind::Import if !uses.program && !uses.skill => {
                (Code::W120, format!("imported program `{name}` is never called"), Some("the import of"))
            }
            NameKind::Input if !uses.variable && is_first_input() => {
                (Code::W119, format!("input `{name}` is never used"), Some("the input"))
            }
            // A name that is only assigned is reported as not declared.
            NameKind::Let | NameKind::Const | NameKind::Session | NameKind::Branch
                if !uses.variable && !checker.is_result(data) && reported.insert((data.scope, name)) =>
            {
                (Code::W115, format!("variable `{name}` is never read"), None)
            }
            NameKind::Param if !uses.variable => {
                (Code::W115, format!("parameter `{name}` is never read"), None)
            }
            _ => continue,
        };
        // The typo is reported where it is.
        if is_probably_misspelled(checker.db, checker.file, name) {
            continue;
        }
        let range = body[data.stmt].range;
        let repair =
            removed.map(|what| Repair::RemoveLines { title: format!("Remove {what} `{name}`"), range });
        let finding = Finding::new(code, data.range, message).with_repair(repair);
        checker.report(finding.with_fix(checker.keep_value_only(id)));
    }
}

impl Checker<'_, '_> {
    /// Whether the value may be the result of a block although nothing names it (B6): it is the last one of the body, or a
    /// branch of a `parallel`, whose result is made of its branches.
    fn is_result(&self, data: &NameData) -> bool {
        if data.kind == NameKind::Branch {
            return true;
        }
        let Some(list) = self.body[data.stmt].list else { return false };
        let is_last = self.body[list].stmts.last() == Some(&data.stmt);
        is_last
            && matches!(
                self.body[self.body[list].owner].stmt,
                Stmt::Block { .. } | Stmt::Do { .. } | Stmt::Pipeline { .. }
            )
    }

    /// The fix that leaves the value of a declaration and drops its name.
    fn keep_value_only(&self, name: NameId) -> Option<Fix> {
        let stmt = &self.body[self.body[name].stmt];
        let Stmt::Let { value: Some(Value::Stmt(value)), destructured: false, .. } = &stmt.stmt else {
            return None;
        };
        let value = &self.body[*value];
        if !matches!(value.stmt, Stmt::Session { .. } | Stmt::Resume { .. } | Stmt::Call { .. }) {
            return None;
        }
        let before = TextRange::new(stmt.range.start(), value.range.start());
        Some(Fix::suggestion("Run it without binding the result", TextEdit::delete(before)))
    }
}

fn unreachable(checker: &mut Checker<'_, '_>) {
    let body = checker.body;
    for (_, list) in body.lists() {
        let Some(leaving) = list.stmts.iter().position(|stmt| body.leaves(*stmt)) else { continue };
        let [first, ..] = &list.stmts[leaving + 1..] else { continue };
        let last = list.stmts.last().unwrap_or(first);
        // Agents and blocks are known wherever they stand.
        if matches!(body[*first].stmt, Stmt::Agent { .. } | Stmt::Block { .. } | Stmt::Placeholder) {
            continue;
        }
        let range = body[*first].range.cover(body[*last].range);
        let leaves = body[list.stmts[leaving]].range;
        let diagnostic = Diagnostic::new(Code::W118, range, "unreachable statement")
            .with_related(leaves, "this always leaves the body");
        checker.report(Finding::from(diagnostic).with_repair(Repair::RemoveUnreachable(range)));
    }
}

/// Top-level statements after one that always ends the program. What is known wherever it stands divides them.
pub(super) fn after_the_end<'db>(db: &'db dyn Db, file: SourceFile, found: &mut Found<'db>) {
    let Some(end) = summarized(db, file).position(|(_, summary)| summary.leaves) else { return };
    let statements: Vec<_> = summarized(db, file).skip(end).map(|(statement, _)| statement).collect();
    let is_known_anywhere = |statement: &TopStatement<'db>| {
        matches!(
            statement.kind(db),
            SyntaxKind::AGENT
                | SyntaxKind::BLOCK_DEF
                | SyntaxKind::USE
                | SyntaxKind::IMPORT
                | SyntaxKind::INPUT
                | SyntaxKind::PLACEHOLDER
        )
    };
    for run in statements[1..].split(is_known_anywhere) {
        let [first, ..] = run else { continue };
        let last = run.last().unwrap_or(first);
        let range = TextRange::up_to(first.len(db));
        let mut finding = Finding::new(Code::W118, range, "unreachable statement")
            .with_statement(statements[0], "the program always ends here")
            .with_repair(Repair::RemoveStatements { until: *last });
        finding.until = Some(*last);
        found.push((*first, finding));
    }
}

impl Body {
    /// Whether nothing after the statement in its list is ever reached.
    pub(crate) fn leaves(&self, stmt: StmtId) -> bool {
        let list_leaves = |list: &Option<ListId>| {
            list.is_some_and(|list| self[list].stmts.iter().any(|stmt| self.leaves(*stmt)))
        };
        match &self[stmt].stmt {
            Stmt::Return(_) | Stmt::Throw(_) | Stmt::Break | Stmt::Continue => true,
            Stmt::Output { name: None, value } => value.is_some(),
            Stmt::Do { body } => list_leaves(body),
            Stmt::If { branches, otherwise } => {
                otherwise.is_some()
                    && list_leaves(otherwise)
                    && branches.iter().all(|branch| list_leaves(&branch.body))
            }
            _ => false,
        }
    }
}
