//! The spans of a run: an observer of its events.
//!
//! Places are paths, so that the parent of a span is the span at the nearest place above it. Events of earlier executions, which a resumed run executes
//! again, open and close spans as all others, but nothing of them is sent: what they left open starts with this execution.

mod containers;
mod session;

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use opentelemetry::trace::{
    Link, SpanContext, SpanId, SpanKind, Status as SpanStatus, TraceFlags, TraceState,
};
use opentelemetry::{KeyValue, Value};
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanLinks};
use prose_vm::command::Command;
use prose_vm::effect::{Effect, Outcome, RequestId, Usage};
use prose_vm::error::RuntimeError;
use prose_vm::event::{ConditionOf, Event, EventKind, RunEnd, RunHead, RunStatus, Status};
use smol_str::{SmolStr, format_smolstr};

use self::session::{OpenSession, set_usage};
use crate::content::{Content, Redact};
use crate::ids::{Ids, Parent};
use crate::metrics::{Instruments, SessionState};
use crate::open::{OpenSpan, OpenSpans, kind_name, time};
use crate::pipeline::Pipeline;
use crate::process::Process;
use crate::providers::provider;
use crate::session_spans::SessionSpans;
use crate::table::key;

/// An execution of a run that starts.
pub struct RunStart<'a> {
    /// The id of the run.
    pub run: &'a str,
    /// The time in milliseconds since 1970-01-01 in UTC.
    pub at: u64,
    /// Whether an earlier execution has started it.
    pub is_resumed: bool,
    /// The `traceparent` that the run was started with, as its head has it.
    pub parent: Option<&'a str>,
    /// The run whose answers it takes.
    pub origin: Option<Origin<'a>>,
    /// The provider of the harness `provider`.
    pub provider: Option<&'a str>,
    /// What must not leave the machine.
    pub redact: Redact,
}

/// The run whose answers a run takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin<'a> {
    /// Its id.
    pub run: &'a str,
    /// The `traceparent` that it was started with.
    pub parent: Option<&'a str>,
    /// What the run does with its answers.
    pub kind: OriginKind,
}

/// What a run does with the answers of another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "named for what they are")]
pub enum OriginKind {
    Fork,
    Replay,
}

/// Makes spans and metrics of the events of one execution of a run.
#[derive(Debug)]
pub struct RunTrace {
    pipeline: Arc<Pipeline>,
    ids: Ids,
    run: SmolStr,
    /// Whether spans are sent.
    is_sampled: bool,
    content: Option<Content>,
    configured_provider: Option<String>,
    links: Vec<Link>,
    is_resumed: bool,
    /// When this execution starts, which no span of it precedes.
    start: u64,
    /// The time of the event.
    now: u64,
    /// Whether the event is new.
    is_new: bool,
    root: Option<OpenSpan>,
    head: RunHead,
    /// The names of programs by the numbers of their executions.
    programs: HashMap<u32, SmolStr>,
    /// The spans by their place.
    spans: OpenSpans,
    sessions: HashMap<SmolStr, OpenSession>,
    /// The places of sessions and decisions by their requests.
    requests: HashMap<RequestId, SmolStr>,
    /// When decisions were asked, by place.
    asked: HashMap<SmolStr, u64>,
    /// When memories were awaited, by request.
    memories: HashMap<RequestId, u64>,
    /// When statements started, by place.
    statements: HashMap<SmolStr, u64>,
    paused: Option<u64>,
    reused: u64,
    file: Option<(u32, u32)>,
}

