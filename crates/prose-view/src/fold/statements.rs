//! Executions of statements, and the names that they bind.

use std::ops::Bound;
use std::sync::Arc;

use prose_vm::effect::Binding;
use prose_vm::error::RuntimeError;
use prose_vm::event::Event;
use prose_vm::place::{Place, Site};
use prose_vm::value::Value;
use smol_str::SmolStr;

use crate::node::Status;
use crate::statement::{Execution, ExecutionId, Outcome, Statement};
use crate::text::beginning;
use crate::times::Waiting;
use crate::view::{BoundName, Program, View, is_in, nearest, outer};

impl View {
    /// The statements that something happens in, with that of its own, each once.
    pub(super) fn statements_around(&self, event: &Event) -> Vec<usize> {
        let own = event
            .site
            .and_then(|site| self.statement_of.get(&(site.program, site.line, site.start, site.end)));
        let mut found: Vec<usize> = own.into_iter().copied().collect();
        let mut at = Some(event.place.as_str());
        while let Some(place) = at {
            if let Some(execution) = self.running.get(place).and_then(|id| self.execution(*id))
                && !found.contains(&execution.statement)
            {
                found.push(execution.statement);
            }
            at = outer(place);
        }
        found
    }

    pub(super) fn execution_around(&self, place: &Place) -> Option<&Execution> {
        let id = nearest(place.as_str(), |place| self.running.get(place).copied())?;
        self.execution(id)
    }

    pub(super) fn change_execution<T>(
        &mut self,
        id: ExecutionId,
        change: impl FnOnce(&mut Execution, &mut Statement) -> T,
    ) -> Option<T> {
        let execution = self.executions.get_mut(self.revision, id.0 as usize)?;
        let statement = self.statements.get_mut(self.revision, execution.statement)?;
        Some(change(execution, statement))
    }

    pub(super) fn statement_started(&mut self, event: &Event, source: &SmolStr) {
        self.current = Some(source.clone());
        let Some(site) = event.site else { return };
        let place = &event.place;
        let index = match self.statement_of.get(&(site.program, site.line, site.start, site.end)) {
            Some(index) => *index,
            None => {
                let statement = Statement { site, ..Statement::default() };
                let index = self.statements.push(self.revision, statement);
                self.statement_of.insert((site.program, site.line, site.start, site.end), index);
                index
            }
        };
        let around = outer(place.as_str())
            .and_then(|outer| nearest(outer, |place| self.running.get(place).copied()))
            .filter(|id| {
                let around = self.execution(*id).and_then(|around| self.statement_of(around));
                around.is_some_and(|around| around.site.program == site.program)
            });
        if let Some(around) = around {
            // The innermost statements are those that are executed; the ones around them wait.
            self.change_execution(around, |around, statement| {
                if around.inside == 0 {
                    statement.innermost = statement.innermost.saturating_sub(1);
                }
                around.inside += 1;
            });
        }
        let id = ExecutionId(self.executions.len() as u32);
        let execution = Execution {
            statement: index,
            place: place.clone(),
            node: self.around(place.as_str()),
            around,
            inside: 0,
            status: Status::Running,
            from: self.time(event),
            to: None,
            waiting: Waiting::default(),
            value: SmolStr::default(),
            file: None,
        };
        self.executions.push(self.revision, execution);
        self.change_execution(id, |execution, statement| {
            statement.times += 1;
            statement.running += 1;
            statement.innermost += 1;
            statement.started = execution.from;
        });
        self.running.insert(place.clone(), id);
        if let Some(program) = self.programs.get_mut(&site.program) {
            program.position = program.position.max(site.line);
        }
    }

    pub(super) fn statement_ended(
        &mut self,
        id: ExecutionId,
        at: u64,
        status: Status,
        error: Option<&Arc<RuntimeError>>,
    ) {
        let outcome = |execution: &Execution, took: u64| match status {
            Status::Failed => Outcome::Failed { took, error: error.cloned() },
            Status::Skipped => Outcome::Stopped,
            _ => Outcome::Done { took, value: execution.value.clone() },
        };
        let site = self.close_execution(id, at, status, outcome, true);
        if let (Some(site), Some(error)) = (site, error)
            && site.program == 0
        {
            self.failing.push((site, Arc::clone(error)));
        }
    }

