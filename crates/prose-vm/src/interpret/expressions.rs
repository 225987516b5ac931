//! Values of expressions.

use std::sync::Arc;

use futures_util::FutureExt;
use prose_analysis::model::{Argument, Entry, Expr, ExprId, Operator, Stmt, TextKind, Value as ValueNode};
use prose_syntax::TextSize;
use smol_str::SmolStr;

use super::scope::Target;
use super::variables::article;
use super::{Cx, Exec, asks_a_model};
use crate::effect::{ContextItem, Effect, Outcome, Question, RequestId};
use crate::error::ErrorKind;
use crate::event::ConditionOf;
use crate::machine::NestedFuture;
use crate::structure;
use crate::value::{MAX_EXACT, Value};

impl Cx {
    /// The value of what stands where a value is wanted.
    pub(super) async fn value(&self, value: Option<ValueNode>) -> Exec<Value> {
        Ok(self.value_for(value, None).await?.0)
    }

    /// The same for a value that is bound to a name: a session then writes to the file of that name. Also gives the request whose reply the value
    /// is, if it is one.
    pub(super) async fn value_for(
        &self,
        value: Option<ValueNode>,
        target: Option<&Target>,
    ) -> Exec<(Value, Option<RequestId>)> {
        match value {
            None => Ok((Value::Null, None)),
            Some(ValueNode::Expr(expr)) => Ok((self.expr(expr).await?, None)),
            Some(ValueNode::Stmt(stmt)) => {
                let mut cx = self.at(stmt);
                cx.place = self.place.step(stmt.index());
                if let Stmt::Session { .. } | Stmt::Resume { .. } = cx.stmt() {
                    return cx.session(target.cloned()).boxed_local().await;
                }
                if let Stmt::Chain(links) = cx.stmt() {
                    let links = links.clone();
                    return cx.chain(&links, target.cloned()).boxed_local().await;
                }
                Ok((cx.nested().await?, None))
            }
        }
    }

    /// Executes a statement that is part of another one.
    fn nested(self) -> NestedFuture<Exec<Value>> {
        let world = std::rc::Rc::clone(&self.run.world);
        world.nest(async move { self.execute().await })
    }

    /// The value of an expression that may be missing.
    pub(super) async fn optional(&self, expr: Option<ExprId>) -> Exec<Value> {
        match expr {
            Some(expr) => self.expr(expr).await,
            None => Ok(Value::Null),
        }
    }

    /// The value of an expression.
    pub(super) async fn expr(&self, expr: ExprId) -> Exec<Value> {
        // Most expressions are simple, and cost less than the future that others need.
        if let Some(value) = self.simple(expr) {
            return value;
        }
        let cx = self.clone();
        self.run.world.nest(async move { cx.compound(expr).await }).await
    }

    /// The value of a literal or a variable; `None` for an expression that has parts or asks for something.
    fn simple(&self, id: ExprId) -> Option<Exec<Value>> {
        let body = self.program().body(self.at);
        Some(match &body[id].expr {
            Expr::Text(text) if text.kind != TextKind::Discretion => {
                Ok(Value::Text(self.text_without_references(id)?))
            }
            Expr::Number(digits) => match digits.replace('_', "").parse() {
                Ok(number) if f64::abs(number) <= MAX_EXACT => Ok(Value::Number(number)),
                Ok(_) => self.fail(
                    ErrorKind::Type,
                    format!("`{digits}` is too large for a number; write it as text if it is an id: `\"{digits}\"`"),
                ),
                _ => self.fail(ErrorKind::Type, format!("`{digits}` is not a number")),
            },
            Expr::Duration(text) => Ok(Value::text(text.as_str())),
            Expr::Bool(value) => Ok(Value::Bool(*value)),
            Expr::Null | Expr::Placeholder => Ok(Value::Null),
            Expr::Name(name) => self.variable(&body[*name].text).map(|found| found.value),
            _ => return None,
        })
    }

