//! Calls of blocks (R80 to R86).

use std::rc::Rc;
use std::sync::Arc;

use prose_analysis::model::{Argument, ListId, RefId, Stmt};
use smol_str::SmolStr;

use super::scope::{Scope, Variable};
use super::{Cx, Exec, Flow, status_of};
use crate::effect::BindingKind;
use crate::error::ErrorKind;
use crate::event::{EventKind, Status};
use crate::program::{At, is_named};
use crate::settings::Settings;
use crate::value::Value;

impl Cx {
    /// `do review("x")`
    pub(super) async fn call_block(&self, block: Option<RefId>, arguments: &[Argument]) -> Exec<Value> {
        let program = Arc::clone(self.program());
        let Some(reference) = block else { return Ok(Value::Null) };
        let name = program.body(self.at)[reference].text.clone();
        let Some(at) = program.block(&name) else {
            return self.fail(
                ErrorKind::UnknownName,
                format!("block `{name}` is not defined; define it with `block {name}():`"),
            );
        };
        let Stmt::Block { params, options, body, .. } = program.stmt(at) else { return Ok(Value::Null) };
        let params: Vec<SmolStr> = params.iter().map(|param| program.body(at)[*param].text.clone()).collect();
        let values = self.arguments(arguments).await?;
        let limit = match options.iter().find(|option| is_named(option, "max_depth")) {
            Some(option) => self.reading(at).count("max_depth", option.value).await?,
            None => Settings::MAX_DEPTH,
        };
        if self.scope.frame.depth >= limit {
            let message = format!("block '{name}' exceeded max_depth {limit}");
            return self.fail(ErrorKind::RecursionLimitExceeded, message);
        }

        let scope = self.scope_of_call(&name);
        let given = self.bind_arguments(&scope, &name, &params, arguments, values);
        self.execute_block(at, *body, scope, given).await
    }

    /// The scope of the next call of a block from here.
    pub(super) fn scope_of_call(&self, name: &SmolStr) -> Rc<Scope> {
        let id = self.instance.calls.get() + 1;
        self.instance.calls.set(id);
        Scope::call(&self.scope, id, name.clone())
    }

    /// Executes the body of the block at a place, in a scope that has its parameters.
    pub(super) async fn execute_block(
        &self,
        at: At,
        body: Option<ListId>,
        scope: Rc<Scope>,
        given: Vec<(SmolStr, SmolStr, Value)>,
    ) -> Exec<Value> {
        let (id, name) = (scope.frame.id, scope.frame.block.clone());
        self.emit(EventKind::FrameEntered {
            id,
            block: name.clone(),
            depth: scope.frame.depth,
            parent: self.scope.frame.id,
            arguments: given,
        });
        self.run.called(&self.place, 'f', id);
        let cx = Self {
            scope: Rc::clone(&scope),
            // What the caller's bodies bind is not seen by blocks, and what it caught is not theirs to raise again.
            locals: None,
            caught: None,
            ..self.reading(at).step(format_args!("f{id}"))
        };
        let result = cx.list(body).await;
        let status = match &result {
            Err(Flow::Return(_)) => Status::Complete,
            result => status_of(result),
        };
        self.emit(EventKind::FrameLeft { id, block: name, status });
        let value = match result {
            Ok(last) => Ok(scope.result().unwrap_or(last)),
            Err(Flow::Return(value)) => Ok(value.or_else(|| scope.result()).unwrap_or_default()),
            Err(Flow::Break | Flow::Continue) => {
                return self.fail(ErrorKind::Other, "`break` and `continue` cannot leave a block");
            }
            Err(error @ Flow::Throw(_)) => Err(error),
        };
        self.scope.keep_ended(&scope);
        value
    }

    /// Binds the parameters of a call: by name where arguments have one, else by place. What is missing is `null`, what is too much is
    /// dropped (B14).
    fn bind_arguments(
        &self,
        scope: &Rc<Scope>,
        block: &str,
        params: &[SmolStr],
        arguments: &[Argument],
        values: Vec<(Option<SmolStr>, Value)>,
    ) -> Vec<(SmolStr, SmolStr, Value)> {
        let mut bound: Vec<Option<(SmolStr, Value)>> = vec![None; params.len()];
        let mut next = 0;
        let mut dropped = 0;
        for (argument, (name, value)) in arguments.iter().zip(values) {
            let source = self.argument_source(argument);
            let named = name.and_then(|name| params.iter().position(|param| *param == name));
            let place = named.unwrap_or(next);
            if named.is_none() {
                next += 1;
            }
            match bound.get_mut(place) {
                Some(slot) => *slot = Some((source, value)),
                None => dropped += 1,
            }
        }
        if dropped > 0 {
            self.warn(format!(
                "block '{block}' takes {} arguments; {dropped} extra arguments are ignored",
                params.len()
            ));
        }
        let mut given = Vec::with_capacity(params.len());
        for (param, slot) in params.iter().zip(bound) {
            let (source, value) = slot.unwrap_or_else(|| {
                self.warn(format!("block '{block}' is called without '{param}', which is null there"));
                ("null".into(), Value::Null)
            });
            scope.set(Variable::without_file(param.clone(), value.clone(), BindingKind::Const));
            given.push((param.clone(), source, value));
        }
        given
    }

    fn argument_source(&self, argument: &Argument) -> SmolStr {
        let program = self.program();
        let range = argument.value.map_or(argument.range, |value| program.body(self.at).value_range(value));
        let text = program.source(self.at, range);
        text.lines().next().unwrap_or_default().trim().into()
    }
}

impl Scope {
    /// What the named outputs of a frame come to: the value of a single one, an object of several (R86).
    pub(super) fn result(&self) -> Option<Value> {
        match &self.outputs.borrow()[..] {
            [] => None,
            [(_, value)] => Some(value.clone()),
            several => Some(Value::object(several.iter().cloned())),
        }
    }
}

impl Cx {
    /// A count that is written in an option: a whole number, at least 1 (D6).
    pub(super) async fn count(&self, what: &str, value: Option<prose_analysis::model::ExprId>) -> Exec<u32> {
        let value = self.optional(value).await?;
        match value.as_number() {
            Some(number) if number >= 1.0 && number.fract() == 0.0 && number <= f64::from(u32::MAX) => {
                Ok(number as u32)
            }
            _ => self.fail(
                ErrorKind::Type,
                format!("`{what}` needs a whole number from 1 on, and this is `{value}`"),
            ),
        }
    }
}
