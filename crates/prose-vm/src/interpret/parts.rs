//! Parts of a program that are executed alone, with given values for what comes before them.

use std::rc::Rc;
use std::sync::Arc;

use prose_analysis::model::{NameKind, Stmt};
use prose_analysis::parts::{Part, PartKind};
use smol_str::SmolStr;

use super::scope::Variable;
use super::{Cx, Exec};
use crate::effect::{BindingKind, InputRequest};
use crate::error::ErrorKind;
use crate::event::{ConditionOf, EventKind};
use crate::part::RunPart;
use crate::program::At;
use crate::value::Value;

impl Cx {
    /// Executes a part of the program and nothing else; gives its result.
    pub(super) async fn part_alone(&self, part: &RunPart) -> Exec<Value> {
        let program = Arc::clone(self.program());
        let Some((at, found)) = program.part_of(part) else {
            let RunPart { noun, line, .. } = part;
            return self.fail(
                ErrorKind::Other,
                format!("the program has changed, and no {noun} is where the run found one, at line {line}; run it again"),
            );
        };
        let values = self.values_of_part(part).await?;
        let mut cx = Self { at, place: self.place.step(format_args!("s{}", at.top)), ..self.clone() };
        if let Some((block, _)) = program.block_around(at) {
            cx.scope = self.scope_of_call(&block);
        }
        let params = params(&program.body(at)[at.stmt].stmt, |name| program.body(at)[name].text.clone());
        let mut arguments = Vec::new();
        for (name, value) in values {
            if params.contains(&name) {
                arguments.push((name, value));
            } else {
                cx.take_value(name, value);
            }
        }
        match found.kind {
            PartKind::Session => cx.statement(Some(1)).await,
            PartKind::Condition | PartKind::Choice => {
                cx.within_statement(Some(1), async { cx.decision_alone(found).await }).await
            }
            PartKind::Block => {
                cx.within_statement(Some(1), async { cx.block_alone(at, &params, &arguments).await }).await
            }
        }
    }

    /// The values that the part gets: those that were given, and those that are asked for.
    async fn values_of_part(&self, part: &RunPart) -> Exec<Vec<(SmolStr, Value)>> {
        let mut values = self.instance.inputs.clone();
        if !values.is_empty() {
            self.emit(EventKind::InputsReceived { inputs: values.clone() });
        }
        for (nth, name) in part.needs.iter().enumerate() {
            if values.iter().any(|(given, _)| given == name) {
                continue;
            }
            let request = InputRequest {
                name: Some(name.clone()),
                keys: vec![name.clone()],
                prompt: format!("The value of `{name}` for the {} at line {}", part.noun, part.line).into(),
                may_rephrase: false,
                optional: false,
            };
            let value = self.step(format_args!("v{nth}")).ask_for_input(request).await?;
            values.push((name.clone(), value));
        }
        Ok(values)
    }

    /// Binds a value as what the statement sees under its name.
    fn take_value(&mut self, name: SmolStr, value: Value) {
        let (kind, is_own) = self.program().variable_at(self.at, &name).unwrap_or((NameKind::Let, false));
        if kind.is_local() {
            *self = self.clone().with_local(name, value);
            return;
        }
        let kind = match kind {
            NameKind::Param => {
                self.scope.set(Variable::without_file(name, value, BindingKind::Const));
                return;
            }
            NameKind::Input => BindingKind::Input,
            NameKind::Const => BindingKind::Const,
            NameKind::Output => BindingKind::Output,
            _ => BindingKind::Let,
        };
        let scope = if is_own { Rc::clone(&self.scope) } else { Rc::clone(&self.instance.root) };
        // The values are there before the statement starts.
        let before = Self { place: crate::place::Place::root(), ..self.clone() };
        before.bind_value(&scope, name, kind, value);
    }

    /// Has a model decide, without executing what it decides for.
    async fn decision_alone(&self, part: Part) -> Exec<Value> {
        let program = Arc::clone(self.program());
        let value = match program.stmt(self.at) {
            Stmt::Choice { criterion, options, .. } => {
                let chosen = self.choose(*criterion, options).await?;
                decision("chosen", Value::Text(chosen.label.as_str().into()), &chosen.reason)
            }
            stmt => {
                let of = match stmt {
                    Stmt::Loop { .. } => ConditionOf::Loop,
                    _ => ConditionOf::If,
                };
                let Some(condition) = part.condition else { return Ok(Value::Null) };
                let judged = self.condition(condition, of).await?;
                decision("met", Value::Bool(judged.met), &judged.reason)
            }
        };
        self.emit(EventKind::OutputGiven { name: None, value: value.clone() });
        Ok(value)
    }

    /// Executes a block as if it were called with these arguments.
    async fn block_alone(&self, at: At, params: &[SmolStr], arguments: &[(SmolStr, Value)]) -> Exec<Value> {
        let program = Arc::clone(self.program());
        let Stmt::Block { name: Some(name), body, .. } = program.stmt(at) else { return Ok(Value::Null) };
        let scope = self.scope_of_call(&program.body(at)[*name].text);
        let mut given = Vec::new();
        for param in params {
            let value = arguments.iter().find(|(name, _)| name == param).map(|(_, value)| value.clone());
            let value = value.unwrap_or_default();
            scope.set(Variable::without_file(param.clone(), value.clone(), BindingKind::Const));
            given.push((param.clone(), param.clone(), value));
        }
        let value = self.execute_block(at, *body, scope, given).await?;
        self.emit(EventKind::OutputGiven { name: None, value: value.clone() });
        Ok(value)
    }
}

fn params(stmt: &Stmt, text: impl Fn(prose_analysis::model::NameId) -> SmolStr) -> Vec<SmolStr> {
    match stmt {
        Stmt::Block { params, .. } => params.iter().map(|param| text(*param)).collect(),
        _ => Vec::new(),
    }
}

fn decision(what: &str, value: Value, reason: &str) -> Value {
    Value::object([(what, value), ("reason", Value::Text(reason.into()))])
}