    async fn compound(&self, id: ExprId) -> Exec<Value> {
        let body = self.program().body(self.at);
        match &body[id].expr {
            Expr::Text(text) if text.kind == TextKind::Discretion => {
                Ok(Value::Bool(self.judge(id, ConditionOf::Value).await?.met))
            }
            Expr::Text(_) => Ok(Value::Text(self.text(id).await?)),
            Expr::Number(_)
            | Expr::Duration(_)
            | Expr::Bool(_)
            | Expr::Null
            | Expr::Placeholder
            | Expr::Name(_) => self.simple(id).unwrap_or(Ok(Value::Null)),
            Expr::Array(items) => {
                let mut values = Vec::with_capacity(items.len());
                for item in items {
                    values.push(self.value(Some(*item)).await?);
                }
                Ok(Value::array(values))
            }
            Expr::Object(entries) => self.object(entries).await,
            Expr::Call { callee, arguments } => self.call_program(*callee, arguments).await,
            Expr::Field { base, field } => {
                let base = self.optional(*base).await?;
                match field {
                    Some(field) => self.field(&base, &field.text, field.range.start()).await,
                    None => Ok(base),
                }
            }
            Expr::Index { base, index } => {
                let base = self.optional(*base).await?;
                let index = self.optional(*index).await?;
                self.element(&base, &index, body[id].range.end()).await
            }
            Expr::Binary { operands, operators } => {
                if matches!(operators.first(), Some(Operator::And | Operator::Or)) {
                    return Ok(Value::Bool(self.condition(id, ConditionOf::Value).await?.met));
                }
                self.binary(operands, operators).await
            }
            Expr::Unary { negates: true, .. } => {
                Ok(Value::Bool(self.condition(id, ConditionOf::Value).await?.met))
            }
            Expr::Unary { operand, .. } => {
                let value = self.optional(*operand).await?;
                match value.as_number() {
                    Some(number) => Ok(Value::Number(-number)),
                    None => self.fail(
                        ErrorKind::Type,
                        format!("`-` needs a number, and this is {}", article(value.kind())),
                    ),
                }
            }
            Expr::Ternary { condition, then, otherwise } => {
                let met = match condition {
                    Some(condition) => self.condition(*condition, ConditionOf::Value).await?.met,
                    None => false,
                };
                self.optional(if met { *then } else { *otherwise }).await
            }
            Expr::Input(prompt) => self.unnamed_input(id, *prompt).await,
        }
    }

    async fn object(&self, entries: &[Entry]) -> Exec<Value> {
        let mut values: Vec<(SmolStr, Value)> = Vec::with_capacity(entries.len());
        for entry in entries {
            let value = self.value(entry.value).await?;
            let key = entry.key.as_ref().map_or_else(
                || SmolStr::from(values.len().to_string()),
                |key| key.text.trim_matches('"').into(),
            );
            values.push((key, value));
        }
        Ok(Value::object(values))
    }

    /// What takes time is worked out first: between reading a name and giving it its new value nothing else happens, so that `xs = xs + [do f()]` loses
    /// nothing in iterations that run in parallel (R57).
    async fn binary(&self, operands: &[ValueNode], operators: &[Operator]) -> Exec<Value> {
        let mut values: Vec<Option<Value>> = vec![None; operands.len()];
        for takes_time in [true, false] {
            for (operand, value) in operands.iter().zip(&mut values) {
                if asks_a_model(self.program().body(self.at), *operand) == takes_time {
                    *value = Some(self.value(Some(*operand)).await?);
                }
            }
        }
        let mut values = values.into_iter().flatten();
        let mut left = values.next().unwrap_or_default();
        for (operator, right) in operators.iter().zip(values) {
            left = self.apply(*operator, &left, &right)?;
        }
        Ok(left)
    }

