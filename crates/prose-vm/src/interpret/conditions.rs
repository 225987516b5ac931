//! Conditions: what is known is worked out, what is not is judged by a model (R64 to R66, R68).

use prose_analysis::model::{Body, Expr, ExprId, Operator, TextKind, Value as ValueNode};

use super::{Cx, Exec};
use crate::effect::{Effect, Outcome, Question, Verdict};
use crate::event::{ConditionOf, EventKind};
use crate::machine::NestedFuture;
use crate::structure::truth;

/// What came of a condition.
pub(super) struct Judged {
    pub(super) met: bool,
    /// Whether a model saw that continuing would change nothing (D3).
    pub(super) no_progress: bool,
    /// Why, as a model says.
    pub(super) reason: String,
}

impl From<bool> for Judged {
    fn from(met: bool) -> Self {
        Self { met, no_progress: false, reason: String::new() }
    }
}

impl Cx {
    /// Whether a condition is met.
    pub(super) fn condition(&self, id: ExprId, of: ConditionOf) -> NestedFuture<Exec<Judged>> {
        let cx = self.clone();
        self.run.world.nest(async move { cx.condition_here(id, of).await })
    }

    async fn condition_here(&self, id: ExprId, of: ConditionOf) -> Exec<Judged> {
        let body = self.program().body(self.at);
        match &body[id].expr {
            Expr::Text(text) if text.kind == TextKind::Discretion => self.judge(id, of).await,
            Expr::Unary { negates: true, operand: None } => Ok(true.into()),
            Expr::Unary { negates: true, operand: Some(operand) } => {
                let judged = self.condition(*operand, of).await?;
                Ok(Judged { met: !judged.met, ..judged })
            }
            Expr::Binary { operands, operators } => match operators.first() {
                Some(Operator::And) => self.all_or_any(operands, true, of).await,
                Some(Operator::Or) => self.all_or_any(operands, false, of).await,
                _ => self.plain(id, of).await,
            },
            _ => self.plain(id, of).await,
        }
    }

    /// A condition that is worked out without a request.
    async fn plain(&self, id: ExprId, of: ConditionOf) -> Exec<Judged> {
        let met = truth(&self.expr(id).await?).holds();
        // What is a part of a value is told with the value.
        if of != ConditionOf::Value {
            let body = self.program().body(self.at);
            let text = self.program().source(self.at, body[id].range).into();
            self.emit(EventKind::ConditionAsked { request: None, text, of });
            self.emit(EventKind::ConditionJudged { met, reason: String::new(), of });
        }
        Ok(met.into())
    }

    /// `and` (`wanted` is true) or `or`. What needs no model comes first, so that none is asked where the answer is known already (R66).
    async fn all_or_any(&self, operands: &[ValueNode], wanted: bool, of: ConditionOf) -> Exec<Judged> {
        let body = self.program().body(self.at);
        let (asked, known): (Vec<ValueNode>, Vec<ValueNode>) =
            operands.iter().partition(|operand| asks_a_model(body, **operand));
        for operand in known.into_iter().chain(asked) {
            let judged = match operand {
                ValueNode::Expr(expr) => self.condition(expr, of).await?,
                ValueNode::Stmt(_) => truth(&self.value(Some(operand)).await?).holds().into(),
            };
            if judged.met != wanted {
                return Ok(judged);
            }
        }
        Ok(wanted.into())
    }

    /// Has a model judge a text between `**` with all that the program has found out so far (R64).
    pub(super) async fn judge(&self, id: ExprId, of: ConditionOf) -> Exec<Judged> {
        let text = self.text(id).await?;
        let of_loop = (of == ConditionOf::Loop).then(|| self.loop_kind());
        let question = Question { of_loop, ..Question::new(text, self.evidence()) };
        let cx = self.step(format_args!("c{}", u32::from(self.program().body(self.at)[id].range.start())));
        cx.verdict(question, of).await
    }

    /// Has a model answer a question with yes or no.
    pub(super) async fn verdict(&self, question: Question, of: ConditionOf) -> Exec<Judged> {
        let (request, text) = (Some(self.next_request()), question.text.clone());
        self.emit(EventKind::ConditionAsked { request, text, of });
        match self.request(Effect::Judge(question.into())).await {
            Outcome::Verdict(Verdict { met, reason, no_progress }) => {
                self.emit(EventKind::ConditionJudged { met, reason: reason.clone(), of });
                Ok(Judged { met, no_progress, reason })
            }
            outcome => self.unexpected(&outcome),
        }
    }
}

/// Whether a part of a condition cannot be worked out without asking a model or an agent.
pub(crate) fn asks_a_model(body: &Body, value: ValueNode) -> bool {
    let ValueNode::Expr(expr) = value else { return true };
    let any = |parts: &[Option<ExprId>]| {
        parts.iter().flatten().any(|part| asks_a_model(body, ValueNode::Expr(*part)))
    };
    match &body[expr].expr {
        Expr::Text(text) => text.kind == TextKind::Discretion,
        Expr::Call { .. } | Expr::Input(_) => true,
        Expr::Unary { operand, .. } => any(&[*operand]),
        Expr::Field { base, .. } => any(&[*base]),
        Expr::Index { base, index } => any(&[*base, *index]),
        Expr::Ternary { condition, then, otherwise } => any(&[*condition, *then, *otherwise]),
        Expr::Binary { operands, .. } | Expr::Array(operands) => {
            operands.iter().any(|operand| asks_a_model(body, *operand))
        }
        Expr::Object(entries) => {
            entries.iter().filter_map(|entry| entry.value).any(|value| asks_a_model(body, value))
        }
        Expr::Number(_)
        | Expr::Duration(_)
        | Expr::Bool(_)
        | Expr::Null
        | Expr::Name(_)
        | Expr::Placeholder => false,
    }
}
