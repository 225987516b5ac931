//! Executes a machine with a harness and a store.

mod clock;
mod error;
mod host;
mod own_sessions;
mod recorded;
mod session;
mod trees;

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::ops::Bound;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures_util::future::{AbortHandle, Abortable};
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use smol_str::SmolStr;

use self::clock::RunClock;
use self::own_sessions::OwnSessions;
use self::recorded::is_same;
use self::session::{outcome, perform};
use crate::activity::{Activity, PermissionQuestion, Work};
use crate::agent_capacity::AgentCapacity;
use crate::budget::{Meter, Reached, Spent};
use crate::confirmation;
use crate::effect::{Effect, Failure, Outcome, Permission, Reply, Request, RequestId, Usage, fingerprint};
use crate::error::{ErrorKind, RuntimeError};
use crate::event::{Event, EventKind, Expense, RunEnd, RunStatus};
use crate::machine::{Machine, MachineOutput, NewEvent};
use crate::permissions;
use crate::place::{Place, Site};
use crate::reports::Reports;
use crate::store::{PendingRequests, Turn};
use crate::value::Value;
use crate::writers::Writers;

pub use self::error::{Divergence, RunError};
pub use self::host::{Capacity, Host, Inputs, Limits, NoInputs};
pub use self::trees::{NoTrees, TreeFuture, Trees};

/// The current time.
pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis() as u64)
}

/// Executes a program until it ends or is interrupted.
pub async fn run(mut machine: Machine, host: Host<'_>) -> Result<RunEnd, RunError> {
    let now = (host.clock)();
    let reports = Reports::new(Arc::clone(&host.secrets), host.limits.stalled_after);
    let meter = Meter::new(host.limits.budget.clone(), host.accounts.today());
    let mut runner = Runner {
        host,
        permissions: machine.permissions(),
        meter,
        question: None,
        seq: 0,
        replays: true,
        is_resumed: false,
        waiting: PendingRequests::new(),
        agents_wanted: BTreeSet::new(),
        at_once: BTreeSet::new(),
        running: FuturesUnordered::new(),
        handles: BTreeMap::new(),
        agents: 0,
        room: AgentCapacity::default(),
        is_short: false,
        ended: 0,
        usage: None,
        last_to_wait: None,
        began: BTreeMap::new(),
        reports,
        worked: BTreeMap::new(),
        cancelled: BTreeMap::new(),
        asked_again: BTreeMap::new(),
        writers: Writers::default(),
        own_sessions: OwnSessions::default(),
        memories_awaited: BTreeSet::new(),
        is_started: BTreeSet::new(),
        resumed: false,
        last: None,
        clock: RunClock::start(now),
    };
    let mut end = runner.drive(&mut machine).await;
    if let Ok(reached) = &end
        && let Err(error) = runner.host.store.commit()
    {
        end = Err(RunError::Unrecorded { end: Box::new(reached.clone()), error });
    }
    if let Err(RunError::Store { site, .. }) = &mut end {
        *site = runner.last;
    }
    end
}

/// How often a request that waits for resources of the machine asks again, if nothing else happens.
const CAPACITY_INTERVAL: Duration = Duration::from_millis(500);

type Unit = Pin<Box<dyn Future<Output = (RequestId, Done)> + Send>>;

/// The work for an outcome.
type Answering = Pin<Box<dyn Future<Output = (RequestId, Outcome)> + Send>>;

/// The result of a unit of work.
enum Done {
    Outcome(Outcome),
    /// The request may try again to take its turn at a memory.
    Waited,
}

/// A request that was cancelled while a backend worked on it.
#[derive(Clone)]
struct Cancelled {
    place: Place,
    site: Site,
    effect: SmolStr,
    agent: Option<SmolStr>,
    model: Option<SmolStr>,
}

/// The question whether a limit may be exceeded: the number of the limit, and the answer once there is one.
type Question = (usize, Pin<Box<dyn Future<Output = Option<bool>> + Send>>);

