//! Sessions: their attempts, tool calls, waits and usage.

use std::collections::HashMap;
use std::sync::Arc;

use opentelemetry::KeyValue;
use opentelemetry::trace::{Event, SpanKind, Status as SpanStatus};
use prose_vm::activity::{Activity, ToolKind, ToolStatus, ToolUse, Work};
use prose_vm::effect::{Outcome, RequestId, SessionTask, Usage};
use prose_vm::error::{ErrorKind, RuntimeError};
use prose_vm::event::Status;
use smol_str::SmolStr;

use super::RunTrace;
use crate::metrics::SessionState;
use crate::open::{OpenSpan, time};
use crate::session_spans::{session_key, span_key};
use crate::table::key;

/// What is known of a session that has not ended, beside its span.
#[derive(Debug)]
pub(super) struct OpenSession {
    task: Arc<SessionTask>,
    request: RequestId,
    /// When its attempt started.
    attempt: u64,
    attempts: u32,
    /// When it was queued, or when its last attempt failed.
    queued: Option<u64>,
    retrying: Option<(u64, u64)>,
    state: Option<SessionState>,
    usage: Option<Usage>,
    is_estimated: bool,
    is_reused: bool,
    model: Option<SmolStr>,
    conversation: Option<SmolStr>,
    reply: Option<Arc<str>>,
    tools: HashMap<SmolStr, (u64, ToolUse)>,
    asked: HashMap<SmolStr, u64>,
}

impl OpenSession {
    pub(super) fn state(&self) -> Option<SessionState> {
        self.state
    }

    pub(super) fn request(&self) -> RequestId {
        self.request
    }
}

impl RunTrace {
    pub(super) fn session_started(&mut self, place: &str, request: RequestId, task: &Arc<SessionTask>) {
        let at = self.now;
        let key: SmolStr = session_key(place, task.attempt).into();
        self.requests.insert(request, key.clone());
        if let Some(session) = self.sessions.get_mut(&key) {
            session.request = request;
            session.task = Arc::clone(task);
            session.attempts = session.attempts.max(task.attempt) + 1;
            session.attempt = at;
            if let Some((since, delay)) = session.retrying.take() {
                let number = i64::from(task.attempt);
                self.wait(
                    "retry",
                    &key,
                    since,
                    &[KeyValue::new(key::ATTEMPT, number), KeyValue::new(key::DELAY, delay as i64)],
                );
            }
        } else {
            let name = match &task.agent {
                Some(agent) => format!("invoke_agent {agent}").into(),
                None => "invoke_agent".into(),
            };
            let harness = self.harness_of(task.agent.as_deref());
            let provider = self.provider_of(&harness);
            let mut span = self.open(place, &span_key(&key), name, SpanKind::Client);
            span.set(key::OPERATION, "invoke_agent");
            span.set(key::HARNESS, harness.to_string());
            span.set(key::PROVIDER, provider);
            if let Some(agent) = &task.agent {
                span.set(key::AGENT, agent.to_string());
            }
            if let Some(model) = &task.model {
                span.set(key::REQUEST_MODEL, model.to_string());
            }
            self.spans.insert(key.clone(), span);
            self.sessions.insert(
                key.clone(),
                OpenSession {
                    task: Arc::clone(task),
                    request,
                    attempt: at,
                    attempts: 1,
                    queued: None,
                    retrying: None,
                    state: None,
                    usage: None,
                    is_estimated: false,
                    is_reused: false,
                    model: None,
                    conversation: None,
                    reply: None,
                    tools: HashMap::new(),
                    asked: HashMap::new(),
                },
            );
        }
        if self.is_new {
            self.session_state(&key, Some(SessionState::Working));
        }
    }

    /// Counts what sessions do.
    pub(super) fn session_state(&mut self, key: &str, state: Option<SessionState>) {
        let Some(session) = self.sessions.get_mut(key) else { return };
        let before = std::mem::replace(&mut session.state, state);
        if let Some(instruments) = self.instruments() {
            instruments.session(before, state);
        }
    }

    pub(super) fn session_queued(&mut self, request: RequestId) {
        let Some(key) = self.requests.get(&request).cloned() else { return };
        let now = self.now;
        if let Some(session) = self.sessions.get_mut(&key) {
            session.queued = Some(now);
        }
        self.session_state(&key, Some(SessionState::Queued));
    }

    pub(super) fn session_begun(&mut self, request: RequestId) {
        let Some(key) = self.requests.get(&request).cloned() else { return };
        let since = self.sessions.get_mut(&key).and_then(|session| session.queued.take());
        if let Some(since) = since {
            self.wait("queue", &key, since, &[]);
        }
        self.session_state(&key, Some(SessionState::Working));
    }