impl RunTrace {
    /// The trace of an execution; `None` if the environment asks for none.
    pub fn start(start: RunStart<'_>) -> Option<Self> {
        let telemetry = Process::get()?;
        let of_start = start.parent.and_then(Parent::parse);
        let first = Ids::of_start(start.run, of_start);
        let parent = if start.is_resumed { telemetry.parent } else { of_start };
        let (ids, links) = match (start.is_resumed, start.origin) {
            (true, _) => (Ids::of_resumption(start.run, start.at, parent), vec![link(&first, "resumes")]),
            (false, Some(origin)) => {
                let kind = match origin.kind {
                    OriginKind::Fork => "forks",
                    OriginKind::Replay => "replays",
                };
                let of_origin = Ids::of_start(origin.run, origin.parent.and_then(Parent::parse));
                (first, vec![link(&of_origin, kind)])
            }
            (false, None) => (first, Vec::new()),
        };
        let variables = &telemetry.variables;
        let is_sampled = telemetry.pipeline.has_spans() && variables.sampler.samples(ids.trace, parent);
        let content = variables.has_content.then(|| Content::new(start.redact, variables.max_text));
        Some(Self {
            pipeline: Arc::clone(&telemetry.pipeline),
            ids,
            run: start.run.into(),
            is_sampled,
            content,
            configured_provider: start.provider.map(str::to_owned),
            links,
            is_resumed: start.is_resumed,
            start: if start.is_resumed { start.at } else { 0 },
            now: start.at,
            is_new: !start.is_resumed,
            root: None,
            head: RunHead::default(),
            programs: HashMap::new(),
            spans: OpenSpans::default(),
            sessions: HashMap::new(),
            requests: HashMap::new(),
            asked: HashMap::new(),
            memories: HashMap::new(),
            statements: HashMap::new(),
            paused: None,
            reused: 0,
            file: None,
        })
    }

    /// The spans of its sessions, for the programs that work on them.
    pub fn session_spans(&self) -> SessionSpans {
        SessionSpans::new(self.ids.clone(), self.is_sampled)
    }

    /// Takes an event. `is_new` is false for recorded events that are executed again.
    pub fn observe(&mut self, event: &Event, is_new: bool) {
        self.is_new = is_new;
        self.now = event.at;
        self.file = event.site.map(|site| (site.program, site.line));
        let place = event.place.as_str();
        match &event.kind {
            EventKind::RunStarted(head) => self.run_started(head),
            EventKind::RunEnded(end) => self.run_ended(end),
            EventKind::Defined { program, name, .. } => drop(self.programs.insert(*program, name.clone())),
            EventKind::StatementStarted { .. } => drop(self.statements.insert(place.into(), event.at)),
            EventKind::StatementEnded { .. } => drop(self.statements.remove(place)),

            EventKind::SessionStarted { request, task } => self.session_started(place, *request, task),
            EventKind::SessionEnded { request, status, error } => {
                self.session_ended(*request, *status, error.as_deref());
            }
            EventKind::Retrying { attempt, delay_ms, .. } => self.retrying(place, *attempt, *delay_ms),
            EventKind::Queued { request } => self.session_queued(*request),
            EventKind::Begun { request } => self.session_begun(*request),
            EventKind::Activity { request, activity } => self.reported(*request, activity),
            EventKind::Effect { request, effect, outcome, work, .. } => {
                let usage = event.kind.usage();
                match effect.as_str() {
                    "session" => self.session_answered(*request, outcome, work, usage),
                    effect if Effect::KINDS_WITHOUT_AGENT.contains(&effect) => {}
                    _ if work.is_reused => {
                        self.reused += 1;
                        self.asked.remove(place);
                    }
                    effect => self.decided(place, *request, effect, outcome, usage),
                }
            }
            EventKind::Expense(expense) => {
                if let Some(request) = expense.request {
                    self.session_spent(request, expense.work.usage);
                }
                if let Some((usage, instruments)) =
                    expense.work.usage.zip(self.instruments()).filter(|_| is_new)
                {
                    let harness = self.harness_of(expense.agent.as_deref());
                    let provider = KeyValue::new(key::PROVIDER, self.provider_of(&harness));
                    instruments.used(usage, &[KeyValue::new(key::OPERATION, "invoke_agent"), provider]);
                }
            }

            EventKind::ConditionAsked { of, .. } => {
                self.asked.insert(place.into(), event.at);
                if let (ConditionOf::Loop, Some(end)) = (of, place.rfind("/i")) {
                    // The condition of a loop is judged between its iterations.
                    self.iteration_ended(&place[..end], Status::Complete);
                }
            }
            EventKind::ConditionJudged { .. } => drop(self.asked.remove(place)),
            EventKind::InputAsked { name, prompt, .. } => {
                let mut span =
                    self.open(place, &format!("{place} input"), "wait input".into(), SpanKind::Internal);
                if let Some(name) = name {
                    span.set(key::INPUT_NAME, name.to_string());
                }
                if let Some(content) = &self.content {
                    let prompt = content.text(prompt);
                    span.set(key::QUESTION, prompt);
                }
                self.spans.insert(format_smolstr!("{place}/input"), span);
            }
            EventKind::InputGiven { .. } => {
                let key = format_smolstr!("{place}/input");
                let since = self.spans.get(&key).map(|span| span.start);
                self.close(&key, None, None);
                if let Some((since, instruments)) = since.zip(self.instruments()).filter(|_| is_new) {
                    instruments.waited("input", self.took(since));
                }
            }
            EventKind::MemoryAwaited { request, .. } => drop(self.memories.insert(*request, event.at)),
            EventKind::MemoryAcquired { request } => {
                if let Some(since) = self.memories.remove(request) {
                    self.wait("memory", "", since, &[]);
                }
            }
            EventKind::Commanded { command: Command::Pause, .. } => {
                self.paused.get_or_insert(event.at);
            }
            EventKind::Commanded { command: Command::Continue, .. } => self.continued(),
            EventKind::Resumed { .. } => self.resumed(),
            _ => self.container(place, &event.kind),
        }
    }

