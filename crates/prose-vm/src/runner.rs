//! Executes a machine with a harness and a store.

mod activities;
mod clock;
mod commands;
mod error;
mod events;
mod expenses;
mod host;
mod own_sessions;
mod recorded;
mod session;
mod start;
mod stop;
mod trees;

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::ops::Bound;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures_util::future::{AbortHandle, Abortable, Aborted};
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use self::clock::RunClock;
use self::commands::Commanded;
use self::own_sessions::OwnSessions;
use self::session::outcome;
use self::stop::{abandoned, asked};
use crate::activity::{PermissionAnswer, Work};
use crate::agent_capacity::AgentCapacity;
use crate::budget::Meter;
use crate::confirmation;
use crate::effect::{Effect, Failure, Outcome, Permission, RequestId, Usage, fingerprint};
use crate::error::ErrorKind;
use crate::event::{EventKind, RunEnd};
use crate::gate::Gate;
use crate::machine::{Machine, MachineOutput, NewEvent};
use crate::permissions;
use crate::place::{Place, Site};
use crate::program_names::ProgramNames;
use crate::questions::QuestionId;
use crate::reports::Reports;
use crate::store::{PendingRequests, Turn};
use crate::value::Value;
use crate::writers::Writers;

pub use self::error::{Divergence, RunError};
pub use self::host::{Abandoned, Capacity, Host, Inputs, Limits, NoInputs};
pub use self::session::perform_for_another;
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
        asked: Vec::new(),
        commanded: Commanded::default(),
        seq: 0,
        replays: true,
        is_resumed: false,
        failed_before: FxHashMap::default(),
        waiting: PendingRequests::new(),
        agents_wanted: BTreeSet::new(),
        at_once: BTreeSet::new(),
        running: FuturesUnordered::new(),
        handles: BTreeMap::new(),
        agents: 0,
        asking: BTreeSet::new(),
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
        is_started: BTreeMap::new(),
        resumed: false,
        last: None,
        programs: ProgramNames::default(),
        clock: RunClock::start(now),
    };
    let mut end = runner.drive(&mut machine).await;
    if let Ok(reached) = &end
        && let Err(error) = runner.host.store.commit()
    {
        end = Err(RunError::Unrecorded { end: Box::new(reached.clone()), error });
    }
    if let Err(RunError::Store { line, .. }) = &mut end {
        *line = runner.last.and_then(|site| runner.programs.line(site));
    }
    end
}

/// Waits before a request asks for resources of the machine again. Unlike a sleep, it reads the clock only when it is awaited.
async fn capacity_interval() {
    tokio::time::sleep(CAPACITY_INTERVAL).await;
}

/// How often a request that waits for resources of the machine asks again, if nothing else happens.
const CAPACITY_INTERVAL: Duration = Duration::from_millis(500);

/// How often the runner waits for outcomes before it lets its thread do something else, even if there is always one.
const MAX_ROUNDS: u32 = 64;

/// How many outcomes are taken at once, before a person's commands are looked at and others are started.
const MAX_GATHERED: u32 = 256;

type Unit = Pin<Box<dyn Future<Output = (RequestId, Done)> + Send>>;

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
type Question = (usize, Pin<Box<dyn Future<Output = PermissionAnswer> + Send>>);

struct Runner<'a> {
    host: Host<'a>,
    /// The permissions of sessions for subjects without own rules.
    permissions: Arc<[Permission]>,
    /// Counts what is used against the limits.
    meter: Meter,
    /// The question that the user is asked. No request starts before the answer.
    question: Option<Question>,
    /// The open questions that were recorded last.
    asked: Vec<QuestionId>,
    /// What the commands of a person have left to do.
    commanded: Commanded,
    /// The number of the last event of the machine.
    seq: u64,
    /// Whether outcomes still come from a recording.
    replays: bool,
    /// Whether the run is resumed: recorded outcomes or events of an earlier execution exist.
    is_resumed: bool,
    /// By what requests have failed that are asked again because the run was resumed.
    failed_before: FxHashMap<RequestId, Vec<Failure>>,
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
    /// The requests at work whose agents wait for a person.
    asking: BTreeSet<RequestId>,
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
    /// The requests that an agent has started with in this execution, with the number of the last event before that.
    is_started: BTreeMap<RequestId, u64>,
    /// Whether [`EventKind::Resumed`] has been emitted.
    resumed: bool,
    /// The part of the program that the last event belongs to.
    last: Option<Site>,
    programs: ProgramNames,
    clock: RunClock,
}