    /// Stops the open executions at a place and in it, the innermost ones first.
    pub(super) fn stop_executions(&mut self, place: &str, at: u64) {
        let from = (Bound::Included(place), Bound::Unbounded);
        let open = self.running.range::<str, _>(from);
        // Places in a place follow it, among others that only begin with the same letters.
        let near = open.take_while(|(open, _)| open.as_str().starts_with(place));
        let inside: Vec<_> =
            near.filter(|(open, _)| is_in(open.as_str(), place)).map(|(_, id)| *id).collect();
        for id in inside.into_iter().rev() {
            let site = self.close_execution(id, at, Status::Skipped, |_, _| Outcome::Stopped, false);
            let program = site.and_then(|site| self.programs.get_mut(&site.program));
            if let Some(program) = program {
                (program.updated, program.revision) = (at + self.paused, self.revision);
            }
        }
    }

    pub(super) fn close_execution(
        &mut self,
        id: ExecutionId,
        at: u64,
        status: Status,
        outcome: impl FnOnce(&Execution, u64) -> Outcome,
        is_own_end: bool,
    ) -> Option<Site> {
        let (revision, now) = (self.revision, self.clocks());
        let (place, around, site) = self.change_execution(id, |execution, statement| {
            (execution.status, execution.to) = (status, Some(at));
            let waited = execution.waiting.at(now).view;
            let took = at.saturating_sub(execution.from).saturating_sub(waited);
            statement.outcome = Some(outcome(execution, took));
            statement.ended_at = revision;
            statement.retrying = None;
            statement.running = statement.running.saturating_sub(1);
            statement.ended += u32::from(is_own_end);
            statement.took += took;
            match status {
                Status::Failed => statement.failed += 1,
                Status::Complete => statement.complete += 1,
                _ => {}
            }
            // Statements inside that were given up do not always end by themselves.
            if execution.inside == 0 {
                statement.innermost = statement.innermost.saturating_sub(1);
            }
            (execution.place.clone(), execution.around, statement.site)
        })?;
        self.running.remove(&place);
        if let Some(around) = around {
            self.change_execution(around, |around, statement| {
                let was_outer = around.inside > 0 && around.to.is_none();
                around.inside = around.inside.saturating_sub(1);
                statement.innermost += u32::from(was_outer && around.inside == 0);
            });
        }
        Some(site)
    }

    /// Takes up the value of a statement.
    pub(super) fn give(&mut self, place: &Place, value: &Value, file: Option<&Arc<str>>) {
        let Some(id) = self.running.get(place).copied() else { return };
        self.change_execution(id, |execution, _| {
            execution.value = beginning(&value.to_string());
            execution.file = file.cloned();
        });
    }

    pub(super) fn bound(&mut self, event: &Event, number: u32, binding: &Binding, value: &Value) {
        self.give(&event.place, value, Some(&binding.path));
        self.result_given(number, binding, value);
        let revision = self.revision;
        // A program that was imported binds its inputs before its first statement, in the call of another program.
        let statement = self.execution_around(&event.place).map(|execution| execution.statement);
        let is_own = |index: &usize| {
            self.statements.get(*index).is_some_and(|statement| statement.site.program == number)
        };
        if let Some(index) = statement.filter(is_own)
            && let Some(statement) = self.statements.get_mut(revision, index)
        {
            statement.file = Some((Arc::clone(&binding.path), revision));
        }
        if let Some(program) = self.programs.get_mut(&number) {
            program.bind(BoundName { binding: binding.clone(), seq: event.seq });
        }
    }
}

impl Program {
    pub(super) fn new(name: SmolStr, folder: Arc<str>, at: u64) -> Self {
        Self { name, folder, started: at, updated: at, ..Self::default() }
    }

    fn bind(&mut self, name: BoundName) {
        let key = (name.binding.name.clone(), name.binding.frame);
        match self.index_of_name.get(&key).copied() {
            // What a branch has bound belongs to the frame after the join (F22), in a file of that frame.
            Some(index) => self.names[index] = name,
            None => {
                self.index_of_name.insert(key, self.names.len());
                self.names.push(name);
            }
        }
    }
}
