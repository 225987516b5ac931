//! Loops (R59 to R63).

use prose_analysis::model::{ExprId, ListId, Modifier, NameId};
use smol_str::SmolStr;

use super::variables::article;
use super::{Cx, Exec, Flow};
use crate::error::ErrorKind;
use crate::event::{ConditionOf, EventKind, LoopEnd, LoopKind};
use crate::program::is_named;
use crate::structure;
use crate::value::Value;

/// What an iteration means for its loop.
enum Next {
    /// Continues, with the value of the body; none after `continue`.
    Iteration(Option<Value>),
    /// Ends the loop.
    Break,
}

impl Cx {
    /// `for x, i in xs:`
    pub(super) async fn for_each(
        &self,
        item: Option<NameId>,
        index: Option<NameId>,
        collection: Option<ExprId>,
        body: Option<ListId>,
    ) -> Exec<Value> {
        let items = self.collection(collection).await?;
        let (header, count) = (self.written(collection), items.len() as u32);
        self.emit(EventKind::LoopStarted { kind: LoopKind::For, header, max: Some(count) });
        let with_item = |cx: Self, value| cx.with_item(item, value);
        self.iterate(count, items, with_item, index, body).await
    }

    /// `repeat 3 as i:`
    pub(super) async fn repeat(
        &self,
        count: Option<ExprId>,
        index: Option<NameId>,
        body: Option<ListId>,
    ) -> Exec<Value> {
        let times = self.count("repeat", count).await?;
        let header = self.written(count);
        self.emit(EventKind::LoopStarted { kind: LoopKind::Repeat, header, max: Some(times) });
        self.iterate(times, 0..times, |cx, _| cx, index, body).await
    }

    /// Executes a body for each of so many items, with the variables that they are seen by.
    async fn iterate<T>(
        &self,
        count: u32,
        items: impl IntoIterator<Item = T>,
        with_item: impl Fn(Self, T) -> Self,
        index: Option<NameId>,
        body: Option<ListId>,
    ) -> Exec<Value> {
        let mut last = Value::Null;
        for (nth, item) in (0..count).zip(items) {
            let cx = with_item(self.iteration(nth, Some(count)), item).with_index(index, nth);
            match cx.body(body, nth).await? {
                Next::Iteration(value) => last = value.unwrap_or(last),
                Next::Break => return Ok(self.left(nth + 1, last)),
            }
        }
        self.emit(EventKind::LoopEnded { why: LoopEnd::Exhausted, iterations: count });
        Ok(last)
    }

    /// `loop until **done** (max: 5) as i:`. The condition comes before the limit, and both before the body (R60).
    pub(super) async fn loop_while(
        &self,
        condition: Option<ExprId>,
        options: &[Modifier],
        index: Option<NameId>,
        body: Option<ListId>,
    ) -> Exec<Value> {
        let max = match options.iter().find(|option| is_named(option, "max")) {
            Some(option) => Some(self.count("max", option.value).await?),
            None => None,
        };
        let kind = condition.map_or(LoopKind::Forever, |_| self.loop_kind());
        self.emit(EventKind::LoopStarted { kind, header: self.written(condition), max });
        let cap = self.run.world.settings.max_iterations;
        let mut last = Value::Null;
        let mut done = 0;
        loop {
            if let Some(condition) = condition {
                let cx = self.step(format_args!("i{done}")).deeper().with_index(index, done);
                let judged = cx.condition(condition, ConditionOf::Loop).await?;
                if judged.met != (kind == LoopKind::While) {
                    self.emit(EventKind::LoopEnded { why: LoopEnd::Satisfied, iterations: done });
                    return Ok(last);
                }
                if judged.no_progress && done > 0 {
                    self.emit(EventKind::LoopEnded { why: LoopEnd::NoProgress, iterations: done });
                    return Ok(last);
                }
            }
            if max.is_some_and(|max| done >= max) {
                self.emit(EventKind::LoopEnded { why: LoopEnd::Max, iterations: done });
                return Ok(last);
            }
            if max.is_none() && done >= cap {
                self.emit(EventKind::LoopEnded { why: LoopEnd::Failed, iterations: done });
                return self.fail(
                    ErrorKind::IterationLimitExceeded,
                    format!(
                        "the loop has no `max` of its own and was repeated {cap} times, which is the most that `max-iterations` \
                        below `[run]` in prose.toml allows; write `(max: N)` after the condition, or raise the setting"
                    ),
                );
            }
            let cx = self.iteration(done, max).with_index(index, done);
            done += 1;
            match cx.body(body, done - 1).await? {
                Next::Iteration(value) => last = value.unwrap_or(last),
                Next::Break => return Ok(self.left(done, last)),
            }
        }
    }

    /// The items of a collection (R9).
    pub(super) async fn collection(&self, collection: Option<ExprId>) -> Exec<Vec<Value>> {
        let value = self.optional(collection).await?;
        match structure::items(&value) {
            Some(items) => Ok(items),
            None => self.fail(
                ErrorKind::Type,
                format!("a loop needs a list to go through, and this is {}: {value}", article(value.kind())),
            ),
        }
    }

    fn iteration(&self, nth: u32, max: Option<u32>) -> Self {
        self.emit(EventKind::IterationStarted { number: nth + 1, max });
        self.step(format_args!("i{nth}"))
    }

    async fn body(&self, body: Option<ListId>, nth: u32) -> Exec<Next> {
        match self.list(body).await {
            Ok(value) => Ok(Next::Iteration(Some(value))),
            Err(Flow::Continue) => Ok(Next::Iteration(None)),
            Err(Flow::Break) => Ok(Next::Break),
            Err(flow) => {
                let why = if matches!(flow, Flow::Throw(_)) { LoopEnd::Failed } else { LoopEnd::Left };
                self.emit(EventKind::LoopEnded { why, iterations: nth + 1 });
                Err(flow)
            }
        }
    }

    fn left(&self, iterations: u32, last: Value) -> Value {
        self.emit(EventKind::LoopEnded { why: LoopEnd::Left, iterations });
        last
    }

    pub(super) fn with_item(self, name: Option<NameId>, value: Value) -> Self {
        match name {
            Some(name) => {
                let name = self.name_text(name);
                self.with_local(name, value)
            }
            None => self,
        }
    }

    /// Indices count from 0 (D2).
    pub(super) fn with_index(self, name: Option<NameId>, nth: u32) -> Self {
        self.with_item(name, Value::Number(nth.into()))
    }

    pub(super) fn written(&self, expr: Option<ExprId>) -> SmolStr {
        let Some(expr) = expr else { return SmolStr::default() };
        let program = self.program();
        program.source(self.at, program.body(self.at)[expr].range).into()
    }

    /// Whether this `loop` continues until its condition is met or while it is.
    pub(super) fn loop_kind(&self) -> LoopKind {
        let program = self.program();
        let source = program.source(self.at, program.body(self.at)[self.at.stmt].range);
        let behind = source.trim_start_matches("loop").trim_start();
        if behind.starts_with("while") { LoopKind::While } else { LoopKind::Until }
    }
}