struct Runner<'a> {
    host: Host<'a>,
    /// The permissions of sessions for subjects without own rules.
    permissions: Arc<[Permission]>,
    /// Counts what is used against the limits.
    meter: Meter,
    /// The question that the user is asked. No request starts before the answer.
    question: Option<Question>,
    /// The number of the last event of the machine.
    seq: u64,
    /// Whether outcomes still come from a recording.
    replays: bool,
    /// Whether the run is resumed: recorded outcomes or events of an earlier execution exist.
    is_resumed: bool,
    /// Requests without an outcome.
    waiting: PendingRequests,
    /// The pending requests that wait for an agent, in the order in which they were made (R58).
    agents_wanted: BTreeSet<RequestId>,
    /// The pending requests that need no agent and are not started yet.
    at_once: BTreeSet<RequestId>,
    running: FuturesUnordered<Abortable<Unit>>,
    handles: BTreeMap<RequestId, AbortHandle>,
    /// The number of working agents.
    agents: usize,
    /// The number of agents that the system has resources for.
    room: AgentCapacity,
    /// Whether a request waits for resources of the machine.
    is_short: bool,
    /// The number of ended sessions of the run, with failed attempts.
    ended: u32,
    /// Their total usage, as far as reported.
    usage: Option<Usage>,
    /// The last request that had to wait for an agent.
    last_to_wait: Option<RequestId>,
    /// The start times of requests that had to wait for an agent.
    began: BTreeMap<RequestId, u64>,
    /// What backends report.
    reports: Reports,
    /// What was reported for the requests at work.
    worked: BTreeMap<RequestId, Work>,
    /// The cancelled requests, whose usage may be reported later.
    cancelled: BTreeMap<RequestId, Cancelled>,
    /// The requests whose agent has only confirmed its result and is asked for it, with the usage of the first reply.
    asked_again: BTreeMap<RequestId, Option<Usage>>,
    writers: Writers,
    own_sessions: OwnSessions,
    /// The requests that wait for their turn at a memory.
    memories_awaited: BTreeSet<RequestId>,
    /// The requests that an agent has started with in this execution.
    is_started: BTreeSet<RequestId>,
    /// Whether [`EventKind::Resumed`] has been emitted.
    resumed: bool,
    /// The part of the program that the last event belongs to.
    last: Option<Site>,
    clock: RunClock,
}