    fn run_started(&mut self, head: &RunHead) {
        self.head = head.clone();
        let program = head.program.to_string();
        let mut root = OpenSpan {
            id: self.ids.root,
            parent: self.ids.parent,
            name: format!("invoke_workflow {program}").into(),
            kind: SpanKind::Internal,
            start: self.now.max(self.start),
            attributes: Vec::with_capacity(12),
            events: Vec::new(),
        };
        root.set(key::OPERATION, "invoke_workflow");
        root.set(key::WORKFLOW, program.clone());
        root.set(key::AGENT, program);
        root.set(key::HARNESS, head.harness.to_string());
        if self.is_resumed {
            root.set(key::RESUMED, true);
        }
        self.root = Some(root);
        if let Some(instruments) = self.instruments() {
            instruments.runs(1);
        }
    }

    fn run_ended(&mut self, end: &RunEnd) {
        self.continued();
        let is_stopped = end.status.is_stopped();
        self.close_below("", if is_stopped { "interrupted" } else { "cancelled" });
        let Some(mut root) = self.root.take() else { return };
        let status = match end.status {
            RunStatus::Completed => "completed",
            RunStatus::Failed => "failed",
            RunStatus::Interrupted => "interrupted",
            RunStatus::Waiting => "waiting",
        };
        root.set(key::STATUS, status);
        root.set(key::SESSIONS, i64::from(end.sessions));
        if self.reused > 0 {
            root.set(key::REUSED, self.reused as i64);
        }
        if let Some(cost) = end.usage.and_then(|usage| usage.cost) {
            root.set(key::COST, cost);
        }
        let ended = match end.status {
            RunStatus::Failed => root.set_error(end.error.as_deref(), self.content.as_ref()),
            _ => SpanStatus::Unset,
        };
        self.root_over(root, ended);
    }

    /// Ends an execution without an end of its own, such as by a full disk.
    fn abandoned(&mut self) {
        let Some(mut root) = self.root.take() else { return };
        self.is_new = true;
        self.close_below("", "interrupted");
        let ended = root.set_error(None, None);
        self.root_over(root, ended);
    }

    fn root_over(&mut self, root: OpenSpan, status: SpanStatus) {
        if let Some(instruments) = self.instruments() {
            instruments.runs(-1);
            instruments.invoked(
                self.took(root.start),
                &[
                    KeyValue::new(key::OPERATION, "invoke_workflow"),
                    KeyValue::new(key::AGENT, self.head.program.to_string()),
                ],
            );
        }
        self.is_new = true;
        let links = std::mem::take(&mut self.links);
        self.emit_linked(root, status, links);
    }

