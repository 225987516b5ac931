//! Counts what requests use, also without an outcome.

use smol_str::SmolStr;

use super::{Cancelled, RunError, Runner};
use crate::activity::Work;
use crate::budget::Spent;
use crate::effect::{Outcome, Reply, Request, RequestId, Usage};
use crate::event::{Event, EventKind, Expense};
use crate::place::{Place, Site};
use crate::questions::{ApprovalAnswer, QuestionId, QuestionKind, RecordedAnswer};

impl Runner<'_> {
    /// The next recorded event, if the machine did not cause it.
    pub(super) fn expected_unrequested(&mut self) -> Option<Event> {
        self.host.recall.expected(self.seq + 1).filter(is_unrequested)
    }

    /// Repeats a recorded expense, command, question or answer of an earlier execution. The source of answers has read the last ones already.
    pub(super) fn repeat_unrequested(&mut self, event: &Event) -> Result<(), RunError> {
        self.seq += 1;
        self.is_resumed = true;
        self.clock.replay(event);
        match &event.kind {
            EventKind::Expense(expense) => {
                self.count_expense(expense);
                self.remember_failure(expense);
                self.usage = Usage::sum([self.usage, expense.work.usage]);
                // What a request has used late says nothing else about it.
                if expense.requests > 0 {
                    self.own_sessions.ended_early(&event.place, &expense.work);
                }
            }
            EventKind::Commanded { command, by } => self.repeat_command(command, by),
            EventKind::Answered(answer) => self.repeat_answer(answer),
            // What is open in this execution is recorded again, even if it is the same or nothing.
            EventKind::QuestionsOpen { questions } => {
                self.asked.clear();
                self.asked.extend(questions.first().map(|_| QuestionId(0)));
            }
            _ => {}
        }
        self.record(event, false)
    }

    /// A limit is raised where the user has raised it, so that the run may use as much in this execution as in the earlier one.
    fn repeat_answer(&mut self, answer: &RecordedAnswer) {
        let said = ApprovalAnswer::of_word(&answer.answer.to_string());
        if let QuestionKind::Limit { rule } = &answer.kind
            && said.is_some_and(|said| said != ApprovalAnswer::Deny)
        {
            self.meter.repeat_raise(rule);
        }
    }

    /// Keeps what a request at work has used up to now, for the case that the process ends before that is recorded.
    pub(super) fn keep_at_work(
        &mut self,
        id: RequestId,
        requests: u32,
        usage: Option<Usage>,
    ) -> Result<(), RunError> {
        // As in the total of the day, only what a model is asked counts.
        if !self.uses_model() {
            return Ok(());
        }
        let (Some(after), Some(request)) = (self.is_started.get(&id), self.waiting.get(&id)) else {
            return Ok(());
        };
        let expense = Expense {
            request: Some(id),
            effect: request.effect.kind().into(),
            agent: request.effect.agent().cloned(),
            requests,
            work: Work { usage, ..Work::default() },
            failure: None,
        };
        Ok(self.host.store.at_work(*after, &expense)?)
    }

    /// Counts what an earlier execution has used. It is in the total of its day already.
    fn count_expense(&mut self, expense: &Expense) {
        let used = match expense.work.usage {
            Some(usage) => Spent::of(usage),
            // A request to a model that reported nothing has used an unknown amount.
            None if self.uses_model() => Spent { unpriced_requests: expense.requests, ..Spent::default() },
            None => Spent::default(),
        };
        self.meter.count(expense.agent.as_ref(), Spent { sessions: expense.sessions(), ..used });
    }

    /// Records what earlier executions have used and the journal of this one does not have.
    pub(super) fn carry_expenses(&mut self) -> Result<(), RunError> {
        for expense in self.host.recall.expenses() {
            self.count_expense(&expense);
            self.remember_failure(&expense);
            self.emit_expense(Place::root(), None, expense)?;
        }
        Ok(())
    }

    /// Keeps by what a request has failed in an earlier execution, until it is asked again.
    fn remember_failure(&mut self, expense: &Expense) {
        if let (Some(request), Some(failure)) = (expense.request, &expense.failure) {
            self.failed_before.entry(request).or_default().push((**failure).clone());
        }
    }

    /// Reports to the harness by what a request has failed in earlier executions, before it is asked again or its outcome is recalled.
    pub(super) fn report_failed_before(&mut self, id: RequestId) {
        let Some(request) = self.waiting.get(&id) else { return };
        for failure in self.failed_before.remove(&id).unwrap_or_default() {
            self.host.harness.failed_before(request, &failure);
        }
    }

    pub(super) fn emit_expense(
        &mut self,
        place: Place,
        site: Option<Site>,
        expense: Expense,
    ) -> Result<(), RunError> {
        self.seq += 1;
        self.usage = Usage::sum([self.usage, expense.work.usage]);
        let event = self.unrecorded_event(EventKind::Expense(Box::new(expense)));
        self.record(&Event { place, site, ..event }, true)
    }

    /// Counts what a cancelled request has used: it is paid for all the same.
    pub(super) fn used_late(&mut self, request: RequestId, mut usage: Usage) -> Result<(), RunError> {
        let Some(cancelled) = self.cancelled.get(&request) else { return Ok(()) };
        let Cancelled { place, site, effect, agent, model } = cancelled.clone();
        usage.cost = self.host.accounts.cost_of(model.as_deref(), &usage);
        let spent = Spent { unpriced_requests: 0, ..Spent::of(usage) };
        self.meter.count(agent.as_ref(), spent);
        self.meter.set_day(self.host.accounts.spend(Spent::default(), spent));
        let work = Work { usage: Some(usage), ..Work::default() };
        let expense = Expense { request: Some(request), effect, agent, requests: 0, work, failure: None };
        self.emit_expense(place, Some(site), expense)
    }

    /// Settles a request that gets no outcome.
    pub(super) fn settle_cancelled(&mut self, request: &Request) -> Result<(), RunError> {
        let expense = self.expense_of_cancelled(request);
        if expense.work.is_empty() && !self.uses_model() {
            return Ok(());
        }
        self.emit_expense(request.place.clone(), Some(request.site), expense)
    }

    /// Counts what a cancelled request has used.
    pub(super) fn expense_of_cancelled(&mut self, request: &Request) -> Expense {
        let Request { id, place, site, effect, .. } = request;
        let mut work = self.settle(request, None);
        if work.agent.is_some() && work.unanswered() > 0 {
            let harness = self.host.harness.as_ref();
            let harness = harness.of_agent(effect.agent().map(SmolStr::as_str)).unwrap_or(harness);
            work.harness = Some(harness.name().into());
        }
        let model = work.agent.as_ref().and_then(|agent| agent.model.clone());
        let cancelled = Cancelled {
            place: place.clone(),
            site: *site,
            effect: effect.kind().into(),
            agent: effect.agent().cloned(),
            model: model.or_else(|| effect.model().cloned()),
        };
        let (kind, agent) = (cancelled.effect.clone(), cancelled.agent.clone());
        self.cancelled.insert(*id, cancelled);
        Expense { request: Some(*id), effect: kind, agent, requests: 1, work, failure: None }
    }

    /// Whether the run asks a model.
    pub(super) fn uses_model(&self) -> bool {
        self.host.accounts.estimate(0, 0).is_some()
    }

    /// The reports of a request that has ended, with the cost of its usage. Also a request that failed or was cancelled is paid for.
    pub(super) fn settle(&mut self, request: &Request, outcome: Option<&Outcome>) -> Work {
        let mut work = self.worked.remove(&request.id).unwrap_or_default();
        work.calls = self.reports.end(request.id);
        let accounts = &self.host.accounts;
        let is_reported =
            work.usage.is_some() || matches!(outcome, Some(Outcome::Reply(Reply { usage: Some(_), .. })));
        if let Some(Outcome::Reply(reply)) = outcome {
            match (work.usage, reply.usage) {
                (None, Some(usage)) => work.usage = Some(usage),
                (None, None) => {
                    work.usage = accounts.estimate(request.effect.prompt_length(), reply.text.len());
                    work.is_estimated = work.usage.is_some();
                }
                _ => {}
            }
        }
        if let Some(usage) = &mut work.usage {
            let model = work.agent.as_ref().and_then(|agent| agent.model.as_ref());
            let model = model.or(request.effect.model()).map(SmolStr::as_str);
            usage.cost = accounts.cost_of(model, usage);
        }
        // A request that reported nothing has used an unknown amount, if it was one to a model.
        let uses_model = is_reported || accounts.estimate(0, 0).is_some();
        let spent = match work.usage {
            Some(usage) => Spent::of(usage),
            None if uses_model && request.effect.needs_agent() => Spent::of(Usage::default()),
            None => Spent::default(),
        };
        // The session was counted when it started.
        let before = self.meter.settle(request.id, request.effect.agent(), spent);
        if before != spent {
            self.meter.set_day(accounts.spend(before, spent));
        }
        work
    }
}

/// Whether an event is recorded where it became known, independent of what the machine emits.
pub(super) fn is_unrequested(event: &Event) -> bool {
    matches!(
        event.kind,
        EventKind::Expense(_)
            | EventKind::Commanded { .. }
            | EventKind::VariableSet { .. }
            | EventKind::QuestionsOpen { .. }
            | EventKind::Answered(_)
    )
}
