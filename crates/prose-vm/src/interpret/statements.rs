//! What each kind of statement does.

use std::sync::Arc;

use futures_util::FutureExt;
use prose_analysis::model::{ExprId, NameId, Stmt, Value as ValueNode};

use super::{Cx, Exec, Flow};
use crate::effect::BindingKind;
use crate::error::ErrorKind;
use crate::event::{ConditionOf, EventKind};
use crate::structure::truth;
use crate::value::Value;

impl Cx {
    /// Executes the statement, and gives its value (R87). What large statements need is boxed, so that small ones do not carry its size.
    pub(super) async fn execute(&self) -> Exec<Value> {
        let program = Arc::clone(self.program());
        match program.stmt(self.at) {
            Stmt::Use { .. } | Stmt::Import { .. } | Stmt::Agent { .. } | Stmt::Block { .. } => {
                Ok(Value::Null)
            }
            Stmt::Input { name, description } => self.input(*name, *description).boxed_local().await,
            Stmt::Output { name, value } => self.output(*name, *value).await,
            Stmt::Let { is_const, names, destructured, value } => {
                self.declare(*is_const, names, *destructured, *value).await
            }
            Stmt::Assign { target, value } => self.assign(*target, *value).await,
            Stmt::Expr(expr) => self.optional(*expr).await,
            Stmt::Session { .. } | Stmt::Resume { .. } => Ok(self.session(None).boxed_local().await?.0),
            Stmt::Chain(links) => Ok(self.chain(links, None).boxed_local().await?.0),
            Stmt::Pipeline { source, stages } => self.pipeline(*source, stages).boxed_local().await,
            Stmt::Call { block, arguments } => self.call_block(*block, arguments).boxed_local().await,
            Stmt::Do { body } => self.list(*body).await,
            Stmt::Parallel { options, body } => self.parallel(options, *body).boxed_local().await,
            Stmt::For { parallel: true, item, index, collection, body } => {
                self.parallel_for(*item, *index, *collection, *body).boxed_local().await
            }
            Stmt::For { item, index, collection, body, .. } => {
                self.for_each(*item, *index, *collection, *body).boxed_local().await
            }
            Stmt::Repeat { count, index, body } => self.repeat(*count, *index, *body).boxed_local().await,
            Stmt::Loop { condition, options, index, body } => {
                self.loop_while(*condition, options, *index, *body).boxed_local().await
            }
            Stmt::Try { body, catches, finally } => {
                self.try_catch(*body, catches, *finally).boxed_local().await
            }
            Stmt::Choice { criterion, options, .. } => self.choice(*criterion, options).boxed_local().await,
            Stmt::StrayOption(_) => self
                .fail(ErrorKind::Other, "an `option` needs a `choice` around it; nothing chooses this one"),
            Stmt::If { branches, otherwise } => {
                for (nth, branch) in branches.iter().enumerate() {
                    let Some(condition) = branch.condition else { continue };
                    let cx = self.step(format_args!("if{nth}"));
                    if cx.condition(condition, ConditionOf::If).await?.met {
                        return self.list(branch.body).await;
                    }
                }
                self.list(*otherwise).await
            }
            Stmt::Throw(message) => self.throw(*message).await,
            Stmt::Return(value) => {
                let value = match value {
                    Some(value) => Some(self.value(Some(*value)).await?),
                    None => None,
                };
                Err(Flow::Return(value))
            }
            Stmt::Break => Err(Flow::Break),
            Stmt::Continue => Err(Flow::Continue),
            Stmt::Assert { condition, message } => self.assert(*condition, *message).await,
            Stmt::Placeholder => Ok(Value::Null),
        }
    }

    /// `output report = …` registers and continues, `output …` leaves the frame with the value (B5).
    async fn output(&self, name: Option<NameId>, value: Option<ValueNode>) -> Exec<Value> {
        let Some(name) = name else {
            let value = self.value(value).await?;
            self.emit(EventKind::OutputGiven { name: None, value: value.clone() });
            return Err(Flow::Return(Some(value)));
        };
        let name = self.name_text(name);
        let target = self.target(&self.scope, name.clone(), BindingKind::Output, true);
        let value = self.bind_result(target, value).await?;
        self.scope.of_frame().give(name.clone(), value.clone());
        self.emit(EventKind::OutputGiven { name: Some(name), value: value.clone() });
        Ok(value)
    }

    async fn throw(&self, message: Option<ExprId>) -> Exec<Value> {
        let Some(message) = message else {
            return match &self.caught {
                Some(error) => self.raise(Arc::clone(error)),
                None => self.fail(
                    ErrorKind::Other,
                    "`throw` without a message raises a caught error again, and there is none here; give it a message",
                ),
            };
        };
        match self.expr(message).await? {
            Value::Error(error) => self.raise(error),
            message => self.fail(ErrorKind::Thrown, message.to_string()),
        }
    }

    async fn assert(&self, condition: Option<ExprId>, message: Option<ExprId>) -> Exec<Value> {
        let met = match condition {
            Some(condition) => self.condition(condition, ConditionOf::Value).await?.met,
            None => truth(&Value::Null).holds(),
        };
        if met {
            return Ok(Value::Bool(true));
        }
        let message = match message {
            Some(message) => self.text(message).await?.to_string(),
            None => format!("this does not hold: {}", self.program().header(self.at)),
        };
        self.fail(ErrorKind::Assertion, message)
    }
}
