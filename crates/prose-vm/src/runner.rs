//! Executes a machine with a harness and a store.

mod clock;
mod error;
mod host;
mod recorded;
mod session;

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::ops::Bound;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use futures_util::future::{AbortHandle, Abortable};
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use smol_str::SmolStr;

use self::clock::RunClock;
use self::recorded::is_same;
use self::session::{outcome, session};
use crate::activity::{Activity, PermissionQuestion, Work};
use crate::budget::{Meter, Reached, Spent};
use crate::confirmation;
use crate::effect::{Effect, Failure, Outcome, Permission, Reply, Request, RequestId, Usage, fingerprint};
use crate::error::{ErrorKind, RuntimeError};
use crate::event::{Event, EventKind, RunEnd, RunStatus};
use crate::machine::{Machine, MachineOutput, NewEvent};
use crate::permissions;
use crate::place::{Place, Site};
use crate::reports::Reports;
use crate::room::Room;
use crate::store::{PendingRequests, Turn};
use crate::value::Value;
use crate::writers::Writers;

pub use self::error::{Divergence, RunError};
pub use self::host::{Host, Inputs, Limits, NoInputs};

/// The current time.
pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis() as u64)
}

/// Executes a program until it ends or is interrupted.
pub async fn run(mut machine: Machine, host: Host<'_>) -> Result<RunEnd, RunError> {
    let now = (host.clock)();
    let reports = Reports::new(Arc::clone(&host.secrets), host.limits.stalled_after);
    let today = host.accounts.spend(Spent::default());
    let meter = Meter::new(host.limits.budget.clone(), today);
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
        room: Room::default(),
        ended: 0,
        usage: None,
        last_to_wait: None,
        began: BTreeMap::new(),
        reports,
        worked: BTreeMap::new(),
        asked_again: BTreeMap::new(),
        writers: Writers::default(),
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

type Unit = Pin<Box<dyn Future<Output = (RequestId, Done)> + Send>>;

/// The work for an outcome.
type Answering = Pin<Box<dyn Future<Output = (RequestId, Outcome)> + Send>>;

/// The result of a unit of work.
enum Done {
    Outcome(Outcome),
    /// The request may try again to take its turn at a memory.
    Waited,
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
    room: Room,
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
    /// The requests whose agent has only confirmed its result and is asked for it, with the usage of the first reply.
    asked_again: BTreeMap<RequestId, Option<Usage>>,
    writers: Writers,
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
                    MachineOutput::Cancel(id) => self.cancel(id),
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
                        self.agents -= 1;
                    }
                    self.handles.remove(&id);
                    if needs_agent && self.is_put_off(id, &outcome) {
                        continue;
                    }
                    self.drain_reports(Some(id));
                    if let Outcome::Failed(failure) = &outcome && failure.kind.stops_run() {
                        let reason = failure.message.clone();
                        return self.interrupt(reason);
                    }
                    if let Some(outcome) = self.checked(id, outcome)? {
                        self.deliver(machine, id, outcome)?;
                    }
                }
                (request, activity) = self.reports.next() => self.report_activity(request, activity),
                (limit, answer) = answered(&mut self.question) => {
                    self.question = None;
                    match answer {
                        Some(true) => self.meter.raise(limit),
                        _ => self.meter.harden(limit),
                    }
                }
                () = self.room.opens() => {}
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
            if let Effect::Session(task) = &request.effect {
                self.meter.start_session(task.agent.as_ref(), false);
            }
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
        let work = match self.is_started.remove(&id) {
            true => self.settle(&request, Some(&outcome)),
            false => Work::default(),
        };
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
        self.emit_of(request.effect.agent().cloned(), event)?;
        machine.deliver(id, outcome);
        Ok(())
    }

    fn emit(&mut self, event: NewEvent) -> Result<(), RunError> {
        self.emit_of(None, event)
    }

    /// Emits an event of an agent of the program.
    fn emit_of(&mut self, agent: Option<SmolStr>, event: NewEvent) -> Result<(), RunError> {
        self.seq += 1;
        let NewEvent { place, site, frame, nesting, kind } = event;
        let mut event = Event { seq: self.seq, at: 0, paused: 0, place, site, frame, nesting, kind };
        let expected = if self.replays { self.host.recall.expected(self.seq) } else { None };
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
                if let (EventKind::Effect { request, .. }, Some(usage)) = (&event.kind, event.kind.usage()) {
                    self.meter.settle(*request, agent.as_ref(), Spent::of(usage), None);
                }
            }
        }
        self.usage = Usage::sum([self.usage, event.kind.usage()]);
        self.record(&event, is_new)
    }

    /// Handles the reports that have arrived: what was reported before an outcome is recorded with it.
    fn drain_reports(&mut self, of: Option<RequestId>) {
        while let Some((request, activity)) = self.reports.arrived(of) {
            self.report_activity(request, activity);
        }
    }

    fn report_activity(&mut self, request: RequestId, activity: Activity) {
        let Some(waiting) = self.waiting.get(&request) else {
            // The request was cancelled; what it has used is paid for all the same.
            self.reports.end(request);
            if let Activity::Used(usage) = activity {
                self.usage = Usage::sum([self.usage, Some(usage)]);
            }
            return;
        };
        let (place, site) = (waiting.place.clone(), waiting.site);
        let (agent, model) = (waiting.effect.agent().cloned(), waiting.effect.model().cloned());
        let work = self.worked.entry(request).or_default();
        work.add(&activity);
        let mut activity = activity;
        if let Activity::Used(usage) = &mut activity {
            let model = work.agent.as_ref().and_then(|agent| agent.model.as_deref()).or(model.as_deref());
            let is_priced = work.usage.is_some_and(|total| total.cost.is_some());
            let mut total = work.usage.unwrap_or_default();
            if !is_priced {
                usage.cost = self.host.accounts.cost(model, usage);
                total.cost = self.host.accounts.cost(model, &total);
            }
            self.meter.report(request, agent.as_ref(), total);
        }
        let warning = match &activity {
            Activity::Tool(tool) => {
                self.writers.add(tool, (request, site), |other| self.handles.contains_key(&other))
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

    fn cancel(&mut self, id: RequestId) {
        self.host.store.end_turn(id);
        self.memories_awaited.remove(&id);
        self.drain_reports(Some(id));
        if let Some(request) = self.waiting.remove(&id)
            && let Some(handle) = self.handles.remove(&id)
        {
            handle.abort();
            if request.effect.needs_agent() {
                self.agents -= 1;
            }
            if self.is_started.remove(&id) {
                let work = self.settle(&request, None);
                self.usage = Usage::sum([self.usage, work.usage]);
            }
        }
        self.reports.end(id);
        self.began.remove(&id);
        self.forget(id);
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
        let mut spent = match work.usage {
            Some(usage) => Spent::of(usage),
            None if uses_model && request.effect.needs_agent() => Spent::of(Usage::default()),
            None => Spent::default(),
        };
        let session = u32::from(matches!(request.effect, Effect::Session(_)));
        spent.sessions = session;
        let day = (uses_model && spent != Spent::default()).then(|| accounts.spend(spent));
        // The session was counted when it started.
        let spent = Spent { sessions: 0, ..spent };
        self.meter.settle(request.id, request.effect.agent(), spent, day);
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
        self.drain_reports(None);
        for id in std::mem::take(&mut self.is_started) {
            if let Some(request) = self.waiting.get(&id).cloned() {
                let work = self.settle(&request, None);
                self.usage = Usage::sum([self.usage, work.usage]);
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
        let mut blocked = BTreeSet::new();
        let mut stopped = None;
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
            if let Some(Effect::Session(task)) = self.waiting.get(&id).map(|request| &request.effect) {
                self.meter.start_session(task.agent.as_ref(), true);
                if self.host.harness.capabilities().writes_files {
                    self.host.store.prepare(&task.binding)?;
                }
            }
            self.agents += 1;
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
        if let Effect::Session(task) = &mut request.effect
            && self.asked_again.contains_key(&id)
        {
            *task = Arc::new(confirmation::asked_again(task));
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
            Effect::Session(task) => {
                let mut task = Arc::clone(task);
                let permissions = permissions::effective(&task.permissions, &self.permissions);
                if permissions != task.permissions {
                    Arc::make_mut(&mut task).permissions = permissions;
                }
                Box::pin(
                    async move { (id, session(harness.as_ref(), &request, &task, &reporter, allow).await) },
                )
            }
            Effect::Judge(question) => {
                let question = Arc::clone(question);
                Box::pin(async move {
                    (id, outcome(harness.judge(&request, &question, &reporter).await.map(Outcome::Verdict)))
                })
            }
            Effect::Choose(question) => {
                let question = Arc::clone(question);
                Box::pin(async move {
                    (id, outcome(harness.choose(&request, &question, &reporter).await.map(Outcome::Choice)))
                })
            }
            Effect::Extract(question) => {
                let question = Arc::clone(question);
                Box::pin(async move {
                    let part = harness.extract(&request, &question, &reporter).await;
                    let value = part.map(|part| part.map_or(Value::Null, Value::text));
                    (id, outcome(value.map(Outcome::Value)))
                })
            }
            Effect::Summarise(summary) => {
                let summary = Arc::clone(summary);
                Box::pin(async move {
                    let short = harness.summarise(&request, &summary, &reporter).await;
                    (id, outcome(short.map(|text| Outcome::Value(Value::text(text)))))
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

/// The answer to a question about a limit; never without a question.
async fn answered(question: &mut Option<Question>) -> (usize, Option<bool>) {
    match question {
        Some((limit, answer)) => (*limit, answer.await),
        None => std::future::pending().await,
    }
}