    fn apply(&self, operator: Operator, left: &Value, right: &Value) -> Exec<Value> {
        let numbers = || left.as_number().zip(right.as_number());
        let value = match operator {
            Operator::Equal => Some(Value::Bool(structure::equal(left, right))),
            Operator::NotEqual => Some(Value::Bool(!structure::equal(left, right))),
            Operator::Less => structure::compare(left, right).map(|order| Value::Bool(order.is_lt())),
            Operator::LessOrEqual => structure::compare(left, right).map(|order| Value::Bool(order.is_le())),
            Operator::Greater => structure::compare(left, right).map(|order| Value::Bool(order.is_gt())),
            Operator::GreaterOrEqual => {
                structure::compare(left, right).map(|order| Value::Bool(order.is_ge()))
            }
            Operator::Add => structure::add(left, right),
            Operator::Subtract => numbers().map(|(a, b)| Value::Number(a - b)),
            Operator::Multiply => numbers().map(|(a, b)| Value::Number(a * b)),
            Operator::Divide => match numbers() {
                Some((_, 0.0)) => return self.fail(ErrorKind::Type, "nothing can be divided by 0"),
                other => other.map(|(a, b)| Value::Number(a / b)),
            },
            Operator::And | Operator::Or => None,
        };
        match value {
            // It could be another number than it says.
            Some(Value::Number(number)) if number.is_nan() || number.abs() > MAX_EXACT => self.fail(
                ErrorKind::Type,
                format!("the result is too large for a number, which is exact up to {MAX_EXACT}"),
            ),
            Some(value) => Ok(value),
            None => {
                let (left, right) = (article(left.kind()), article(right.kind()));
                self.fail(ErrorKind::Type, format!("this cannot be worked out for {left} and {right}"))
            }
        }
    }

    /// A part of a value by its name. Where its structure does not tell, a model takes it out of the text (R9). `at` is where in its statement the
    /// part is named.
    pub(super) async fn field(&self, base: &Value, name: &SmolStr, at: TextSize) -> Exec<Value> {
        if let Some(value) = structure::field(base, name) {
            return Ok(value);
        }
        if let Value::Text(text) = base
            && !base.is_empty()
        {
            let context = vec![ContextItem::text("text", Arc::clone(text))];
            let question = Question::new(name.as_str().into(), context);
            let cx = self.step(format_args!("x{}", u32::from(at)));
            match cx.request(Effect::Extract(question.into())).await {
                Outcome::Value(Value::Null) => {}
                Outcome::Value(value) => return Ok(value),
                outcome => return self.unexpected(&outcome),
            }
        }
        self.warn(format!("there is no `{name}` in {}; `null` takes its place", article(base.kind())));
        Ok(Value::Null)
    }

    /// An element of a value, or a part by its name. `at` is where in its statement it stands.
    pub(super) async fn element(&self, base: &Value, index: &Value, at: TextSize) -> Exec<Value> {
        // `a["name"]` is `a.name`.
        if let (Value::Text(name), None) = (index, index.as_number()) {
            return self.field(base, &SmolStr::from(name.as_ref()), at).await;
        }
        let Some(number) = index.as_number() else {
            return self.fail(
                ErrorKind::Type,
                format!("an element is chosen by a number, and this is {}", article(index.kind())),
            );
        };
        match structure::element(base, number) {
            Some(value) => Ok(value),
            None => {
                let count = structure::items(base).map_or(0, |items| items.len());
                self.warn(format!(
                    "there is no element {number}: there are {count}, counted from 0; `null` takes its place"
                ));
                Ok(Value::Null)
            }
        }
    }

    /// The values of arguments with their names.
    pub(super) async fn arguments(&self, arguments: &[Argument]) -> Exec<Vec<(Option<SmolStr>, Value)>> {
        let mut values = Vec::with_capacity(arguments.len());
        for argument in arguments {
            let name = argument.name.as_ref().map(|name| name.text.clone());
            values.push((name, self.value(argument.value).await?));
        }
        Ok(values)
    }
}
