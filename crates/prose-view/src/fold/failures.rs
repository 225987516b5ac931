//! Failures that the program handles, and the results that are missing because of failures.

use std::sync::Arc;

use prose_vm::effect::{Binding, RequestId};
use prose_vm::error::{ErrorKind, RuntimeError};
use prose_vm::event::{Event, TryPart};
use prose_vm::place::Place;
use prose_vm::value::Value;
use smol_str::SmolStr;

use crate::census::{Handled, HandledFailure, Handling, MissingResult, OpenTry};
use crate::node::{Node, NodeId, NodeKind, Status};
use crate::text::first_line;
use crate::view::View;

impl View {
    /// Takes up how a branch ended: what its `parallel` makes of a failure, and the name that gets no value.
    pub(super) fn branch_ended(&mut self, event: &Event, name: &SmolStr, status: Status, value: &Value) {
        if !matches!(status, Status::Failed | Status::Skipped) {
            return;
        }
        let id = self.containers.get(&event.place).copied();
        let branch = id.and_then(|id| self.node(id));
        let site = branch.and_then(|branch| branch.site).or(event.site);
        let parallel = branch.and_then(|branch| self.node(branch.parent?));
        let policy = match parallel.map(|parallel| &parallel.kind) {
            Some(NodeKind::Parallel { policy, .. }) => policy.clone(),
            _ => SmolStr::default(),
        };
        // Branches and iterations without a name are numbered.
        let is_named = !name.contains(' ');
        if is_named {
            let key = (self.program_of(&event.place, site), event.frame, name.clone());
            let line = site.map_or(0, |site| site.line);
            self.missing(key, line, status);
        }
        let handling = match policy.as_str() {
            "continue" => Handling::Continue,
            "ignore" => Handling::Ignore,
            _ => return,
        };
        if let (Some(id), Status::Failed, Value::Error(error)) = (id, status, value) {
            self.handle(id, Some(name).filter(|_| is_named), Arc::clone(error), handling);
        }
    }

    /// A `catch` handles an error, until it raises one itself.
    pub(super) fn caught(&mut self, place: &Place, error: &Arc<RuntimeError>) {
        let caught = self.containers.get(place).copied();
        let caught = caught.map(|id| self.handle(id, None, Arc::clone(error), Handling::Catch));
        self.tries.insert(place.clone(), OpenTry { failed: None, caught });
    }

    pub(super) fn part_of_try_ended(
        &mut self,
        place: &Place,
        part: TryPart,
        status: prose_vm::event::Status,
    ) {
        use prose_vm::event::Status::{Failed, Left};
        match (part, status) {
            (TryPart::Body, Failed) => {
                let failed = self.last_failed.clone();
                self.tries.insert(place.clone(), OpenTry { failed, caught: None });
            }
            (TryPart::Catch, Failed) => {
                let failed = self.last_failed.clone();
                let Some(open) = self.tries.get_mut(place) else { return };
                open.failed = failed;
                if let Some(index) = open.caught.take() {
                    self.raised_again(index);
                }
            }
            // What leads out of `finally` takes the place of the error (R75).
            (TryPart::Finally, Left) => {
                let failed = self.tries.remove(place).and_then(|open| open.failed);
                if let (Some(error), Some(id)) = (failed, self.containers.get(place).copied()) {
                    self.handle(id, None, error, Handling::Finally);
                }
            }
            _ => {}
        }
    }

    /// A failed session is tried again.
    pub(super) fn retry_handles(&mut self, id: NodeId, attempts: u32, error: &Arc<RuntimeError>) {
        let Some(session) = self.node(id).and_then(Node::session) else { return };
        let handling = Handling::Retry { attempts };
        match session.failure {
            Some(index) => {
                if let Some(handled) = self.handled.get_mut(self.revision, index) {
                    handled.is_raised_again = false;
                    (handled.failure.error, handled.failure.handling) = (Arc::clone(error), handling);
                }
            }
            None => {
                let name = Some(session.name.clone()).filter(|name| !is_anonymous(name));
                let index = self.handle(id, name.as_ref(), Arc::clone(error), handling);
                self.change(id, |node| {
                    if let Some(session) = node.session_mut() {
                        session.failure = Some(index);
                    }
                });
            }
        }
    }

    /// An attempt of a session failed. Its error is raised unless another attempt follows.
    pub(super) fn attempt_failed(&mut self, request: RequestId) {
        let node = self.sessions.get(&request).and_then(|open| self.node(open.node));
        if let Some(index) = node.and_then(|node| node.session()?.failure) {
            self.raised_again(index);
        }
    }

    /// Takes up that a session has ended without a result, for now if it is tried again.
    pub(super) fn session_without_result(&mut self, id: NodeId, status: Status) {
        let is_refusal = status == Status::Failed && self.node(id).is_some_and(is_refused);
        self.tally.refused += u32::from(is_refusal);
        let Some(node) = self.node(id) else { return };
        let Some(session) = node.session().filter(|session| !is_anonymous(&session.name)) else { return };
        let key = (node.program, session.frame, session.name.clone());
        let line = node.site.map_or(0, |site| site.line);
        self.missing(key, line, status);
    }

    /// A session is tried again after its last attempt.
    pub(super) fn session_tried_again(&mut self, id: NodeId) {
        if self.node(id).is_some_and(is_refused) {
            self.tally.refused = self.tally.refused.saturating_sub(1);
        }
    }

    /// A name has a value, which may come from something else than what failed.
    pub(super) fn result_given(&mut self, program: u32, binding: &Binding, value: &Value) {
        if !self.missing.is_empty() && !matches!(value, Value::Null | Value::Error(_)) {
            self.missing.remove(&(program, binding.frame, binding.name.clone()));
        }
    }

    fn missing(&mut self, key: (u32, u32, SmolStr), line: u32, status: Status) {
        let name = key.2.clone();
        let is_cancelled = status == Status::Skipped;
        self.missing.insert(key, MissingResult { name, program: None, line, is_cancelled });
    }

    fn handle(
        &mut self,
        id: NodeId,
        name: Option<&SmolStr>,
        error: Arc<RuntimeError>,
        handling: Handling,
    ) -> usize {
        let node = self.node(id);
        let (program, place) = node.map_or((0, Place::root()), |node| (node.program, node.place.clone()));
        let line = match error.line {
            0 => node.and_then(|node| node.site).map_or(0, |site| site.line),
            line => line,
        };
        let written = Some(&error.statement).filter(|statement| !statement.is_empty());
        let label = match (name, written) {
            (Some(name), _) => name.clone(),
            (None, Some(statement)) => first_line(statement),
            (None, None) => node.map_or(SmolStr::default(), |node| node.label.clone()),
        };
        let failure = HandledFailure { node: id, place, program: None, line, label, error, handling };
        self.handled.push(self.revision, Handled { failure, program, is_raised_again: false })
    }

    fn raised_again(&mut self, index: usize) {
        if let Some(handled) = self.handled.get_mut(self.revision, index) {
            handled.is_raised_again = true;
        }
    }
}

/// Whether a session failed because it was refused.
fn is_refused(node: &Node) -> bool {
    let kind = node.error.as_ref().map(|error| error.kind);
    matches!(kind, Some(ErrorKind::Refused | ErrorKind::Permission))
}

/// Whether nothing captures the result of a session (R20).
fn is_anonymous(name: &str) -> bool {
    name.starts_with("anon_")
}
