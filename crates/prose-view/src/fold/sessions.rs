//! Sessions: their attempts, pauses and replies.

use std::sync::Arc;

use prose_vm::effect::{Outcome, RequestId, SessionTask};
use prose_vm::error::RuntimeError;
use prose_vm::event::Event;
use prose_vm::place::Place;

use crate::agent::AgentKey;
use crate::node::{Attempt, Node, NodeKind, Session, Span, Status, WaitsFor};
use crate::text::first_line;
use crate::view::{EntryKind, OpenSession, View};

impl View {
    pub(super) fn session_started(&mut self, event: &Event, request: RequestId, task: &Arc<SessionTask>) {
        let at = self.time(event);
        let mut attempt = Attempt { request, from: at, ..Attempt::default() };
        let before = (task.attempt > 0).then(|| self.asked.get(base(&event.place)).copied()).flatten();
        let node = before.unwrap_or_else(|| {
            let session = Session {
                agent: task.agent.clone(),
                model: task.model.clone(),
                name: task.binding.name.clone(),
                file: Arc::clone(&task.binding.path),
                retries: task.retries,
                frame: task.binding.frame,
                ..Session::default()
            };
            let kind = NodeKind::Session(Box::new(session));
            let agent = task.agent.clone().unwrap_or_default();
            let id = self.add(event, kind, &task.task, &agent, None, false);
            if task.retries > 0 {
                let base = base(&event.place);
                let key =
                    if base == event.place.as_str() { event.place.clone() } else { Place::root().step(base) };
                self.asked.insert(key, id);
            }
            self.change_upwards(id, |node| {
                node.sessions.total += 1;
                node.sessions.running += 1;
            });
            id
        });
        if before.is_some() {
            self.session_tried_again(node);
        }
        let now = self.clocks();
        let count = self.change(node, |node| {
            (node.to, node.error, node.waits_for) = (None, None, None);
            let waited = node.waiting.at(now).view;
            let Some(session) = node.session_mut() else { return 0 };
            if let Some(pause) = session.pauses.last_mut() {
                pause.to.get_or_insert(at);
            }
            attempt.waited_before = waited;
            session.attempts.push(attempt);
            session.attempts.len() as u32
        });
        self.tally.retried += u32::from(count == Some(2));
        self.set_status(node, Status::Running);
        if before.is_some() {
            // Clients remove what they show of the attempt before.
            self.activity_slot(node);
        }
        self.change_agent(&AgentKey::Session(task.agent.clone()), |agent| agent.requests += 1);
        self.sessions.insert(request, OpenSession { node, task: Arc::clone(task) });
        self.log(event, EntryKind::Attempt(node, count.unwrap_or(1) - 1));
    }

    pub(super) fn retrying(
        &mut self,
        event: &Event,
        attempt: u32,
        retries: u32,
        delay: u64,
        error: &Arc<RuntimeError>,
    ) {
        if let Some(index) = self.execution_around(&event.place).map(|execution| execution.statement)
            && let Some(statement) = self.statements.get_mut(self.revision, index)
        {
            statement.retrying = Some((attempt, retries));
        }
        let Some(id) = self.asked.get(base(&event.place)).copied() else { return };
        self.retry_handles(id, attempt, error);
        let at = self.time(event);
        self.change(id, |node| {
            (node.to, node.waits_for) = (None, Some(WaitsFor::Retry));
            if let Some(session) = node.session_mut() {
                session.pauses.push(Span { from: at, to: None });
            }
        });
        self.set_status(id, Status::Waiting);
        if delay > 0 {
            self.log(event, EntryKind::Pause(id, delay));
        }
    }

    /// Changes the open attempt of a request, and its node to the status that comes of it.
    pub(super) fn change_attempt(
        &mut self,
        request: RequestId,
        change: impl FnOnce(&mut Node, &mut Attempt) -> Option<Status>,
    ) {
        let Some(id) = self.sessions.get(&request).map(|open| open.node) else { return };
        let status = self.change(id, |node| {
            let mut attempt = node.session_mut()?.attempts.pop()?;
            let status = change(node, &mut attempt);
            node.session_mut()?.attempts.push(attempt);
            status
        });
        if let Some(status) = status.flatten() {
            self.set_status(id, status);
        }
    }

    /// Notes something in the open attempt of a request.
    pub(super) fn note_attempt(&mut self, request: RequestId, note: impl FnOnce(&mut Attempt)) {
        self.change_attempt(request, |_, attempt| {
            note(attempt);
            None
        });
    }

    pub(super) fn answered(
        &mut self,
        event: &Event,
        request: RequestId,
        outcome: &Outcome,
        began: Option<u64>,
    ) {
        let idle = event.paused + self.waits.attended;
        self.change_attempt(request, |node, attempt| {
            // The run may have waited after that.
            let began = began.map(|at| at.saturating_sub(idle).max(attempt.from));
            attempt.began = began.or(attempt.began);
            attempt.queued = false;
            if let Outcome::Reply(reply) = outcome {
                node.note = first_line(&reply.text);
            }
            None
        });
    }
}

/// The place of a session without the step of its retry.
pub(super) fn base(place: &Place) -> &str {
    let place = place.as_str();
    match place.rsplit_once("/a") {
        Some((base, retry)) if !retry.is_empty() && retry.bytes().all(|byte| byte.is_ascii_digit()) => base,
        _ => place,
    }
}
