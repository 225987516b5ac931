//! Pipelines (R69 to R71).

use std::rc::Rc;

use futures_util::FutureExt;
use futures_util::stream::FuturesUnordered;
use prose_analysis::model::{Stage, StageKind, Value as ValueNode};
use smol_str::SmolStr;

use super::scope::Scope;
use super::{Cx, Exec};
use crate::effect::{ContextItem, Question};
use crate::error::ErrorKind;
use crate::event::{ConditionOf, EventKind};
use crate::structure::{self, Truth, truth};
use crate::value::Value;

impl Cx {
    pub(super) async fn pipeline(&self, source: Option<ValueNode>, stages: &[Stage]) -> Exec<Value> {
        let source = self.value(source).await?;
        let Some(mut items) = structure::items(&source) else {
            let message = format!("a pipeline needs a list to start from, and this is {source}");
            return self.fail(ErrorKind::Type, message);
        };
        let names = stages.iter().map(operator).collect();
        self.emit(EventKind::PipelineStarted { stages: names, items: items.len() as u32 });
        let mut reduced = None;
        for (nth, stage) in stages.iter().enumerate() {
            // A stage after a `reduce` works on the items of its value.
            if let Some(value) = reduced.take() {
                items = structure::items(&value).unwrap_or_else(|| vec![value]);
            }
            let cx = self.step(format_args!("g{nth}"));
            cx.emit(EventKind::StageStarted { operator: operator(stage), items: items.len() as u32 });
            match stage.operator {
                Some(StageKind::Map) => items = cx.map(stage, items).await?,
                Some(StageKind::Pmap) => items = cx.pmap(stage, items).await?,
                Some(StageKind::Filter) => items = cx.filter(stage, items).await?,
                Some(StageKind::Reduce) => {
                    reduced = Some(cx.reduce(stage, std::mem::take(&mut items)).await?);
                }
                None => {}
            }
            let left = if reduced.is_some() { 1 } else { items.len() as u32 };
            cx.emit(EventKind::StageEnded { operator: operator(stage), items: left });
        }
        Ok(reduced.unwrap_or_else(|| Value::array(items)))
    }

    async fn map(&self, stage: &Stage, items: Vec<Value>) -> Exec<Vec<Value>> {
        let mut values = Vec::with_capacity(items.len());
        for (nth, item) in items.into_iter().enumerate() {
            values.push(self.item_of(stage, nth, item).list(stage.body).await?);
        }
        Ok(values)
    }

    /// All items at once; the first failure ends the others (R70).
    async fn pmap(&self, stage: &Stage, items: Vec<Value>) -> Exec<Vec<Value>> {
        let count = items.len();
        let running = FuturesUnordered::new();
        let (mut scopes, mut trees) = (Vec::with_capacity(count), Vec::new());
        for (nth, item) in items.into_iter().enumerate() {
            let mut cx = self.item_of(stage, nth, item);
            cx.scope = Scope::branch(&self.scope, format!("_{nth}").into(), None);
            scopes.push(Rc::clone(&cx.scope));
            trees.extend(cx.isolate(count, &format!("item {}", nth + 1).into()));
            let body = stage.body;
            running.push(async move { (nth, cx.list(body).await) }.boxed_local());
        }
        let (joined, values) = match self.join_all(running, count).await {
            Ok(values) => (Ok(()), values),
            Err(flow) => (Err(flow), Vec::new()),
        };
        let is_done = joined.is_ok();
        let joined = self.join_trees(&trees, |_| is_done, joined).await;
        for scope in scopes {
            self.scope.take_over(&scope);
        }
        joined.map(|()| values)
    }

    /// Keeps the items that the body says yes to. An answer that says neither is judged (R11).
    async fn filter(&self, stage: &Stage, items: Vec<Value>) -> Exec<Vec<Value>> {
        let mut kept = Vec::new();
        for (nth, item) in items.into_iter().enumerate() {
            let cx = self.item_of(stage, nth, item.clone());
            let answer = cx.list(stage.body).await?;
            let keeps = match truth(&answer) {
                Truth::Yes => true,
                Truth::No => false,
                Truth::Unclear => cx.judge_answer(&item, &answer).await?,
            };
            if keeps {
                kept.push(item);
            }
        }
        Ok(kept)
    }

    async fn judge_answer(&self, item: &Value, answer: &Value) -> Exec<bool> {
        let shown = |name: &str, value: &Value| ContextItem::text(name, value.to_string());
        let context = vec![shown("item", item), shown("answer", answer)];
        let question = Question::new("the answer says that the item is to be kept".into(), context);
        Ok(self.step("answer").verdict(question, ConditionOf::Filter).await?.met)
    }

    /// The first item is what the others are added to; an empty list gives `null` (R70).
    async fn reduce(&self, stage: &Stage, items: Vec<Value>) -> Exec<Value> {
        let mut items = items.into_iter().enumerate();
        let Some((_, mut so_far)) = items.next() else {
            self.warn("there is nothing to reduce; the result is null");
            return Ok(Value::Null);
        };
        for (nth, item) in items {
            let mut cx = self.step(format_args!("i{nth}"));
            let mut values = [so_far, item].into_iter();
            for name in &stage.names {
                cx = cx.with_item(Some(*name), values.next().unwrap_or_default());
            }
            so_far = cx.list(stage.body).await?;
        }
        Ok(so_far)
    }

    fn item_of(&self, stage: &Stage, nth: usize, item: Value) -> Self {
        let mut cx = self.step(format_args!("i{nth}"));
        for name in &stage.names {
            cx = cx.with_item(Some(*name), item.clone());
        }
        cx
    }
}

fn operator(stage: &Stage) -> SmolStr {
    match stage.operator {
        Some(StageKind::Map) => "map",
        Some(StageKind::Filter) => "filter",
        Some(StageKind::Pmap) => "pmap",
        Some(StageKind::Reduce) => "reduce",
        None => "",
    }
    .into()
}