    /// The outcome of a session is known.
    pub(super) fn session_answered(
        &mut self,
        request: RequestId,
        outcome: &Outcome,
        work: &Work,
        usage: Option<Usage>,
    ) {
        let Some(key) = self.requests.get(&request).cloned() else { return };
        let Some(session) = self.sessions.get_mut(&key) else { return };
        session.is_reused = work.is_reused;
        if work.is_reused {
            self.reused += 1;
            return;
        }
        session.usage = Usage::sum([session.usage, usage]);
        session.is_estimated |= work.is_estimated;
        if let Some(agent) = &work.agent {
            session.model = agent.model.clone().or(session.model.take());
            session.conversation = Some(agent.id.clone());
        }
        if let Outcome::Reply(reply) = outcome {
            session.reply = Some(Arc::clone(&reply.text));
        }
        let (since, task) = (session.attempt, Arc::clone(&session.task));
        if self.is_new {
            let attributes = self.session_attributes(&task);
            let took = self.took(since);
            if let Some(instruments) = self.instruments() {
                instruments.requested(took, &attributes);
                if let Some(usage) = usage {
                    instruments.used(usage, &attributes);
                }
            }
        }
    }

    /// The attributes of metrics of a session.
    fn session_attributes(&self, task: &SessionTask) -> Vec<KeyValue> {
        let harness = self.harness_of(task.agent.as_deref());
        let mut attributes = vec![
            KeyValue::new(key::OPERATION, "invoke_agent"),
            KeyValue::new(key::PROVIDER, self.provider_of(&harness)),
        ];
        attributes.extend(task.agent.as_ref().map(|agent| KeyValue::new(key::AGENT, agent.to_string())));
        attributes
            .extend(task.model.as_ref().map(|model| KeyValue::new(key::REQUEST_MODEL, model.to_string())));
        attributes
    }

    pub(super) fn session_ended(&mut self, request: RequestId, status: Status, error: Option<&RuntimeError>) {
        let Some(key) = self.requests.remove(&request) else { return };
        self.session_state(&key, None);
        let Some(session) = self.sessions.get_mut(&key) else { return };
        let task = Arc::clone(&session.task);
        let is_retried = status == Status::Failed
            && task.attempt < task.retries
            && error.is_none_or(|error| error.kind != ErrorKind::Permission);
        let (since, attempts, is_reused) = (session.attempt, session.attempts, session.is_reused);
        if (is_retried || attempts > 1) && !is_reused {
            self.attempt_ended(&key, since, task.attempt, status, error);
        }
        if is_retried {
            if let Some(instruments) = self.instruments().filter(|_| self.is_new) {
                instruments.retried();
            }
            return;
        }
        let Some((session, mut span)) = self.sessions.remove(&key).zip(self.spans.remove(&key)) else {
            return;
        };
        span.set_status(status);
        let mut ended = SpanStatus::Unset;
        if status == Status::Failed {
            ended = span.set_error(error, self.content.as_ref());
        }
        if !session.is_reused {
            self.session_over(session, span, ended);
        }
    }

    pub(super) fn retrying(&mut self, place: &str, attempt: u32, delay_ms: u64) {
        let now = self.now;
        if let Some(session) = self.sessions.get_mut(session_key(place, attempt)) {
            session.retrying = Some((now, delay_ms)).filter(|_| delay_ms > 0);
        }
    }

    fn attempt_ended(
        &mut self,
        key: &str,
        since: u64,
        attempt: u32,
        status: Status,
        error: Option<&RuntimeError>,
    ) {
        let number = i64::from(attempt) + 1;
        let mut span = self.child(key, &format!("attempt {number}"), "attempt".into(), since);
        span.set(key::ATTEMPT, number);
        span.set_status(status);
        let ended = match status {
            Status::Failed => span.set_error(error, self.content.as_ref()),
            _ => SpanStatus::Unset,
        };
        self.emit(span, ended);
    }

    /// Sends the span of a session that has ended, in whatever way.
    pub(super) fn session_over(&mut self, session: OpenSession, mut span: OpenSpan, status: SpanStatus) {
        span.set(key::ATTEMPTS, i64::from(session.attempts));
        set_usage(&mut span, session.usage);
        if session.is_estimated {
            span.set(key::ESTIMATED, true);
        }
        if let Some(model) = session.model {
            span.set(key::RESPONSE_MODEL, model.to_string());
        }
        if let Some(id) = session.conversation {
            span.set(key::CONVERSATION, id.to_string());
        }
        if let Some(content) = &self.content {
            if let Some(system) = session.task.system_part() {
                span.attributes.push(KeyValue::new(key::SYSTEM, content.system(&system)));
            }
            span.attributes.push(KeyValue::new(key::INPUT, content.input(&session.task.prompt)));
            if let Some(reply) = session.reply {
                span.attributes.push(KeyValue::new(key::OUTPUT, content.output(&reply)));
            }
        }
        if self.is_new {
            let attributes = self.session_attributes(&session.task);
            let took = self.took(span.start);
            if let Some(instruments) = self.instruments() {
                instruments.invoked(took, &attributes);
            }
        }
        self.emit(span, status);
    }