impl Runner<'_> {
    async fn drive(&mut self, machine: &mut Machine) -> Result<RunEnd, RunError> {
        let mut outputs = Vec::new();
        let mut gathered = 0;
        let mut rounds = 0;
        loop {
            machine.advance_into(&mut outputs);
            for output in outputs.drain(..) {
                match output {
                    MachineOutput::Event(event) => self.emit(event)?,
                    MachineOutput::Request(request) => {
                        if let Some(gate) = &self.host.gate {
                            gate.requested(&request);
                        }
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
                // What is executed again leaves no room for new events.
                if !self.replays
                    && let Some(reason) = self.take_commands()?
                {
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
                    while let Some(event) = self.expected_unrequested() {
                        self.repeat_unrequested(&event)?;
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
            if let Some(gate) = &self.host.gate {
                gate.settled();
            }
            // A limit that a person has set counts before anything starts, or does not; what a person ends does not start.
            if !self.replays
                && let Some(reason) = self.take_commands()?
            {
                return self.interrupt(reason);
            }
            if let Some((id, outcome)) = self.commanded_outcome() {
                self.deliver(machine, id, outcome)?;
                continue;
            }
            if !self.commanded.is_paused
                && let Some((id, outcome)) = self.looked_up()?
            {
                self.deliver(machine, id, outcome)?;
                continue;
            }
            if gathered < MAX_GATHERED
                && self.host.store.gathers_outcomes()
                && let Some(Some(done)) = self.running.next().now_or_never()
            {
                gathered += 1;
                if let Some(reached) = self.take_done(machine, done).await? {
                    return Ok(reached);
                }
                continue;
            }
            gathered = 0;
            if let Some(reason) = self.start()? {
                return self.interrupt_by(ErrorKind::Budget, reason).await;
            }
            self.host.store.commit()?;
            rounds += 1;
            if rounds == MAX_ROUNDS {
                rounds = 0;
                // A backend that replies at once would keep the thread until the run ends, which may be the only one of a page.
                tokio::task::yield_now().await;
            }
            let (inputs, questions) = (Arc::clone(&self.host.inputs), self.questions_alone());
            let gate = self.host.gate.clone();
            tokio::select! {
                biased;
                reason = &mut self.host.interrupted => return self.interrupt(reason),
                sent = self.host.commands.next() => {
                    if let Some(reason) = self.take_command(sent)? {
                        return self.interrupt(reason);
                    }
                }
                Some(done) = self.running.next() => {
                    if let Some(reached) = self.take_done(machine, done).await? {
                        return Ok(reached);
                    }
                }
                (request, activity) = self.reports.next() => self.report_activity(request, activity)?,
                (limit, answer) = answered(&mut self.question) => {
                    self.question = None;
                    match answer.is_allowed {
                        true if answer.is_recorded => self.meter.recall_raise(limit),
                        true => self.meter.raise(limit),
                        false => self.meter.harden(limit),
                    }
                }
                () = self.room.opens() => {}
                () = opened(gate.as_deref()) => {}
                questions = abandoned(inputs.as_ref(), questions) => return self.stop_to_wait(questions).await,
                // Questions are asked by the work above, so that nothing else has to wake this.
                questions = asked(inputs.as_ref(), &self.asked) => self.record_questions(questions)?,
                () = capacity_interval(), if self.is_short => {}
            }
        }
    }

    /// Takes the result of a unit of work. Returns how the run ends, if it does.
    async fn take_done(
        &mut self,
        machine: &mut Machine,
        done: Result<(RequestId, Done), Aborted>,
    ) -> Result<Option<RunEnd>, RunError> {
        // The outcome of a cancelled request is ignored.
        let Ok((id, done)) = done else { return Ok(None) };
        let Some(request) = self.waiting.get(&id) else { return Ok(None) };
        let outcome = match done {
            Done::Outcome(outcome) => outcome,
            Done::Waited => {
                self.handles.remove(&id);
                self.at_once.insert(id);
                return Ok(None);
            }
        };
        let needs_agent = request.effect.needs_agent();
        if needs_agent {
            self.release(id);
        }
        self.handles.remove(&id);
        if needs_agent && self.is_put_off(id, &outcome)? {
            return Ok(None);
        }
        self.drain_reports(Some(id))?;
        if let Outcome::Failed(failure) = &outcome
            && failure.kind.stops_run()
        {
            let reason = failure.message.clone();
            // Who replays a run has to recognise this end.
            let kind = match failure.kind {
                ErrorKind::NotRecorded => ErrorKind::NotRecorded,
                _ => ErrorKind::Other,
            };
            return self.interrupt_by(kind, reason).await.map(Some);
        }
        if let Some(outcome) = self.checked(id, outcome)? {
            self.deliver(machine, id, outcome)?;
        }
        Ok(None)
    }

    fn recall(&mut self) -> Option<(RequestId, Outcome)> {
        let recalled = self.host.recall.recall(&self.waiting)?;
        self.is_resumed = true;
        self.report_failed_before(recalled.0);
        if let Some(request) = self.waiting.get(&recalled.0) {
            if matches!(request.effect, Effect::Input(_)) {
                let given_by = self.host.recall.last_work().given_by;
                self.worked.insert(recalled.0, Work { given_by, ..Work::default() });
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
        let is_live = self.is_started.remove(&id).is_some();
        // What a session has used that a person skipped or replied to is recorded as an expense.
        let by_hand = self.worked.get(&id).unwrap_or(&Work::default()).is_ended_by_hand(&outcome);
        let mut work = match is_live {
            true => self.settle(&request, Some(&outcome)),
            false if request.effect.needs_agent() && !by_hand => self.host.recall.last_work(),
            false => self.worked.remove(&id).unwrap_or_default(),
        };
        if let Effect::Session(task) = &request.effect
            && is_live
            && task.memory.is_some()
            && work.agent.is_some()
        {
            let harness = self.host.harness.as_ref();
            work.harness = Some(harness.of_agent(task.agent.as_deref()).unwrap_or(harness).name().into());
        }
        if !is_live {
            self.reports.end(id);
        }
        self.ended += u32::from(matches!(request.effect, Effect::Session(_)));
        // A recorded outcome has them already.
        let outcome = if is_live { permissions::with_denials(outcome, &work.denials) } else { outcome };
        let event = NewEvent {
            place: request.place,
            site: Some(request.site),
            frame: 0,
            nesting: 0,
            kind: EventKind::Effect {
                request: id,
                effect: request.effect.kind().into(),
                fingerprint: fingerprint(&request.effect),
                outcome: outcome.clone(),
                began,
                work: Box::new(work),
            },
        };
        let is_recalled = !is_live && !by_hand && request.effect.needs_agent();
        let recalled = is_recalled.then(|| request.effect.agent());
        self.emit_of(recalled, event)?;
        machine.deliver(id, outcome);
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
            if self.is_started.remove(&id).is_some() {
                self.settle_cancelled(&request)?;
            }
        }
        self.reports.end(id);
        self.began.remove(&id);
        self.forget(id);
        Ok(())
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
            let Some(request) = self.waiting.get(&id).filter(|_| !self.is_known(id) && !self.is_held(id))
            else {
                continue;
            };
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

    /// Completes the reply of a session: the value is the content of the file that its agent wrote (R31), or the reply. A confirmation is never the
    /// value (decision 21): the agent is asked once more, and there is no outcome yet.
    fn checked(&mut self, id: RequestId, outcome: Outcome) -> Result<Option<Outcome>, RunError> {
        let task = match self.waiting.get(&id).map(|request| &request.effect) {
            Some(Effect::Session(task)) => Arc::clone(task),
            _ => return Ok(Some(outcome)),
        };
        let Outcome::Reply(mut reply) = outcome else { return Ok(Some(outcome)) };
        reply.warnings.extend(self.commanded.prompt_warning(id));
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

/// Completes when a gate opens; never without one.
async fn opened(gate: Option<&dyn Gate>) {
    match gate {
        Some(gate) => gate.opened().await,
        None => std::future::pending().await,
    }
}

/// The answer to a question about a limit; never without a question.
async fn answered(question: &mut Option<Question>) -> (usize, PermissionAnswer) {
    match question {
        Some((limit, answer)) => (*limit, answer.await),
        None => std::future::pending().await,
    }
}
