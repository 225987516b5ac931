//! What is called: only imported programs are. Parentheses after any other value are a call to the grammar all the same, also where
//! they were meant to hold options.

use std::cell::OnceCell;

use prose_syntax::{Code, Diagnostic, Fix, TextEdit, TextRange, TextSize};
use rustc_hash::FxHashMap;

use super::Checker;
use crate::model::*;
use crate::resolve::Resolved;

pub(super) fn check(checker: &mut Checker<'_, '_>) {
    // Whether the `for` is parallel that goes through a value, for all of them.
    let loops = OnceCell::new();
    for (call, data) in checker.body.exprs() {
        if let Expr::Call { callee: Some(callee), .. } = data.expr {
            checker.callee(call, callee, &loops);
        }
    }
}

impl Checker<'_, '_> {
    /// Reports a callee that is not a program. Whether a name that no variable has is that of a program is checked with the names.
    fn callee(&mut self, call: ExprId, callee: ExprId, loops: &OnceCell<FxHashMap<ExprId, bool>>) {
        let body = self.body;
        let mut root = None;
        let called = match &body[self.owner(callee)].expr {
            Expr::Name(name) => match self.resolution.of(*name) {
                Resolved::Root | Resolved::Local(_) => {
                    root = Some(*name);
                    Some(&body[*name])
                }
                // A program has outputs once it was called, and nothing else.
                Resolved::Program if self.owner(callee) != callee => {
                    let program = &body[*name].text;
                    let message = format!(
                        "program `{program}` has no functions; call it and read its result: `{program}(…).name`"
                    );
                    let diagnostic = Diagnostic::new(Code::E025, body[callee].range, message);
                    let is_certain = self.is_surely_reached(*name);
                    return self.report(diagnostic.with_lenient(!is_certain));
                }
                _ => return,
            },
            // Something that is missing or not written yet may become a program.
            Expr::Field { base: None, .. } | Expr::Placeholder => return,
            _ => None,
        };
        if let Some(parallel) = loops.get_or_init(|| self.loops()).get(&call) {
            return self.options_of_for(call, callee, *parallel);
        }
        self.report(match called {
            Some(data) if data.kind == RefKind::Callee => {
                let message = format!("`{}` is a variable, not a program, and cannot be called", data.text);
                let is_certain = root.is_some_and(|name| self.is_surely_reached(name));
                Diagnostic::new(Code::E025, data.range, message).with_lenient(!is_certain)
            }
            _ => {
                let message = "this is not an imported program and cannot be called";
                Diagnostic::new(Code::E004, body[callee].range, message)
            }
        });
    }

    /// The value whose field is taken, as `a` in `a.b.c`.
    fn owner(&self, mut value: ExprId) -> ExprId {
        while let Expr::Field { base: Some(base), .. } = self.body[value].expr {
            value = base;
        }
        value
    }

    /// What each `for` goes through, and whether it is parallel.
    fn loops(&self) -> FxHashMap<ExprId, bool> {
        let loops = self.body.stmts().filter_map(|(_, data)| match data.stmt {
            Stmt::For { parallel, collection, .. } => Some((collection?, parallel)),
            _ => None,
        });
        loops.collect()
    }

    /// Options that are given to a `for`, which has none: all of its items have their turn, and each has to succeed (R57).
    fn options_of_for(&mut self, call: ExprId, collection: ExprId, parallel: bool) {
        let (call, end) = (self.body[call].range, self.body[collection].range.end());
        let message = match parallel {
            true => "`parallel for` takes no options; handle a failing item with `try:` in its body",
            false => "`for` takes no options; for a bound use `loop until **…** (max: 3):`",
        };
        let diagnostic = match self.after_parenthesis(end) {
            Some(inside) => {
                let options = TextRange::new(inside - TextSize::of('('), call.end());
                let edit = TextEdit::delete(TextRange::new(end, call.end()));
                let fix = Fix::suggestion("Remove the parentheses", edit);
                Diagnostic::new(Code::E004, options, message).with_fix(fix)
            }
            // The collection is in parentheses of its own, whose end is not that of the value.
            None => Diagnostic::new(Code::E004, call, message),
        };
        self.report(diagnostic);
    }
}
