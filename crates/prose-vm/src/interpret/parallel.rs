//! Branches that run at the same time (R50 to R58).

use std::rc::Rc;
use std::sync::Arc;

use futures_util::future::LocalBoxFuture;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use prose_analysis::model::{ExprId, ListId, Modifier, NameId, Stmt, Target as Assigned};
use smol_str::{SmolStr, format_smolstr};

use super::scope::{Scope, Variable};
use super::{Cx, Exec, Flow, status_of};
use crate::effect::BindingKind;
use crate::error::RuntimeError;
use crate::event::{EventKind, Status};
use crate::program::is_named;
use crate::value::Value;

/// What a `parallel` waits for (R51).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Strategy {
    All,
    First,
    Any(u32),
}

/// What becomes of failures (R51).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Policy {
    FailFast,
    Continue,
    Ignore,
}

/// A branch.
struct Branch {
    /// What its place begins with: `b` for a branch, `i` for an iteration.
    step: char,
    /// What it is called in events.
    label: SmolStr,
    /// The name that its value gets after the join.
    name: Option<SmolStr>,
    scope: Rc<Scope>,
    /// Whether it has left the whole construct, by `break` or `return`.
    left: bool,
    result: Option<Result<Value, Arc<RuntimeError>>>,
}

type Ended = (usize, Exec<Value>);

impl Cx {
    pub(super) async fn parallel(&self, options: &[Modifier], body: Option<ListId>) -> Exec<Value> {
        let program = Arc::clone(self.program());
        let stmts = body.map(|body| program.list(self.at, body)).unwrap_or_default();
        let cxs: Vec<Cx> = stmts
            .iter()
            .map(|stmt| self.deeper().at(*stmt))
            .filter(|cx| !program.is_definition(cx.at))
            .collect();
        let count = cxs.len();
        let (mut branches, mut trees) = (Vec::with_capacity(count), Vec::new());
        let running = FuturesUnordered::new();
        for (nth, mut cx) in cxs.into_iter().enumerate() {
            let name = cx.branch_name();
            let label = name.clone().unwrap_or_else(|| format!("branch {}", nth + 1).into());
            cx.place = self.place.step(format_args!("b{nth}"));
            cx.scope = Scope::branch(&self.scope, format_smolstr!("_b{nth}"), cx.name_of_branch());
            trees.extend(cx.isolate(count, &label));
            let scope = Rc::clone(&cx.scope);
            branches.push(Branch { step: 'b', label: label.clone(), name, scope, left: false, result: None });
            running.push(branch(cx, nth, label, async |cx| cx.statement(None).await));
        }
        let (strategy, policy) = self.strategy(options, branches.len()).await?;
        self.say_branches(&branches, strategy, policy, false);
        let joined = self.join(running, &mut branches, strategy, policy).await;
        let joined = self.join_trees(&trees, |nth| branches[nth].is_done(), joined).await;
        self.bind_branches(&branches, policy);
        let bound = self.bound(&branches);
        let status = status_of(&joined);
        let failures = failures(&branches);
        if policy == Policy::Continue && !failures.is_empty() {
            let list = failures.join("; ");
            self.warn(format!("{} of {} branches failed: {list}", failures.len(), branches.len()));
        }
        self.emit(EventKind::ParallelEnded { bound, failures, status });
        joined?;
        let value = |branch: &Branch| branch.value(policy);
        // An object of the branches that have names, else all in the order of the text (R56).
        if branches.iter().any(|branch| branch.name.is_some()) {
            let named = branches.iter().filter_map(|branch| Some((branch.name.clone()?, value(branch))));
            return Ok(Value::object(named));
        }
        Ok(Value::array(branches.iter().map(value)))
    }

