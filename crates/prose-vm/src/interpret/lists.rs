//! Programs and bodies: statements one after the other (R5).

use std::rc::Rc;
use std::sync::Arc;

use prose_analysis::model::{ListId, Stmt};
use smol_str::SmolStr;

use super::{Cx, Exec, Flow, status_of};
use crate::effect::BindingKind;
use crate::error::{ErrorKind, RuntimeError};
use crate::event::{DefinedAgent, DefinedBlock, EventKind, StatementKind};
use crate::machine::NestedFuture;
use crate::program::{At, property};
use crate::value::Value;

impl Cx {
    /// Executes the whole program of this instance, and gives its value: that of its unnamed output, or of its last statement (R5, R91).
    pub(super) async fn program_to_its_end(&self) -> Result<Value, Arc<RuntimeError>> {
        self.say_definitions();
        match self.statements_of_program().await {
            Err(Flow::Return(Some(value))) => Ok(value),
            // The value of the last statement counts only where nothing else is given.
            Ok(value) if self.instance.root.outputs.borrow().is_empty() => Ok(value),
            Ok(_) | Err(Flow::Return(None)) => Ok(Value::Null),
            Err(Flow::Throw(error)) => Err(error),
            // The analysis reports them outside of loops, so only a program that was not checked comes here.
            Err(Flow::Break | Flow::Continue) => {
                Err(self.error(ErrorKind::Other, "`break` and `continue` need a loop around them"))
            }
        }
    }

    async fn statements_of_program(&self) -> Exec<Value> {
        // Imported programs are executed as a whole.
        if let Some(part) = self.run.world.settings.part.as_ref().filter(|_| self.instance.number == 0) {
            return self.part_alone(part).await;
        }
        self.bind_given_inputs();
        let mut last = Value::Null;
        for (number, at) in (1..).zip(self.program().executed()) {
            self.run.world.yield_now().await;
            let cx = Self { at, place: self.place.step(format_args!("s{}", at.top)), ..self.clone() };
            last = cx.statement(Some(number)).await?;
        }
        Ok(last)
    }

    fn say_definitions(&self) {
        let program = Arc::clone(self.program());
        for import in &program.imports {
            let Some(imported) = &import.program else { continue };
            let cx = Self { at: import.at, ..self.clone() };
            cx.emit(EventKind::Imported {
                path: import.path.clone(),
                from: imported.from.clone(),
                inputs: imported.contract.inputs.iter().map(|input| input.name.clone()).collect(),
                outputs: imported.contract.outputs.clone(),
                alias: import.alias.clone(),
            });
        }
        let agents = program.agents().into_iter().map(|(name, at)| {
            let cx = Self { at, ..self.clone() };
            let Stmt::Agent { properties, .. } = program.stmt(at) else {
                return DefinedAgent { name: name.clone(), model: None, memory: None };
            };
            let model = property(properties, "model").and_then(|property| property.value);
            let model = model.and_then(|value| program.body(at).string(value)).map(SmolStr::new);
            DefinedAgent { name: name.clone(), model, memory: cx.memory_place(name, at).ok().flatten() }
        });
        let agents = agents.collect();
        let blocks = program.blocks().into_iter().map(|(name, at)| {
            let body = program.body(at);
            let params = match program.stmt(at) {
                Stmt::Block { params, .. } => params.iter().map(|name| body[*name].text.clone()).collect(),
                _ => Vec::new(),
            };
            DefinedBlock { name: name.clone(), params }
        });
        let blocks = blocks.collect();
        let statements = program.executed().count() as u32;
        let number = self.instance.number;
        // A program that was moved since the run was started is the same one.
        let origin = self.run.world.settings.origin.as_ref().filter(|_| number == 0);
        let name = origin.map_or_else(|| program.name.clone(), |(name, _)| name.clone());
        self.emit(EventKind::Defined { program: number, name, agents, blocks, statements });
    }

