//! What of a program can be executed, for the coverage of tests.

use prose_analysis::model::{ListId, Stmt, StmtId};
use smol_str::{SmolStr, format_smolstr};

use super::{At, Program, is_definition};
use crate::place::Site;

/// The statements and branches of a program, without those of its imports, in the order of its text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Coverable {
    /// The statements that can be executed, as [`StatementStarted`](crate::event::EventKind::StatementStarted) places them.
    pub statements: Vec<Site>,
    /// The statements that decide what is executed, each with its branches.
    pub decisions: Vec<Decision>,
}

/// A statement with bodies of which it executes some: an `if`, a `choice`, a loop, a `try`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// The statement.
    pub site: Site,
    /// Its bodies.
    pub branches: Vec<CoverableBranch>,
    /// Whether it may execute none of them, as an `if` without an `else` does.
    pub may_skip: bool,
}

/// A body that is executed or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoverableBranch {
    /// What it is called: the condition or the label as it is written, `else`, `catch`, `body`.
    pub name: SmolStr,
    /// Its first statement, which is executed with it.
    pub first: Site,
}

impl Program {
    /// What tests of the program can cover.
    pub fn coverable(&self) -> Coverable {
        let mut coverable = Coverable::default();
        for top in 0..self.statements.len() as u32 {
            let body = &self.statements[top as usize].body;
            for (stmt, data) in body.stmts() {
                let at = At { top, stmt };
                if (data.list.is_some() || stmt == StmtId::ROOT) && !is_definition(&data.stmt) {
                    coverable.statements.push(self.site(0, at));
                }
                coverable.decisions.extend(self.decision(at));
            }
        }
        coverable.statements.sort_by_key(|site| (site.start, site.end));
        coverable.decisions.sort_by_key(|decision| (decision.site.start, decision.site.end));
        coverable
    }

    fn decision(&self, at: At) -> Option<Decision> {
        let body = self.body(at);
        let name = |expr| SmolStr::new(self.string_or_source(at, expr));
        let mut branches = Vec::new();
        let mut add = |name: SmolStr, list: Option<ListId>| {
            branches.extend(self.first_of(at, list).map(|first| CoverableBranch { name, first }));
        };
        let may_skip = match &body[at.stmt].stmt {
            Stmt::If { branches, otherwise } => {
                for branch in branches {
                    add(branch.condition.map_or_else(|| "if".into(), name), branch.body);
                }
                add("else".into(), *otherwise);
                otherwise.is_none()
            }
            Stmt::Choice { options, .. } => {
                for (nth, option) in options.iter().enumerate() {
                    let number = || format_smolstr!("option {}", nth + 1);
                    add(option.label.map_or_else(number, name), option.body);
                }
                false
            }
            Stmt::Try { catches, .. } => {
                catches.iter().for_each(|catch| add("catch".into(), catch.body));
                false
            }
            Stmt::For { body, .. } | Stmt::Repeat { body, .. } | Stmt::Loop { body, .. } => {
                add("body".into(), *body);
                false
            }
            _ => return None,
        };
        let site = self.site(0, at);
        (!branches.is_empty()).then_some(Decision { site, branches, may_skip })
    }

    /// The first statement of a body that is executed.
    fn first_of(&self, at: At, list: Option<ListId>) -> Option<Site> {
        let body = self.body(at);
        let mut stmts = self.list(at, list?).iter();
        let first = stmts.find(|stmt| !is_definition(&body[**stmt].stmt))?;
        Some(self.site(0, At { top: at.top, stmt: *first }))
    }
}
