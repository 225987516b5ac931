//! The requests of a run, one by one: attempts of sessions, and decisions.

use std::collections::BTreeMap;
use std::sync::Arc;

use prose_vm::activity::{AgentSession, Work};
use prose_vm::effect::{Failure, Outcome, RequestId, SessionTask, Usage};
use prose_vm::event::{Event, EventKind};
use prose_vm::place::{Place, Site};
use serde::Serialize;
use smol_str::SmolStr;

use crate::text::first_line;

/// A request to an agent or a model.
#[derive(Debug, Default, Clone, PartialEq, Serialize)]
pub struct RequestRecord {
    /// Its number.
    pub request: RequestId,
    /// The kind of effect: `session`, `judge`, `choose`, `extract` or `summarise`.
    pub kind: SmolStr,
    /// The agent of a session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<SmolStr>,
    /// The model that the program names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<SmolStr>,
    /// The first line of the task or the condition.
    #[serde(skip_serializing_if = "SmolStr::is_empty")]
    pub label: SmolStr,
    /// The number of the attempt of a session, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// The place in the execution.
    pub place: Place,
    /// The place in the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub site: Option<Site>,
    /// Its status.
    pub status: RequestStatus,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
    /// What it has used, if anything was reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Whether the usage is estimated.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_estimated: bool,
    /// Whether the outcome was recorded before the program changed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_reused: bool,
    /// The session of the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<AgentSession>,
}

/// The status of a request.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RequestStatus {
    /// It has no outcome yet.
    #[default]
    Running,
    /// It succeeded.
    Complete,
    /// It failed.
    Failed,
    /// It was cancelled, or the run stopped while it was at work.
    Cancelled,
}

/// The requests of a run, in the order in which they started or, where that is not recorded, ended.
#[derive(Debug, Clone, Default)]
pub struct Requests {
    all: Vec<RequestRecord>,
    numbers: BTreeMap<RequestId, usize>,
    conditions: BTreeMap<RequestId, SmolStr>,
}

impl Requests {
    /// The requests of some events.
    pub fn of<'a>(events: impl IntoIterator<Item = &'a Event>) -> Self {
        let mut requests = Self::default();
        events.into_iter().for_each(|event| requests.apply(event));
        requests
    }

    /// The requests.
    pub fn all(&self) -> &[RequestRecord] {
        &self.all
    }

    /// Adds an event.
    pub fn apply(&mut self, event: &Event) {
        match &event.kind {
            EventKind::SessionStarted { request, task } => self.started(event, *request, task),
            EventKind::ConditionAsked { request: Some(request), text, .. } => {
                self.conditions.insert(*request, first_line(text));
            }
            EventKind::Effect { request, effect, outcome, work, .. } if is_request(effect) => {
                let usage = event.kind.usage();
                let record = self.open_record(event, *request, effect);
                record.add(work, usage);
                (record.status, record.error) = match outcome {
                    Outcome::Failed(failure) => (RequestStatus::Failed, Some(failure.clone())),
                    _ => (RequestStatus::Complete, None),
                };
            }
            EventKind::Expense(expense) => {
                let Some(request) = expense.request else { return };
                let record = self.record(event, request, &expense.effect);
                record.add(&expense.work, expense.work.usage);
                if expense.requests > 0 && record.status == RequestStatus::Running {
                    record.status = RequestStatus::Cancelled;
                }
            }
            // What no model was asked for has used nothing, so that its cancelling is recorded with its branch alone.
            EventKind::RunEnded(_) => {
                let open = self.all.iter_mut().filter(|record| record.status == RequestStatus::Running);
                open.for_each(|record| record.status = RequestStatus::Cancelled);
            }
            _ => {}
        }
    }

    fn started(&mut self, event: &Event, request: RequestId, task: &Arc<SessionTask>) {
        let record = self.record(event, request, "session");
        record.agent.clone_from(&task.agent);
        record.model.clone_from(&task.model);
        record.label = first_line(&task.task);
        record.attempt = Some(task.attempt + 1);
    }

    /// The record of a request that ends. One that was cancelled and started again has one for each time.
    fn open_record(&mut self, event: &Event, request: RequestId, kind: &str) -> &mut RequestRecord {
        let cancelled = self.record(event, request, kind);
        if cancelled.status == RequestStatus::Cancelled {
            let again = RequestRecord {
                status: RequestStatus::Running,
                usage: None,
                is_estimated: false,
                session: None,
                ..cancelled.clone()
            };
            self.numbers.insert(request, self.all.len());
            self.all.push(again);
        }
        self.record(event, request, kind)
    }

    fn record(&mut self, event: &Event, request: RequestId, kind: &str) -> &mut RequestRecord {
        let index = *self.numbers.entry(request).or_insert(self.all.len());
        if index == self.all.len() {
            self.all.push(RequestRecord {
                request,
                kind: kind.into(),
                label: self.conditions.remove(&request).unwrap_or_default(),
                place: event.place.clone(),
                site: event.site,
                ..RequestRecord::default()
            });
        }
        &mut self.all[index]
    }
}

impl RequestRecord {
    /// Adds what was reported. A request that runs again after the run was resumed has used both.
    fn add(&mut self, work: &Work, usage: Option<Usage>) {
        self.usage = Usage::sum([self.usage, usage]);
        self.is_estimated |= work.is_estimated;
        self.is_reused |= work.is_reused;
        self.session = work.agent.clone().or(self.session.take());
    }
}

fn is_request(effect: &str) -> bool {
    matches!(effect, "session" | "judge" | "choose" | "extract" | "summarise")
}