    /// `parallel for x in xs:`: all iterations at once, every one has to succeed (R57).
    pub(super) async fn parallel_for(
        &self,
        item: Option<NameId>,
        index: Option<NameId>,
        collection: Option<ExprId>,
        body: Option<ListId>,
    ) -> Exec<Value> {
        let items = self.collection(collection).await?;
        let count = items.len();
        let (mut branches, mut trees) = (Vec::with_capacity(count), Vec::new());
        let running = FuturesUnordered::new();
        for (nth, value) in items.into_iter().enumerate() {
            let place = self.place.step(format_args!("i{nth}"));
            let cx = Self { place, nesting: self.nesting + 1, ..self.clone() };
            let mut cx = cx.with_item(item, value).with_index(index, nth as u32);
            cx.scope = Scope::branch(&self.scope, format_smolstr!("_{nth}"), None);
            let label = format_smolstr!("iteration {}", nth + 1);
            trees.extend(cx.isolate(count, &label));
            let scope = Rc::clone(&cx.scope);
            let name = label.clone();
            branches.push(Branch { step: 'i', label, name: None, scope, left: false, result: None });
            running.push(branch(cx, nth, name, async move |cx| match cx.list(body).await {
                // An iteration ends early by `continue`; its value is nothing.
                Err(Flow::Continue) => Ok(Value::Null),
                result => result,
            }));
        }
        let (strategy, policy) = (Strategy::All, Policy::FailFast);
        self.say_branches(&branches, strategy, policy, true);
        let joined = match self.join(running, &mut branches, strategy, policy).await {
            // It is the innermost loop around a `break` in its body (R63).
            Err(Flow::Break) => Ok(()),
            joined => joined,
        };
        let joined = self.join_trees(&trees, |nth| branches[nth].is_done(), joined).await;
        self.take_over(&branches);
        let (failures, status) = (failures(&branches), status_of(&joined));
        self.emit(EventKind::ParallelEnded { bound: Vec::new(), failures, status });
        joined?;
        Ok(Value::array(branches.iter().map(|branch| branch.value(policy))))
    }

    /// Waits as the strategy says, and drops the branches that it does not wait for (R52, R53).
    pub(super) async fn join_all(
        &self,
        mut running: FuturesUnordered<LocalBoxFuture<'static, Ended>>,
        count: usize,
    ) -> Exec<Vec<Value>> {
        let mut values = vec![Value::Null; count];
        while let Some((nth, result)) = running.next().await {
            values[nth] = result?;
        }
        Ok(values)
    }

    async fn join(
        &self,
        mut running: FuturesUnordered<LocalBoxFuture<'static, Ended>>,
        branches: &mut [Branch],
        strategy: Strategy,
        policy: Policy,
    ) -> Exec<()> {
        let mut succeeded = 0;
        let mut outcome = Ok(());
        while let Some((nth, result)) = running.next().await {
            let decided = match result {
                Ok(value) => {
                    self.say_ended(branches, nth, Status::Complete, value.clone());
                    branches[nth].result = Some(Ok(value));
                    succeeded += 1;
                    match strategy {
                        Strategy::All => false,
                        Strategy::First => true,
                        Strategy::Any(count) => succeeded >= count,
                    }
                }
                Err(Flow::Throw(error)) => {
                    self.say_ended(branches, nth, Status::Failed, Value::Error(Arc::clone(&error)));
                    branches[nth].result = Some(Err(Arc::clone(&error)));
                    match policy {
                        Policy::FailFast => outcome = Err(Flow::Throw(error)),
                        Policy::Continue | Policy::Ignore => self.failure_handled(),
                    }
                    policy == Policy::FailFast || strategy == Strategy::First
                }
                // What leads out of the whole construct ends every branch.
                Err(flow) => {
                    self.say_ended(branches, nth, Status::Left, Value::Null);
                    branches[nth].left = true;
                    outcome = Err(flow);
                    true
                }
            };
            if decided {
                break;
            }
        }
        // Dropping what still runs ends it, also the sessions it waits for.
        let unfinished = !running.is_empty();
        drop(running);
        if unfinished {
            for nth in 0..branches.len() {
                if branches[nth].result.is_none() && !branches[nth].left {
                    self.say_ended(branches, nth, Status::Skipped, Value::Null);
                }
            }
        }
        outcome
    }

    fn say_branches(&self, branches: &[Branch], strategy: Strategy, policy: Policy, is_loop: bool) {
        let (strategy, count) = match strategy {
            Strategy::All => ("all", branches.len() as u32),
            Strategy::First => ("first", 1),
            Strategy::Any(count) => ("any", count),
        };
        let policy = match policy {
            Policy::FailFast => "fail-fast",
            Policy::Continue => "continue",
            Policy::Ignore => "ignore",
        };
        self.emit(EventKind::ParallelStarted {
            branches: branches.iter().map(|branch| branch.label.clone()).collect(),
            strategy: strategy.into(),
            policy: policy.into(),
            count,
            is_loop,
        });
    }

    fn say_ended(&self, branches: &[Branch], nth: usize, status: Status, value: Value) {
        let step = branches[nth].step;
        let place = self.place.step(format_args!("{step}{nth}"));
        let name = branches[nth].label.clone();
        self.emit_in(
            place,
            self.nesting + 1,
            EventKind::BranchEnded { index: nth as u32, name, status, value },
        );
    }