impl Runner<'_> {
    async fn drive(&mut self, machine: &mut Machine) -> Result<RunEnd, RunError> {
        loop {
            for output in machine.advance() {
                match output {
                    MachineOutput::Event(event) => self.emit(event)?,
                    MachineOutput::Request(request) => {
                        let needs_agent = request.effect.needs_agent();
                        let queue = if needs_agent { &mut self.agents_wanted } else { &mut self.at_once };
                        queue.insert(request.id);
                        self.waiting.insert(request.id, request);
                    }
                    MachineOutput::Cancel(id) => self.cancel(id)?,
                    MachineOutput::EndTurn(id) => self.host.store.end_turn(id),
                }
            }
            if let Some(end) = machine.end() {
                return Ok(RunEnd { usage: self.usage, ..end });
            }
            if machine.is_paused() {
                if let Some(reason) = (&mut self.host.interrupted).now_or_never() {
                    return self.interrupt(reason);
                }
                tokio::task::yield_now().await;
                continue;
            }
            if self.replays {
                if let Some((id, outcome)) = self.recall() {
                    self.deliver(machine, id, outcome)?;
                    continue;
                }
                self.replays = self.host.recall.may_know_more();
                if self.is_resumed && !self.resumed {
                    self.resumed = true;
                    while let Some(event) = self.expected_expense() {
                        self.repeat_expense(&event)?;
                    }
                    self.carry_expenses()?;
                    if let Some(before) = self.host.recall.used() {
                        self.meter.used_before(before);
                        self.usage = Some(self.usage.map_or(before, |usage| usage.at_least(before)));
                    }
                    let harness: SmolStr = self.host.harness.name().into();
                    self.emit_unrecorded(EventKind::Resumed { harness });
                }
            }
            if let Some((id, outcome)) = self.looked_up()? {
                self.deliver(machine, id, outcome)?;
                continue;
            }
            if let Some(reason) = self.start()? {
                return self.interrupt_by(ErrorKind::Budget, reason);
            }
            self.host.store.commit()?;
            tokio::select! {
                biased;
                reason = &mut self.host.interrupted => return self.interrupt(reason),
                Some(done) = self.running.next() => {
                    // The outcome of a cancelled request is ignored.
                    let Ok((id, done)) = done else { continue };
                    let Some(request) = self.waiting.get(&id) else { continue };
                    let outcome = match done {
                        Done::Outcome(outcome) => outcome,
                        Done::Waited => {
                            self.handles.remove(&id);
                            self.at_once.insert(id);
                            continue;
                        }
                    };
                    let needs_agent = request.effect.needs_agent();
                    if needs_agent {
                        self.release(id);
                    }
                    self.handles.remove(&id);
                    if needs_agent && self.is_put_off(id, &outcome) {
                        continue;
                    }
                    self.drain_reports(Some(id))?;
                    if let Outcome::Failed(failure) = &outcome && failure.kind.stops_run() {
                        let reason = failure.message.clone();
                        return self.interrupt(reason);
                    }
                    if let Some(outcome) = self.checked(id, outcome)? {
                        self.deliver(machine, id, outcome)?;
                    }
                }
                (request, activity) = self.reports.next() => self.report_activity(request, activity)?,
                (limit, answer) = answered(&mut self.question) => {
                    self.question = None;
                    match answer {
                        Some(true) => self.meter.raise(limit),
                        _ => self.meter.harden(limit),
                    }
                }
                () = self.room.opens() => {}
                () = tokio::time::sleep(CAPACITY_INTERVAL), if self.is_short => {}
            }
        }
    }

    /// Postpones a request that the system has no resources for: until another agent has ended, or for a while.
    fn is_put_off(&mut self, id: RequestId, outcome: &Outcome) -> bool {
        let Outcome::Failed(Failure { kind: ErrorKind::OutOfResources, message }) = outcome else {
            self.room.was_found();
            return false;
        };
        if !self.room.shrinks_to(self.agents) {
            return false;
        }
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
        true
    }

    fn recall(&mut self) -> Option<(RequestId, Outcome)> {
        let recalled = self.host.recall.recall(&self.waiting)?;
        self.is_resumed = true;
        if let Some(request) = self.waiting.get(&recalled.0) {
            self.host.harness.recalled(request);
            self.host.store.recalled(request);
        }
        Some(recalled)
    }

    /// Records an outcome before the machine receives it (decision 10).
    fn deliver(&mut self, machine: &mut Machine, id: RequestId, outcome: Outcome) -> Result<(), RunError> {
        let Some(request) = self.waiting.remove(&id) else { return Ok(()) };
        self.forget(id);
        let began = self.began.remove(&id);
        let is_live = self.is_started.remove(&id);
        let mut work = match is_live {
            true => self.settle(&request, Some(&outcome)),
            false if request.effect.needs_agent() => self.host.recall.last_work(),
            false => Work::default(),
        };
        if let Effect::Session(task) = &request.effect
            && is_live
            && task.memory.is_some()
            && work.agent.is_some()
        {
            let harness = self.host.harness.as_ref();
            work.harness = Some(harness.of_agent(task.agent.as_deref()).unwrap_or(harness).name().into());
        }
        self.reports.end(id);
        self.ended += u32::from(matches!(request.effect, Effect::Session(_)));
        let outcome = permissions::with_denials(outcome, &work.denials);
        let event = NewEvent {
            place: request.place.clone(),
            site: Some(request.site),
            frame: 0,
            nesting: 0,
            kind: EventKind::Effect {
                request: id,
                effect: request.effect.kind().into(),
                fingerprint: fingerprint(&request.effect),
                outcome: outcome.clone(),
                began,
                work,
            },
        };
        let recalled = (!is_live && request.effect.needs_agent()).then(|| request.effect.agent().cloned());
        self.emit_of(recalled, event)?;
        machine.deliver(id, outcome);
        Ok(())
    }

    fn emit(&mut self, event: NewEvent) -> Result<(), RunError> {
        self.emit_of(None, event)
    }

    /// Emits an event; `recalled` is the agent of a request whose outcome is recorded.
    fn emit_of(&mut self, recalled: Option<Option<SmolStr>>, event: NewEvent) -> Result<(), RunError> {
        if matches!(event.kind, EventKind::RunEnded(_)) {
            // What was reported late is part of the run.
            self.drain_reports(None)?;
        }
        let expected = loop {
            let expected = if self.replays { self.host.recall.expected(self.seq + 1) } else { None };
            match expected {
                Some(event) if is_expense(&event) => self.repeat_expense(&event)?,
                expected => break expected,
            }
        };
        self.seq += 1;
        let NewEvent { place, site, frame, nesting, kind } = event;
        let mut event = Event { seq: self.seq, at: 0, paused: 0, place, site, frame, nesting, kind };
        let is_new = expected.is_none();
        match expected {
            None => {
                (event.at, event.paused) = self.now();
                if let EventKind::RunEnded(end) = &mut event.kind {
                    end.usage = self.usage;
                }
            }
            Some(expected) => {
                self.is_resumed = true;
                self.clock.replay(&expected);
                (event.at, event.paused) = (expected.at, expected.paused);
                match (&mut event.kind, &expected.kind) {
                    (
                        EventKind::Effect { began, work, .. },
                        EventKind::Effect { began: began_before, work: work_before, .. },
                    ) => {
                        *began = *began_before;
                        work.clone_from(work_before);
                    }
                    (EventKind::RunEnded(end), EventKind::RunEnded(before)) => {
                        // Earlier versions count only the sessions that succeeded.
                        (end.usage, end.sessions) = (before.usage, before.sessions);
                    }
                    _ => {}
                }
                if !is_same(&event, &expected) {
                    return Err(RunError::Diverged(Box::new(Divergence { expected, found: event })));
                }
            }
        }
        let is_reused = matches!(&event.kind, EventKind::Effect { work, .. } if work.is_reused);
        if !is_reused {
            self.usage = Usage::sum([self.usage, event.kind.usage()]);
        }
        if let (EventKind::Effect { effect, .. }, Some(agent), false) = (&event.kind, recalled, is_reused) {
            let used = event.kind.usage().map_or_else(Spent::default, Spent::of);
            let session = if effect == "session" { Spent::SESSION } else { Spent::default() };
            self.meter.count(agent.as_ref(), session.and(used));
        }
        self.own_sessions.happened(&event.kind);
        let starts = is_new && matches!(event.kind, EventKind::RunStarted(_));
        self.record(&event, is_new)?;
        if starts { self.carry_expenses() } else { Ok(()) }
    }

    /// The next recorded event, if it is an expense.
    fn expected_expense(&mut self) -> Option<Event> {
        self.host.recall.expected(self.seq + 1).filter(is_expense)
    }

    /// Repeats a recorded expense of an earlier execution.
    fn repeat_expense(&mut self, event: &Event) -> Result<(), RunError> {
        self.seq += 1;
        self.is_resumed = true;
        self.clock.replay(event);
        if let EventKind::Expense(expense) = &event.kind {
            self.count_expense(expense);
            self.usage = Usage::sum([self.usage, expense.work.usage]);
        }
        self.record(event, false)
    }

    /// Counts what an earlier execution has used. It is in the total of its day already.
    fn count_expense(&mut self, expense: &Expense) {
        let used = expense.work.usage.map_or_else(Spent::default, Spent::of);
        self.meter.count(expense.agent.as_ref(), Spent { sessions: expense.sessions(), ..used });
    }

    /// Records what earlier executions have used and the journal of this one does not have.
    fn carry_expenses(&mut self) -> Result<(), RunError> {
        for expense in self.host.recall.expenses() {
            self.count_expense(&expense);
            self.emit_expense(Place::root(), None, expense)?;
        }
        Ok(())
    }

    fn emit_expense(&mut self, place: Place, site: Option<Site>, expense: Expense) -> Result<(), RunError> {
        self.seq += 1;
        self.usage = Usage::sum([self.usage, expense.work.usage]);
        let event = self.unrecorded_event(EventKind::Expense(expense));
        self.record(&Event { place, site, ..event }, true)
    }

    /// Handles the reports that have arrived: what was reported before an outcome is recorded with it.
    fn drain_reports(&mut self, of: Option<RequestId>) -> Result<(), RunError> {
        while let Some((request, activity)) = self.reports.arrived(of) {
            self.report_activity(request, activity)?;
        }
        Ok(())
    }

    fn report_activity(&mut self, request: RequestId, activity: Activity) -> Result<(), RunError> {
        let Some(waiting) = self.waiting.get(&request) else {
            self.reports.end(request);
            return match activity {
                Activity::Used(usage) => self.used_late(request, usage),
                _ => Ok(()),
            };
        };
        let (place, site) = (waiting.place.clone(), waiting.site);
        let folder = match &waiting.effect {
            Effect::Session(task) => task.folder.clone(),
            _ => None,
        };
        let (agent, model) = (waiting.effect.agent().cloned(), waiting.effect.model().cloned());
        let (now, _) = self.now();
        let work = self.worked.entry(request).or_default();
        work.add(&activity, now);
        let mut activity = activity;
        if let Activity::Used(usage) = &mut activity {
            let model = work.agent.as_ref().and_then(|agent| agent.model.as_deref()).or(model.as_deref());
            let is_priced = work.usage.is_some_and(|total| total.cost.is_some());
            let mut total = work.usage.unwrap_or_default();
            if !is_priced {
                usage.cost = self.host.accounts.cost(model, usage);
                total.cost = self.host.accounts.cost(model, &total);
            }
            let (before, now) = self.meter.report(request, agent.as_ref(), total);
            self.meter.set_day(self.host.accounts.spend(before, now));
        }
        let warning = match &activity {
            Activity::Tool(tool) => {
                let folder = folder.as_deref();
                self.writers.add(tool, (request, site, folder), |other| self.handles.contains_key(&other))
            }
            _ => None,
        };
        let kinds = [
            Some(EventKind::Activity { request, activity }),
            warning.map(|message| EventKind::Warning { message }),
        ];
        for kind in kinds.into_iter().flatten() {
            let event = Event { place: place.clone(), site: Some(site), ..self.unrecorded_event(kind) };
            (self.host.observer)(&event, true);
        }
        Ok(())
    }

    /// Counts what a cancelled request has used: it is paid for all the same.
    fn used_late(&mut self, request: RequestId, mut usage: Usage) -> Result<(), RunError> {
        let Some(cancelled) = self.cancelled.get(&request) else { return Ok(()) };
        let Cancelled { place, site, effect, agent, model } = cancelled.clone();
        usage.cost = usage.cost.or_else(|| self.host.accounts.cost(model.as_deref(), &usage));
        let spent = Spent { unpriced_requests: 0, ..Spent::of(usage) };
        self.meter.count(agent.as_ref(), spent);
        self.meter.set_day(self.host.accounts.spend(Spent::default(), spent));
        let work = Work { usage: Some(usage), ..Work::default() };
        let expense = Expense { request: Some(request), effect, agent, requests: 0, work };
        self.emit_expense(place, Some(site), expense)
    }

    /// Settles a request that gets no outcome.
    fn settle_cancelled(&mut self, request: &Request) -> Result<(), RunError> {
        let Request { id, place, site, effect } = request;
        let work = self.settle(request, None);
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
        if work.is_empty() && !self.uses_model() {
            return Ok(());
        }
        let expense = Expense { request: Some(*id), effect: kind, agent, requests: 1, work };
        self.emit_expense(place.clone(), Some(*site), expense)
    }

    /// Whether the run asks a model.
    fn uses_model(&self) -> bool {
        self.host.accounts.estimate(0, 0).is_some()
    }

    /// Emits an event of this execution that is not part of the run: it is not recorded, and has the number of the previous event.
    fn emit_unrecorded(&mut self, kind: EventKind) {
        let event = self.unrecorded_event(kind);
        (self.host.observer)(&event, true);
    }

    /// The current time, and the total time that the run was stopped before.
    fn now(&mut self) -> (u64, u64) {
        ((self.host.clock)(), self.clock.paused(self.host.recall.stopped()))
    }

    fn unrecorded_event(&mut self, kind: EventKind) -> Event {
        let (at, paused) = self.now();
        Event { seq: self.seq, at, paused, place: Place::root(), site: None, frame: 0, nesting: 0, kind }
    }

    fn record(&mut self, event: &Event, is_new: bool) -> Result<(), RunError> {
        self.last = event.site.or(self.last);
        let recorded = self.host.store.record(event, is_new);
        if let (Err(_), EventKind::RunEnded(end)) = (&recorded, &event.kind)
            && end.status != RunStatus::Interrupted
        {
            // The result of a program is returned even if it cannot be recorded: its sessions were paid for.
            (self.host.observer)(event, is_new);
            let end = Box::new(end.clone());
            return recorded.map_err(|error| RunError::Unrecorded { end, error });
        }
        recorded?;
        self.host.recall.happened(event);
        (self.host.observer)(event, is_new);
        Ok(())
    }

    fn cancel(&mut self, id: RequestId) -> Result<(), RunError> {
        self.host.store.end_turn(id);
        self.memories_awaited.remove(&id);
        self.drain_reports(Some(id))?;
        if let Some(request) = self.waiting.remove(&id)
            && let Some(handle) = self.handles.remove(&id)
        {
            handle.abort();
            if request.effect.needs_agent() {
                self.release(id);
            }
            if self.is_started.remove(&id) {
                self.settle_cancelled(&request)?;
            }
        }
        self.reports.end(id);
        self.began.remove(&id);
        self.forget(id);
        Ok(())
    }

    /// The reports of a request that has ended, with the cost of its usage. Also a request that failed or was cancelled is paid for.
    fn settle(&mut self, request: &Request, outcome: Option<&Outcome>) -> Work {
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
        if let Some(usage) = work.usage.as_mut().filter(|usage| usage.cost.is_none()) {
            let model = work.agent.as_ref().and_then(|agent| agent.model.as_ref());
            let model = model.or(request.effect.model()).map(SmolStr::as_str);
            usage.cost = accounts.cost(model, usage);
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

    /// Removes a request that is not started from the queues.
    fn forget(&mut self, id: RequestId) {
        self.asked_again.remove(&id);
        self.agents_wanted.remove(&id);
        self.at_once.remove(&id);
    }

    /// Reads the memory or the file for a session before the run continues: the result must not depend on the number of parallel agents or on their
    /// speed.
    fn looked_up(&mut self) -> Result<Option<(RequestId, Outcome)>, RunError> {
        let mut next = self.at_once.first().copied();
        while let Some(id) = next {
            next = self.at_once.range((Bound::Excluded(id), Bound::Unbounded)).next().copied();
            let Some(request) = self.waiting.get(&id).filter(|_| !self.is_known(id)) else { continue };
            let found = match &request.effect {
                Effect::Memory(place) => {
                    if let Turn::Waits(turn) = self.host.store.take_turn(request, place)? {
                        let agent = place.agent.clone();
                        self.await_memory(id, agent, turn);
                        continue;
                    }
                    let memory = match self.host.harness.memory(request, place) {
                        Some(memory) => memory,
                        None => self.host.store.read_memory(place)?,
                    };
                    if self.memories_awaited.remove(&id) {
                        self.emit_unrecorded(EventKind::MemoryAcquired { request: id });
                    }
                    Outcome::Memory(memory)
                }
                Effect::File(file) => {
                    outcome(self.host.store.read_file(file).map(|text| Outcome::Value(Value::Text(text))))
                }
                Effect::FileCheck(file) => {
                    outcome(self.host.store.check_file(file).map(|()| Outcome::Value(Value::Null)))
                }
                _ => continue,
            };
            return Ok(Some((id, found)));
        }
        Ok(None)
    }

    /// Waits for the turn of a request at a memory.
    fn await_memory(
        &mut self,
        id: RequestId,
        agent: SmolStr,
        turn: Pin<Box<dyn Future<Output = ()> + Send>>,
    ) {
        self.at_once.remove(&id);
        self.push(
            id,
            Box::pin(async move {
                turn.await;
                (id, Done::Waited)
            }),
        );
        if self.memories_awaited.insert(id) {
            self.emit_unrecorded(EventKind::MemoryAwaited { request: id, agent });
        }
    }

    fn interrupt(&mut self, reason: String) -> Result<RunEnd, RunError> {
        self.interrupt_by(ErrorKind::Other, reason)
    }

    fn interrupt_by(&mut self, kind: ErrorKind, reason: String) -> Result<RunEnd, RunError> {
        for (_, handle) in std::mem::take(&mut self.handles) {
            handle.abort();
        }
        // Dropping a future cancels its work: agents are killed.
        self.running = FuturesUnordered::new();
        self.drain_reports(None)?;
        for id in std::mem::take(&mut self.is_started) {
            if let Some(request) = self.waiting.get(&id).cloned() {
                self.settle_cancelled(&request)?;
            }
        }
        let error = RuntimeError::new(kind, reason);
        let end = RunEnd {
            status: RunStatus::Interrupted,
            outputs: Vec::new(),
            value: Value::Null,
            error: Some(Arc::new(error)),
            sessions: self.ended,
            usage: self.usage,
        };
        self.seq += 1;
        let event = self.unrecorded_event(EventKind::RunEnded(end.clone()));
        self.record(&event, true)?;
        self.host.store.commit()?;
        Ok(end)
    }

    /// Whether the outcome of a request is recorded and will be delivered.
    fn is_known(&self, id: RequestId) -> bool {
        self.replays && self.host.recall.is_known(id)
    }

    /// Starts pending requests as far as the limits allow. Returns the reason if the run has to stop.
    fn start(&mut self) -> Result<Option<String>, RunError> {
        let known = |runner: &Self, queue: &BTreeSet<RequestId>| -> Vec<RequestId> {
            if !runner.replays {
                return Vec::new();
            }
            queue.iter().copied().filter(|id| runner.host.recall.is_known(*id)).collect()
        };
        let (with_agent, without) = (known(self, &self.agents_wanted), known(self, &self.at_once));
        with_agent.iter().for_each(|id| _ = self.agents_wanted.remove(id));
        without.iter().for_each(|id| _ = self.at_once.remove(id));
        let reason = self.start_unknown();
        self.agents_wanted.extend(with_agent);
        self.at_once.extend(without);
        reason
    }

    fn start_unknown(&mut self) -> Result<Option<String>, RunError> {
        while let Some(id) = self.at_once.pop_first() {
            self.begin(id);
        }
        if !self.agents_wanted.is_empty() && self.meter.limits_day() {
            // Other runs have used something meanwhile.
            self.meter.set_day(self.host.accounts.today());
        }
        let mut blocked = BTreeSet::new();
        let mut stopped = None;
        self.is_short = false;
        while self.question.is_none()
            && self.agents < self.room.at_most(self.host.limits.max_parallel.max(1))
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
            self.is_started.insert(id);
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
    fn release(&mut self, id: RequestId) {
        self.agents -= 1;
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
            id: "limit".into(),
            agent,
            title: format!("{}; {title}", reached.reason),
            rule,
        };
        let reporter = self.reports.reporter(id, Arc::clone(&self.host.approvals));
        self.question = Some((reached.limit, Box::pin(async move { reporter.ask(question).await })));
    }

    fn begin(&mut self, id: RequestId) {
        let Some(mut request) = self.waiting.get(&id).cloned() else { return };
        if let Effect::Session(task) = &mut request.effect {
            if self.asked_again.contains_key(&id) {
                *task = Arc::new(confirmation::asked_again(task));
            }
            let permissions = permissions::effective(&task.permissions, &self.permissions);
            if permissions != task.permissions {
                Arc::make_mut(task).permissions = permissions;
            }
            if let Some(own) = self.own_sessions.continued_by(task)
                && let Some(memory) = &mut Arc::make_mut(task).memory
            {
                memory.own_session = Some(own);
            }
        }
        let Some(work) = self.work(request) else { return };
        self.push(
            id,
            Box::pin(async move {
                let (id, outcome) = work.await;
                (id, Done::Outcome(outcome))
            }),
        );
    }

    fn push(&mut self, id: RequestId, work: Unit) {
        let (handle, registration) = AbortHandle::new_pair();
        self.handles.insert(id, handle);
        self.running.push(Abortable::new(work, registration));
    }

    /// The future that performs a request; `None` for what is read immediately.
    fn work(&self, request: Request) -> Option<Answering> {
        let id = request.id;
        let harness = Arc::clone(&self.host.harness);
        let reporter = self.reports.reporter(id, Arc::clone(&self.host.approvals));
        let allow = self.host.limits.allow_unenforced_permissions;
        Some(match &request.effect {
            Effect::Memory(_) | Effect::File(_) | Effect::FileCheck(_) => return None,
            Effect::Sleep(duration) => {
                let duration = *duration;
                Box::pin(async move {
                    tokio::time::sleep(duration).await;
                    (id, Outcome::Slept)
                })
            }
            Effect::Tree(tree) => {
                let (tree, trees) = (Arc::clone(tree), Arc::clone(&self.host.trees));
                Box::pin(async move { (id, outcome(trees.perform(&tree).await.map(Outcome::Tree))) })
            }
            Effect::Input(input) => {
                let (input, inputs) = (Arc::clone(input), Arc::clone(&self.host.inputs));
                Box::pin(async move {
                    let given = match harness.input(&request, &input) {
                        Some(given) => given.await,
                        None => inputs.give(&input).await,
                    };
                    (id, outcome(given.map(Outcome::Value)))
                })
            }
            _ => {
                let trees = Arc::clone(&self.host.trees);
                Box::pin(async move {
                    (id, perform(harness.as_ref(), &request, &reporter, allow, trees.as_ref()).await)
                })
            }
        })
    }

    /// Completes the reply of a session: the value is the content of the file that its agent wrote (R31), or the reply. A confirmation is never the
    /// value (decision 21): the agent is asked once more, and there is no outcome yet.
    fn checked(&mut self, id: RequestId, outcome: Outcome) -> Result<Option<Outcome>, RunError> {
        let task = match self.waiting.get(&id).map(|request| &request.effect) {
            Some(Effect::Session(task)) => Arc::clone(task),
            _ => return Ok(Some(outcome)),
        };
        let Outcome::Reply(mut reply) = outcome else { return Ok(Some(outcome)) };
        reply.mark = task.memory.as_ref().and(task.mark.clone());
        let harness = self.host.harness.as_ref();
        let harness = harness.of_agent(task.agent.as_deref()).unwrap_or(harness);
        if !harness.capabilities().writes_files {
            return Ok(Some(Outcome::Reply(reply)));
        }
        let before = self.asked_again.get(&id).copied();
        reply.usage = Usage::sum([before.flatten(), reply.usage]);
        let name = &task.binding.name;
        let written = match task.writes_result {
            true => self.host.store.read_binding(&task.binding)?.filter(|text| !text.trim().is_empty()),
            false => None,
        };
        let whole = Arc::clone(&reply.text);
        let (said, memory) = confirmation::split(&task, &whole);
        match written {
            Some(text) => {
                let text = if memory.is_empty() { text } else { format!("{text}\n{memory}") };
                reply.text = text.into();
                reply.wrote_binding = true;
            }
            None if confirmation::is_confirmation(&task, said) => {
                if before.is_some() {
                    let file = &task.binding.path;
                    let message = match task.writes_result {
                        true => format!(
                            "the agent confirmed the result of `{name}` twice without writing it to `{file}`; let it write there, or deny `write` so that \
                             the reply is the result"
                        ),
                        false => {
                            format!("the agent confirmed the result of `{name}` twice without giving it")
                        }
                    };
                    if let Some(usage) = reply.usage {
                        self.worked.entry(id).or_default().usage.get_or_insert(usage);
                    }
                    return Ok(Some(Outcome::Failed(Failure::session(message))));
                }
                self.asked_again.insert(id, reply.usage);
                self.agents += 1;
                self.begin(id);
                return Ok(None);
            }
            None if task.writes_result && before.is_none() => reply.warnings.push(format!(
                "the agent did not write a file for `{name}`; its reply is used as the result"
            )),
            None => {}
        }
        if before.is_some() {
            reply.warnings.push(format!(
                "the agent confirmed the result of `{name}` without giving it, and was asked again"
            ));
        }
        if let Some(memory) = task.memory.as_ref().filter(|_| memory.is_empty()) {
            reply.wrote_memory = self.host.store.has_written_memory(memory)?;
        }
        Ok(Some(Outcome::Reply(reply)))
    }
}

fn is_expense(event: &Event) -> bool {
    matches!(event.kind, EventKind::Expense(_))
}

/// The answer to a question about a limit; never without a question.
async fn answered(question: &mut Option<Question>) -> (usize, Option<bool>) {
    match question {
        Some((limit, answer)) => (*limit, answer.await),
        None => std::future::pending().await,
    }
}