    /// This execution has come to what is new. What was asked when the run stopped is asked again.
    fn resumed(&mut self) {
        let keys: Vec<SmolStr> = self.sessions.keys().cloned().collect();
        for key in keys {
            self.session_state(&key, Some(SessionState::Working));
        }
    }

    fn continued(&mut self) {
        if let Some(since) = self.paused.take() {
            self.wait("pause", "", since, &[]);
        }
    }

    /// A model has made a decision.
    fn decided(
        &mut self,
        place: &str,
        request: RequestId,
        effect: &str,
        outcome: &Outcome,
        usage: Option<Usage>,
    ) {
        let since = self.asked.remove(place).or_else(|| self.statement_since(place)).unwrap_or(self.now);
        let harness = self.harness_of_decisions();
        let provider = self.provider_of(&harness);
        let name = format!("decide {effect}");
        let mut span = self.child(place, &format!("decision {}", request.0), name.into(), since);
        self.locate(&mut span, place);
        span.set(key::PROVIDER, provider.clone());
        set_usage(&mut span, usage);
        let mut status = SpanStatus::Unset;
        if let Outcome::Failed(failure) = outcome {
            span.set(key::ERROR, kind_name(failure.kind));
            status = SpanStatus::error("");
        }
        if let Some(instruments) = self.instruments().filter(|_| self.is_new) {
            let attributes =
                [KeyValue::new(key::OPERATION, effect.to_owned()), KeyValue::new(key::PROVIDER, provider)];
            instruments.requested(self.took(since), &attributes);
            if let Some(usage) = usage {
                instruments.used(usage, &attributes);
            }
        }
        self.emit(span, status);
    }

    /// When the innermost statement at a place started.
    fn statement_since(&self, place: &str) -> Option<u64> {
        above(place).find_map(|place| self.statements.get(place)).copied()
    }

    /// A span that starts now at a place. `key` is unique in the run.
    fn open(&self, place: &str, key: &str, name: Cow<'static, str>, kind: SpanKind) -> OpenSpan {
        let mut span = self.new_span(self.parent_of(place), key, name, self.now);
        span.kind = kind;
        self.locate(&mut span, place);
        span
    }

    /// A span that ends now, below the one at a place.
    fn child(&self, place: &str, key: &str, name: Cow<'static, str>, since: u64) -> OpenSpan {
        self.new_span(self.parent_of(place), &format!("{place} {key}"), name, since)
    }

    fn new_span(&self, parent: SpanId, key: &str, name: Cow<'static, str>, start: u64) -> OpenSpan {
        let id = if self.is_sampled { self.ids.span(&key) } else { SpanId::INVALID };
        let attributes = Vec::with_capacity(12);
        OpenSpan { id, parent, name, kind: SpanKind::Internal, start, attributes, events: Vec::new() }
    }

    fn locate(&self, span: &mut OpenSpan, place: &str) {
        span.set(key::PLACE, place.to_owned());
        if let Some((program, line)) = self.file {
            let name = self.programs.get(&program).map_or("", SmolStr::as_str);
            span.set(key::FILE, name.to_owned());
            span.set(key::LINE, i64::from(line));
        }
    }

    /// The span at the nearest place at or above this one.
    fn parent_of(&self, place: &str) -> SpanId {
        let nearest = above(place).find_map(|place| self.spans.get(place));
        nearest.map_or(self.ids.root, |span| span.id)
    }

    /// Sends a wait that ends now, below the span at a place.
    fn wait(&mut self, kind: &'static str, place: &str, since: u64, attributes: &[KeyValue]) {
        let name = format!("wait {kind}");
        let mut span = self.child(place, &format!("{kind} {since}"), name.into(), since);
        span.attributes.extend_from_slice(attributes);
        if let Some(instruments) = self.instruments().filter(|_| self.is_new) {
            instruments.waited(kind, self.took(since));
        }
        self.emit(span, SpanStatus::Unset);
    }