    /// The strategy and the policy of a `parallel`. `count` is cut to the number of branches (R51).
    async fn strategy(&self, options: &[Modifier], branches: usize) -> Exec<(Strategy, Policy)> {
        let mut strategy = Strategy::All;
        let mut policy = Policy::FailFast;
        let mut count = 1;
        for option in options {
            let Some(value) = option.value else { continue };
            if is_named(option, "count") {
                count = self.count("count", Some(value)).await?.min(branches.max(1) as u32);
            } else if is_named(option, "on-fail") {
                policy = match self.text(value).await?.as_ref() {
                    "continue" => Policy::Continue,
                    "ignore" => Policy::Ignore,
                    _ => Policy::FailFast,
                };
            } else {
                strategy = match self.text(value).await?.as_ref() {
                    "first" => Strategy::First,
                    "any" => Strategy::Any(1),
                    _ => Strategy::All,
                };
            }
        }
        if let Strategy::Any(wanted) = &mut strategy {
            *wanted = count;
        }
        Ok((strategy, policy))
    }

    /// The name that a branch binds in the frame around.
    fn name_of_branch(&self) -> Option<SmolStr> {
        match self.stmt() {
            Stmt::Output { name: Some(name), .. } => Some(self.name_text(*name)),
            _ => self.branch_name(),
        }
    }

    /// The name of a branch.
    fn branch_name(&self) -> Option<SmolStr> {
        let name = match self.stmt() {
            Stmt::Assign { target: Some(Assigned::Name(name)), .. } => *name,
            Stmt::Session { name: Some(name), .. } => *name,
            Stmt::Let { names, destructured: false, .. } => *names.first()?,
            _ => return None,
        };
        Some(self.name_text(name))
    }

    /// Binds what the branches have come to (R19): a failure as the policy says, and what was dropped as `null`.
    fn bind_branches(&self, branches: &[Branch], policy: Policy) {
        self.take_over(branches);
        for branch in branches {
            let Some(name) = branch.name.clone().filter(|_| !matches!(branch.result, Some(Ok(_)))) else {
                continue;
            };
            match branch.value(policy) {
                // A name that is new here gets no file for having no value.
                Value::Null if !self.scope.has(&name) => {
                    self.scope.set(Variable::without_file(name, Value::Null, BindingKind::Let));
                }
                value => self.bind_value(&self.scope, name, BindingKind::Let, value),
            }
        }
    }

    fn bound(&self, branches: &[Branch]) -> Vec<(SmolStr, Value)> {
        let bound = branches.iter().filter_map(|branch| match &branch.result {
            Some(Ok(value)) => Some((branch.name.clone()?, value.clone())),
            _ => None,
        });
        bound.collect()
    }

    /// What branches and iterations have bound belongs to the frame after the join, in the order of the text: the value of the last one that bound a
    /// name (F22). While they run, what they bind lies in files of their own.
    fn take_over(&self, branches: &[Branch]) {
        let mut names: Vec<SmolStr> = Vec::new();
        for branch in branches {
            for variable in branch.scope.variables() {
                if branch.scope.own_name() != Some(&variable.name) && !names.contains(&variable.name) {
                    names.push(variable.name);
                }
            }
            self.scope.take_over(&branch.scope);
        }
        for name in names {
            if let Some(Variable { value, kind, .. }) = self.scope.get(&name) {
                self.bind_value(&self.scope, name, kind, value);
            }
        }
    }
}

impl Branch {
    /// Whether it has done its work, whatever the others have done.
    fn is_done(&self) -> bool {
        self.left || matches!(self.result, Some(Ok(_)))
    }

    /// The value of the branch: that of a failure is what the policy makes of it (R53).
    fn value(&self, policy: Policy) -> Value {
        match &self.result {
            Some(Ok(value)) => value.clone(),
            Some(Err(error)) if policy == Policy::Continue => Value::Error(Arc::clone(error)),
            Some(Err(_)) | None => Value::Null,
        }
    }
}

fn failures(branches: &[Branch]) -> Vec<SmolStr> {
    let failures = branches.iter().filter_map(|branch| match &branch.result {
        Some(Err(error)) => Some(format!("{}: {error}", branch.label).into()),
        _ => None,
    });
    failures.collect()
}

/// Says that a branch starts, and executes it: its statement, or the body of an iteration.
fn branch(
    cx: Cx,
    nth: usize,
    name: SmolStr,
    work: impl AsyncFnOnce(Cx) -> Exec<Value> + 'static,
) -> LocalBoxFuture<'static, Ended> {
    async move {
        cx.emit(EventKind::BranchStarted { index: nth as u32, name });
        (nth, work(cx).await)
    }
    .boxed_local()
}