    /// Binds the inputs that the caller gave (R88).
    fn bind_given_inputs(&self) {
        let inputs = &self.instance.inputs;
        if inputs.is_empty() {
            return;
        }
        self.emit(EventKind::InputsReceived { inputs: inputs.clone() });
        // One without a name is no variable until its value is taken.
        for (name, value) in inputs.iter().filter(|(name, _)| self.program().has_named_input(name)) {
            // The statement that declares it.
            let declared = self.program().executed().find(|at| match self.program().stmt(*at) {
                Stmt::Input { name: Some(input), .. } => self.program().body(*at)[*input].text == *name,
                _ => false,
            });
            let cx = Self { at: declared.unwrap_or(self.at), ..self.clone() };
            cx.bind_value(&self.scope, name.clone(), BindingKind::Input, value.clone());
        }
    }

    /// Executes the statements of a body; gives the value of the last one (R87).
    pub(super) async fn list(&self, list: Option<ListId>) -> Exec<Value> {
        self.run.world.yield_now().await;
        let Some(list) = list else { return Ok(Value::Null) };
        let program = Arc::clone(self.program());
        let mut last = Value::Null;
        for stmt in program.list(self.at, list) {
            let at = At { top: self.at.top, stmt: *stmt };
            if !program.is_definition(at) {
                let place = self.place.step(stmt.index());
                let cx = Self { at, place, nesting: self.nesting + 1, ..self.clone() };
                last = cx.statement(None).await?;
            }
        }
        Ok(last)
    }

    /// Executes a statement.
    pub(super) fn statement(self, number: Option<u32>) -> NestedFuture<Exec<Value>> {
        let world = Rc::clone(&self.run.world);
        world.nest(async move { self.statement_here(number).await })
    }

    async fn statement_here(&self, number: Option<u32>) -> Exec<Value> {
        self.within_statement(number, self.execute()).await
    }

    /// Does what a statement does, or a part of it, between the events of its start and its end.
    pub(super) async fn within_statement(
        &self,
        number: Option<u32>,
        work: impl Future<Output = Exec<Value>>,
    ) -> Exec<Value> {
        let kind = self.statement_kind();
        let source = self.program().header(self.at);
        self.emit(EventKind::StatementStarted { number, source, kind });
        self.change_variables();
        let result = match work.await {
            Ok(value) => self.kept(value),
            Err(Flow::Return(Some(value))) => {
                self.kept(value).and_then(|value| Err(Flow::Return(Some(value))))
            }
            result => result,
        };
        let error = match &result {
            Err(Flow::Throw(error)) => Some(Arc::clone(error)),
            _ => None,
        };
        self.emit(EventKind::StatementEnded { status: status_of(&result), error });
        result
    }

    fn statement_kind(&self) -> StatementKind {
        match self.stmt() {
            Stmt::Session { .. } => StatementKind::Session,
            Stmt::Resume { .. } => StatementKind::Resume,
            Stmt::Let { .. } | Stmt::Assign { .. } => StatementKind::Binding,
            Stmt::Input { .. } => StatementKind::Input,
            Stmt::Output { .. } => StatementKind::Output,
            Stmt::Call { .. } => StatementKind::Call,
            Stmt::Expr(_) => StatementKind::ImportCall,
            Stmt::Do { .. } => StatementKind::Do,
            Stmt::Parallel { .. } => StatementKind::Parallel,
            Stmt::For { parallel, .. } if *parallel => StatementKind::Parallel,
            Stmt::For { .. } | Stmt::Repeat { .. } | Stmt::Loop { .. } => StatementKind::Loop,
            Stmt::If { .. } => StatementKind::If,
            Stmt::Choice { .. } => StatementKind::Choice,
            Stmt::Try { .. } => StatementKind::Try,
            Stmt::Pipeline { .. } => StatementKind::Pipeline,
            Stmt::Chain(_) => StatementKind::Chain,
            Stmt::Throw(_) => StatementKind::Throw,
            _ => StatementKind::Other,
        }
    }
}