    /// Ends the span at a place and all below it.
    fn close(&mut self, place: &str, status: Option<Status>, error: Option<&RuntimeError>) {
        self.close_below(place, "cancelled");
        let Some(mut span) = self.spans.remove(place) else { return };
        let mut ended = SpanStatus::Unset;
        if let Some(status) = status {
            span.set_status(status);
            if status == Status::Failed {
                ended = match error {
                    Some(error) => span.set_error(Some(error), self.content.as_ref()),
                    None => SpanStatus::error(""),
                };
            }
        }
        self.emit(span, ended);
    }

    /// Ends what is still open below a place, such as in a branch that was cancelled.
    fn close_below(&mut self, place: &str, status: &'static str) {
        let below = if place.is_empty() { String::new() } else { format!("{place}/") };
        loop {
            let Some(key) = self.spans.starting_with(&below).next().cloned() else { break };
            let Some(mut span) = self.spans.remove(&key) else { break };
            span.set(key::STATUS, status);
            match self.sessions.remove(&key) {
                Some(session) => {
                    if let Some(instruments) = self.instruments() {
                        instruments.session(session.state(), None);
                    }
                    self.requests.remove(&session.request());
                    self.session_over(session, span, SpanStatus::Unset);
                }
                None => self.emit(span, SpanStatus::Unset),
            }
        }
    }

    /// The time in milliseconds since a time, as far as it is of this execution.
    fn took(&self, since: u64) -> u64 {
        self.now.saturating_sub(since.max(self.start))
    }

    /// Sends a span that ends now.
    fn emit(&self, span: OpenSpan, status: SpanStatus) {
        self.emit_linked(span, status, Vec::new());
    }

    fn emit_linked(&self, span: OpenSpan, status: SpanStatus, to: Vec<Link>) {
        if !self.is_sampled || !self.is_new {
            return;
        }
        let OpenSpan { id, parent, name, kind, start, mut attributes, events: happened } = span;
        attributes.push(KeyValue::new(key::RUN, Value::from(self.run.to_string())));
        // The clock may have been set back, and what was open when the run stopped has waited since.
        let start = start.max(self.start).min(self.now.max(self.start));
        let (mut events, mut links) = (SpanEvents::default(), SpanLinks::default());
        events.events = happened;
        links.links = to;
        self.pipeline.take(SpanData {
            span_context: SpanContext::new(self.ids.trace, id, TraceFlags::SAMPLED, false, TraceState::NONE),
            parent_span_id: parent,
            parent_span_is_remote: id == self.ids.root,
            span_kind: kind,
            name,
            start_time: time(start),
            end_time: time(self.now.max(start)),
            attributes,
            dropped_attributes_count: 0,
            events,
            links,
            status,
            instrumentation_scope: self.pipeline.scope.clone(),
        });
    }

    fn instruments(&self) -> Option<&Instruments> {
        self.pipeline.instruments.as_ref()
    }

    /// The harness of an agent.
    fn harness_of(&self, agent: Option<&str>) -> SmolStr {
        let route = agent
            .and_then(|agent| self.head.routes.iter().find(|route| route.agent.as_deref() == Some(agent)));
        route.map_or_else(|| self.head.harness.clone(), |route| route.harness.clone())
    }

    fn harness_of_decisions(&self) -> SmolStr {
        let route = self.head.routes.iter().find(|route| route.agent.is_none());
        route.map_or_else(|| self.head.harness.clone(), |route| route.harness.clone())
    }

    fn provider_of(&self, harness: &str) -> String {
        provider(harness, self.configured_provider.as_deref()).to_owned()
    }
}

impl Drop for RunTrace {
    fn drop(&mut self) {
        self.abandoned();
    }
}

fn link(to: &Ids, kind: &'static str) -> Link {
    Link::new(to.root_context(), vec![KeyValue::new(key::LINK, kind)], 0)
}

/// A place and those above it, the innermost first.
fn above(place: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(place), |place| place.rfind('/').map(|end| &place[..end]))
}
