//! Expressions, texts and conditions.

use prose_analysis::model::{Argument, Expr, ExprId, Operator, Step, TextKind, Value as ValueNode};

use super::amounts::{Bounds, Count, Exits, lesser};
use super::{MAX_IMPORTS, Walk, WorkKind};
use crate::interpret::asks_a_model;
use crate::program::At;

impl Walk<'_> {
    pub(super) fn value(&self, at: At, value: Option<ValueNode>) -> Bounds {
        match value {
            None => Bounds::default(),
            Some(ValueNode::Expr(expr)) => self.expr(at, Some(expr)),
            Some(ValueNode::Stmt(stmt)) => self.statement(At { stmt, ..at }),
        }
    }

    pub(super) fn expr(&self, at: At, expr: Option<ExprId>) -> Bounds {
        let Some(expr) = expr else { return Bounds::default() };
        let body = self.program.body(at);
        let values =
            |values: &[ValueNode]| Bounds::all(values.iter().map(|value| self.value(at, Some(*value))));
        match &body[expr].expr {
            Expr::Text(text) if text.kind == TextKind::Discretion => self.judge(at, expr),
            Expr::Text(_) => self.text(at, Some(expr)),
            Expr::Array(items) => values(items),
            Expr::Object(entries) => Bounds::all(entries.iter().map(|entry| self.value(at, entry.value))),
            Expr::Call { callee, arguments } => self.import(at, *callee, arguments),
            Expr::Field { base, .. } => self.expr(at, *base).then(self.possible(at, WorkKind::Extract, 1)),
            Expr::Index { base, index } => self
                .expr(at, *base)
                .then(self.expr(at, *index))
                .then(self.possible(at, WorkKind::Extract, 1))
                .or_fails(),
            Expr::Binary { operands, operators } => match operators.first() {
                Some(Operator::And | Operator::Or) => self.condition(at, Some(expr)),
                _ => values(operands).or_fails(),
            },
            Expr::Unary { negates: true, .. } => self.condition(at, Some(expr)),
            Expr::Unary { operand, .. } => self.expr(at, *operand).or_fails(),
            Expr::Ternary { condition, then, otherwise } => {
                let ways = [self.expr(at, *then), self.expr(at, *otherwise)];
                self.condition(at, *condition).then(Bounds::one_of(&ways))
            }
            Expr::Input(prompt) => self.text(at, *prompt).or_fails(),
            Expr::Number(_)
            | Expr::Duration(_)
            | Expr::Bool(_)
            | Expr::Null
            | Expr::Name(_)
            | Expr::Placeholder => Bounds::default(),
        }
    }

    /// A text with references, whose parts a model may have to take out of texts (R9).
    pub(super) fn text(&self, at: At, expr: Option<ExprId>) -> Bounds {
        let Some(expr) = expr else { return Bounds::default() };
        let body = self.program.body(at);
        let Some(text) = body.text(expr) else { return self.expr(at, Some(expr)) };
        let steps = text.interpolations.iter().flat_map(|interpolation| &interpolation.path);
        let parts = steps.filter(|step| !matches!(step, Step::Number(_))).count();
        self.possible(at, WorkKind::Extract, parts)
    }

    /// The length of a text in the program.
    pub(super) fn length(&self, at: At, expr: Option<ExprId>) -> usize {
        let text = expr.and_then(|expr| self.program.body(at).text(expr));
        text.map_or(0, |text| text.chars as usize)
    }

    fn judge(&self, at: At, expr: ExprId) -> Bounds {
        let length = self.length(at, Some(expr));
        let judged = self.decisions(at, WorkKind::Judge, length, Count::exactly(1.0));
        self.text(at, Some(expr)).then(judged).or_fails()
    }

    /// A condition: what needs no model comes first, and none is asked once the answer is known (R66).
    pub(super) fn condition(&self, at: At, expr: Option<ExprId>) -> Bounds {
        let Some(expr) = expr else { return Bounds::default() };
        let body = self.program.body(at);
        match &body[expr].expr {
            Expr::Unary { negates: true, operand: operand @ Some(_) } => self.condition(at, *operand),
            Expr::Binary { operands, operators }
                if matches!(operators.first(), Some(Operator::And | Operator::Or)) =>
            {
                let (asked, known): (Vec<ValueNode>, Vec<ValueNode>) =
                    operands.iter().partition(|operand| asks_a_model(body, **operand));
                let mut parts = known.into_iter().chain(asked).map(|operand| match operand {
                    ValueNode::Expr(expr) => self.condition(at, Some(expr)),
                    ValueNode::Stmt(_) => self.value(at, Some(operand)),
                });
                let first = parts.next().unwrap_or_default();
                parts.fold(first, |all, part| all.then(Bounds::one_of(&[Bounds::default(), part])))
            }
            _ => self.expr(at, Some(expr)),
        }
    }

    pub(super) fn arguments(&self, at: At, arguments: &[Argument]) -> Bounds {
        Bounds::all(arguments.iter().map(|argument| self.value(at, argument.value)))
    }

    /// A call of an imported program.
    fn import(&self, at: At, callee: Option<ExprId>, arguments: &[Argument]) -> Bounds {
        let arguments = self.arguments(at, arguments);
        let body = self.program.body(at);
        let name = callee.and_then(|callee| body.name_of(callee)).map(|name| &body[name].text);
        let import = name.and_then(|name| self.program.import(name));
        let Some((number, Some(program))) = import.map(|(number, import)| (number, &import.program)) else {
            return arguments.or_fails();
        };
        let known = self.imports.borrow().get(&number).copied();
        let called = known.unwrap_or_else(|| {
            if self.depth >= MAX_IMPORTS {
                self.unbounded(at, "programs import one another too deeply to be counted");
                return Bounds::endless();
            }
            let mut called = Walk::new(program, self.found, self.depth + 1).program();
            let Exits { end, returned, thrown, .. } = called.least;
            called.least = Exits { end: lesser(end, returned), thrown, ..Exits::NONE };
            self.imports.borrow_mut().insert(number, called);
            called
        });
        arguments.then(called.or_fails())
    }
}