    /// The usage of a request that was cancelled, or whose outcome is not part of the run.
    pub(super) fn session_spent(&mut self, request: RequestId, usage: Option<Usage>) {
        let Some(key) = self.requests.get(&request) else { return };
        if let Some(session) = self.sessions.get_mut(key) {
            session.usage = Usage::sum([session.usage, usage]);
        }
    }

    /// The backend of a session reports something.
    pub(super) fn reported(&mut self, request: RequestId, activity: &Activity) {
        let Some(key) = self.requests.get(&request).cloned() else { return };
        let now = self.now;
        match activity {
            Activity::Tool(tool) => self.tool_reported(&key, tool),
            Activity::Asked(question) => {
                if let Some(session) = self.sessions.get_mut(&key) {
                    session.asked.insert(question.id.clone(), now);
                }
            }
            Activity::Answered { id, answer } => {
                let since = self.sessions.get_mut(&key).and_then(|session| session.asked.remove(id));
                let Some(since) = since else { return };
                let from = serde_json::to_value(answer.from).ok();
                let from = from.as_ref().and_then(|from| from.as_str()).unwrap_or_default().to_owned();
                self.wait(
                    "approval",
                    &key,
                    since,
                    &[
                        KeyValue::new(key::ALLOWED, answer.is_allowed),
                        KeyValue::new(key::ANSWERED_FROM, from),
                    ],
                );
            }
            Activity::ProviderRetry(retry) => {
                let mut attributes = vec![
                    KeyValue::new(key::ATTEMPT, i64::from(retry.attempt)),
                    KeyValue::new(key::DELAY, retry.delay_ms as i64),
                ];
                attributes
                    .extend(retry.status.map(|status| KeyValue::new(key::HTTP_STATUS, i64::from(status))));
                self.note(&key, "provider retry", attributes);
            }
            Activity::Denied(_) => self.note(&key, "tool denied", Vec::new()),
            Activity::Stalled { silent_ms } => {
                self.note(&key, "stalled", vec![KeyValue::new(key::DELAY, *silent_ms as i64)]);
            }
            _ => {}
        }
    }

    fn note(&mut self, key: &str, name: &'static str, attributes: Vec<KeyValue>) {
        let now = self.now;
        if let Some(span) = self.spans.get_mut(key) {
            span.events.push(Event::new(name, time(now), attributes, 0));
        }
    }

    fn tool_reported(&mut self, key: &SmolStr, tool: &ToolUse) {
        let now = self.now;
        let Some(session) = self.sessions.get_mut(key) else { return };
        let since = match tool.status {
            ToolStatus::Pending | ToolStatus::Running => {
                session.tools.entry(tool.id.clone()).or_insert_with(|| (now, tool.clone()));
                return;
            }
            _ => session.tools.remove(&tool.id).map_or(now, |(since, _)| since),
        };
        self.tool_ended(key, tool, since);
    }

    fn tool_ended(&mut self, key: &str, tool: &ToolUse, since: u64) {
        let kind = tool_kind(tool.kind);
        let id = format!("tool {} {since}", tool.id);
        let mut span = self.child(key, &id, format!("execute_tool {kind}").into(), since);
        span.set(key::OPERATION, "execute_tool");
        span.set(key::TOOL, kind);
        span.set(key::TOOL_CALL, tool.id.to_string());
        if let Some(content) = &self.content {
            let title = content.text(&tool.title);
            span.set(key::TOOL_TITLE, title);
        }
        let status = match tool.status {
            ToolStatus::Failed | ToolStatus::Denied => {
                span.set(key::ERROR, if tool.status == ToolStatus::Denied { "denied" } else { "_OTHER" });
                SpanStatus::error("")
            }
            _ => SpanStatus::Unset,
        };
        self.emit(span, status);
    }
}

fn tool_kind(kind: ToolKind) -> &'static str {
    match kind {
        ToolKind::Read => "read",
        ToolKind::Edit => "edit",
        ToolKind::Delete => "delete",
        ToolKind::Move => "move",
        ToolKind::Search => "search",
        ToolKind::Execute => "execute",
        ToolKind::Fetch => "fetch",
        ToolKind::Think => "think",
        ToolKind::Other => "other",
    }
}

/// What a span used.
pub(super) fn set_usage(span: &mut OpenSpan, usage: Option<Usage>) {
    let Some(usage) = usage else { return };
    span.set(key::INPUT_TOKENS, usage.input_tokens as i64);
    span.set(key::OUTPUT_TOKENS, usage.output_tokens as i64);
    for (key, tokens) in
        [(key::CACHE_READ, usage.cache_read_tokens), (key::CACHE_WRITE, usage.cache_write_tokens)]
    {
        if tokens > 0 {
            span.set(key, tokens as i64);
        }
    }
    if let Some(cost) = usage.cost {
        span.set(key::COST, cost);
    }
}
