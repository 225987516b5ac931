//! Starts pending requests, within the limits of the run and of the machine.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures_util::future::{AbortHandle, Abortable};

use super::session::{outcome, perform};
use super::{Done, RunError, Runner, Unit};
use crate::activity::{Activity, LIMIT_QUESTION, PermissionQuestion, Reporter};
use crate::budget::{Reached, Spent};
use crate::effect::{Effect, Failure, Outcome, Request, RequestId};
use crate::error::ErrorKind;
use crate::event::{Event, EventKind};
use crate::questions::AskedAt;
use crate::{confirmation, permissions};

impl Runner<'_> {
    /// Whether the outcome of a request is recorded and will be delivered.
    pub(super) fn is_known(&self, id: RequestId) -> bool {
        self.replays && self.host.recall.is_known(id)
    }

    /// Whether a request must not start yet, since the run is debugged.
    pub(super) fn is_held(&self, id: RequestId) -> bool {
        let Some(gate) = &self.host.gate else { return false };
        self.waiting.get(&id).is_some_and(|request| !gate.may_start(request))
    }

    /// Starts pending requests as far as the limits allow. Returns the reason if the run has to stop.
    pub(super) fn start(&mut self) -> Result<Option<String>, RunError> {
        let not_yet = |runner: &Self, queue: &BTreeSet<RequestId>| -> Vec<RequestId> {
            if !runner.replays && runner.host.gate.is_none() {
                return Vec::new();
            }
            queue.iter().copied().filter(|id| runner.is_known(*id) || runner.is_held(*id)).collect()
        };
        let (with_agent, without) = (not_yet(self, &self.agents_wanted), not_yet(self, &self.at_once));
        with_agent.iter().for_each(|id| _ = self.agents_wanted.remove(id));
        without.iter().for_each(|id| _ = self.at_once.remove(id));
        let reason = self.start_unknown();
        self.agents_wanted.extend(with_agent);
        self.at_once.extend(without);
        reason
    }

    fn start_unknown(&mut self) -> Result<Option<String>, RunError> {
        let may_start = !self.commanded.is_paused;
        while may_start && let Some(id) = self.at_once.pop_first() {
            self.begin(id);
        }
        if !self.agents_wanted.is_empty() && self.meter.limits_day() {
            // Other runs have used something meanwhile.
            self.meter.set_day(self.host.accounts.today());
        }
        let mut blocked = BTreeSet::new();
        let mut stopped = None;
        self.is_short = false;
        while may_start
            && self.question.is_none()
            && !self.agents_wanted.is_empty()
            && self.has_room()
            && let Some(id) = self.agents_wanted.pop_first()
        {
            if let Some(reached) = self.reached(id) {
                blocked.insert(id);
                if reached.is_soft {
                    self.ask(id, &reached);
                    break;
                }
                let is_of_agent = reached.is_of_agent;
                stopped.get_or_insert(reached);
                if is_of_agent {
                    continue;
                }
                break;
            }
            if !self.reserve(id) {
                self.is_short = true;
                blocked.insert(id);
                break;
            }
            if let Some(Effect::Session(task)) = self.waiting.get(&id).map(|request| &request.effect) {
                self.meter.count(task.agent.as_ref(), Spent::SESSION);
                if self.uses_model() {
                    self.meter.set_day(self.host.accounts.spend(Spent::default(), Spent::SESSION));
                }
                if self.host.harness.capabilities().writes_files {
                    self.host.store.prepare(&task.binding)?;
                }
            }
            self.is_started.insert(id, self.seq);
            self.keep_at_work(id, 1, None)?;
            if self.last_to_wait.is_some_and(|last| id <= last) {
                self.began.insert(id, (self.host.clock)());
                self.emit_unrecorded(EventKind::Begun { request: id });
            }
            self.begin(id);
        }
        self.agents_wanted.extend(blocked);
        // Started requests are completed first: they are paid for.
        if let Some(reached) = stopped.filter(|_| self.agents == 0) {
            return Ok(Some(reached.reason));
        }
        // Requests are numbered in the order in which they are made, so those after the last number are new.
        let last = self.last_to_wait.map_or(RequestId(0), |last| RequestId(last.0 + 1));
        let queued: Vec<RequestId> = self.agents_wanted.range(last..).copied().collect();
        for request in queued {
            self.last_to_wait = Some(request);
            self.emit_unrecorded(EventKind::Queued { request });
        }
        Ok(None)
    }

    /// Whether another request may be at work. Those that wait for a person do not count, except where the system has no resources for more.
    fn has_room(&self) -> bool {
        let limit = self.host.limits.max_parallel.max(1);
        self.room.fits_after(self.agents) && self.agents.saturating_sub(self.asking.len()) < limit
    }

    /// Counts a request as at work, if the machine has resources for it.
    fn reserve(&mut self, id: RequestId) -> bool {
        let harness = self.host.harness.as_ref();
        let harness = match self.waiting.get(&id).map(|request| &request.effect) {
            Some(Effect::Session(task)) => harness.of_agent(task.agent.as_deref()),
            _ => harness.of_decisions(),
        }
        .unwrap_or(harness);
        let capacity = self.host.limits.capacity.as_ref();
        let has_room = capacity.is_none_or(|capacity| capacity.begin(id, harness.name()));
        let may_start = has_room || self.agents == 0;
        self.agents += usize::from(may_start);
        may_start
    }

    /// A request is not at work any more.
    pub(super) fn release(&mut self, id: RequestId) {
        self.agents -= 1;
        self.asking.remove(&id);
        if let Some(capacity) = &self.host.limits.capacity {
            capacity.end(id);
        }
    }

    /// The limit that does not let a request start.
    fn reached(&self, id: RequestId) -> Option<Reached> {
        let effect = &self.waiting.get(&id)?.effect;
        self.meter.reached(effect.agent(), matches!(effect, Effect::Session(_)))
    }

    /// Asks the user whether a limit may be exceeded, before a request starts.
    fn ask(&mut self, id: RequestId, reached: &Reached) {
        let (title, rule) = self.meter.question(reached.limit);
        let agent = self.waiting.get(&id).and_then(|request| request.effect.agent()).cloned();
        let question = PermissionQuestion {
            id: LIMIT_QUESTION.into(),
            agent,
            title: format!("{}; {title}", reached.reason),
            rule,
            is_deniable: false,
        };
        let Some(request) = self.waiting.get(&id) else { return };
        let reporter = self.reporter(request);
        self.question = Some((reached.limit, Box::pin(async move { reporter.answer_to(question).await })));
    }

    pub(super) fn begin(&mut self, id: RequestId) {
        self.report_failed_before(id);
        let Some(mut request) = self.waiting.get(&id).cloned() else { return };
        if let Effect::Session(task) = &request.effect
            && let Some(folder) = &task.folder
            && self.host.recall.abandons_tree(&request)
        {
            self.host.trees.discard(folder);
            let message = format!(
                "the working tree `{folder}` has only work of sessions that the changed program does not ask; it is discarded, and the branch starts from \
                 the files of the project"
            );
            let event = self.unrecorded_event(EventKind::Warning { message });
            (self.host.observer)(&Event { site: Some(request.site), ..event }, true);
        }
        if let Effect::Session(task) = &mut request.effect {
            if let Some(prompt) = self.commanded.prompt(id) {
                Arc::make_mut(task).prompt = prompt;
            }
            if self.asked_again.contains_key(&id) {
                *task = Arc::new(confirmation::asked_again(task));
            }
            let permissions = permissions::effective(&task.permissions, &self.permissions);
            if permissions != task.permissions {
                Arc::make_mut(task).permissions = permissions;
            }
            if let Some(stopped) = self.own_sessions.stopped_at(&request.place) {
                Arc::make_mut(task).stopped = Some(stopped);
            }
            if let Some(own) = self.own_sessions.continued_by(task)
                && let Some(memory) = &mut Arc::make_mut(task).memory
            {
                memory.own_session = Some(own);
            }
        }
        let Some(work) = self.work(request) else { return };
        self.push(id, work);
    }

    /// The reporter of a request, which asks the questions of its backend.
    fn reporter(&self, request: &Request) -> Reporter {
        self.reports.reporter(asked_at(request), Arc::clone(&self.host.approvals))
    }

    pub(super) fn push(&mut self, id: RequestId, work: Unit) {
        let (handle, registration) = AbortHandle::new_pair();
        self.handles.insert(id, handle);
        self.running.push(Abortable::new(work, registration));
    }

    /// The future that performs a request; `None` for what is read immediately.
    fn work(&self, request: Request) -> Option<Unit> {
        let id = request.id;
        let done = move |outcome| (id, Done::Outcome(outcome));
        let harness = Arc::clone(&self.host.harness);
        let reporter = self.reporter(&request);
        let allow = self.host.limits.allow_unenforced_permissions;
        Some(match &request.effect {
            Effect::Memory(_) | Effect::File(_) | Effect::FileCheck(_) => return None,
            Effect::Sleep(duration) => {
                let duration = *duration;
                Box::pin(async move {
                    tokio::time::sleep(duration).await;
                    done(Outcome::Slept)
                })
            }
            Effect::Tree(tree) => {
                let (tree, trees) = (Arc::clone(tree), Arc::clone(&self.host.trees));
                Box::pin(async move { done(outcome(trees.perform(&tree).await.map(Outcome::Tree))) })
            }
            Effect::Input(input) => {
                let (input, inputs) = (Arc::clone(input), Arc::clone(&self.host.inputs));
                Box::pin(async move {
                    let given = match harness.input(&request, &input) {
                        Some(given) => given.await,
                        None => inputs.answer(&asked_at(&request), &input).await.map(|given| {
                            given.attribution.into_iter().for_each(|by| reporter.report(Activity::Given(by)));
                            given.value
                        }),
                    };
                    done(outcome(given.map(Outcome::Value)))
                })
            }
            _ => {
                let trees = Arc::clone(&self.host.trees);
                Box::pin(async move {
                    done(perform(harness.as_ref(), &request, &reporter, allow, trees.as_ref()).await)
                })
            }
        })
    }

    /// Postpones a request that the system has no resources for: until another agent has ended, or for a while.
    pub(super) fn is_put_off(&mut self, id: RequestId, outcome: &Outcome) -> Result<bool, RunError> {
        let Outcome::Failed(Failure { kind: ErrorKind::OutOfResources, message }) = outcome else {
            self.room.was_found();
            return Ok(false);
        };
        if !self.room.shrinks_to(self.agents) {
            return Ok(false);
        }
        self.keep_at_work(id, 0, None)?;
        let request = self.waiting.get(&id);
        if let Some(Effect::Session(task)) = request.map(|request| &request.effect) {
            self.meter.put_off_session(task.agent.as_ref());
            if self.uses_model() {
                self.meter.set_day(self.host.accounts.spend(Spent::SESSION, Spent::default()));
            }
        }
        self.is_started.remove(&id);
        self.agents_wanted.insert(id);
        if let Some(message) = self.room.warning(message) {
            let site = request.map(|request| request.site);
            let event = Event { site, ..self.unrecorded_event(EventKind::Warning { message }) };
            (self.host.observer)(&event, true);
        }
        self.emit_unrecorded(EventKind::Queued { request: id });
        self.last_to_wait = self.last_to_wait.max(Some(id));
        Ok(true)
    }
}

/// Where a request asks its questions.
fn asked_at(request: &Request) -> AskedAt {
    AskedAt {
        request: request.id,
        place: request.place.clone(),
        site: request.site,
        program: request.program.clone(),
    }
}
