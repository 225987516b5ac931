//! Nodes: how they start, change and end.

use std::sync::Arc;

use prose_vm::error::RuntimeError;
use prose_vm::event::Event;
use prose_vm::place::{Place, Site};
use smol_str::format_smolstr;

use super::sessions::base;
use crate::node::{Node, NodeId, NodeKind, Status};
use crate::text::first_line;
use crate::view::{EntryKind, View, is_in, nearest};

impl View {
    /// The node that something at a place is in.
    pub(super) fn around(&self, place: &str) -> NodeId {
        let mut at = place;
        loop {
            if let Some(id) = self.containers.get(at) {
                return *id;
            }
            match at.rfind('/') {
                Some(end) => at = &at[..end],
                None => return NodeId::ROOT,
            }
        }
    }

    pub(super) fn add(
        &mut self,
        event: &Event,
        kind: NodeKind,
        label: &str,
        detail: &str,
        key: Option<Place>,
        is_logged: bool,
    ) -> NodeId {
        if self.nodes.len() == 0 && kind != NodeKind::Run {
            // Events without a start are those of a run whose journal is damaged.
            self.add(event, NodeKind::Run, "", "", None, false);
        }
        let id = NodeId(self.nodes.len() as u32);
        let parent = (id != NodeId::ROOT).then(|| self.around(event.place.as_str()));
        let previous = parent.and_then(|parent| self.node(parent)?.last_child);
        let node = Node {
            kind,
            parent,
            previous,
            label: first_line(label),
            detail: detail.into(),
            place: event.place.clone(),
            site: event.site,
            program: self.program_of(&event.place, event.site),
            nesting: event.nesting,
            from: self.time(event),
            stops_at_start: self.stops.len(),
            key: key.clone(),
            ..Node::default()
        };
        self.nodes.push(self.revision, node);
        if let Some(parent) = parent {
            self.change(parent, |parent| parent.last_child = Some(id));
        }
        if let Some(key) = key {
            self.containers.insert(key, id);
            self.constructs.insert(id);
        }
        if is_logged {
            self.log(event, EntryKind::Node(id));
        }
        self.note_standing(id);
        id
    }

    pub(super) fn change<T>(&mut self, id: NodeId, change: impl FnOnce(&mut Node) -> T) -> Option<T> {
        self.nodes.get_mut(self.revision, id.0 as usize).map(change)
    }

    /// Changes a node and all that it is in.
    pub(super) fn change_upwards(&mut self, id: NodeId, mut change: impl FnMut(&mut Node)) {
        let mut next = Some(id);
        while let Some(id) = next {
            next = self
                .change(id, |node| {
                    change(node);
                    node.parent
                })
                .flatten();
        }
    }

    pub(super) fn set_status(&mut self, id: NodeId, status: Status) {
        self.note_standing(id);
        let Some(node) = self.node(id) else { return };
        let (before, is_session) = (node.status, node.session().is_some());
        if before == status {
            return;
        }
        if is_session {
            if let Some(count) = self.tally.of(before) {
                *count = count.saturating_sub(1);
            }
            if let Some(count) = self.tally.of(status) {
                *count += 1;
            }
            self.change_upwards(id, |node| {
                if let Some(count) = node.sessions.of(before) {
                    *count = count.saturating_sub(1);
                }
                if let Some(count) = node.sessions.of(status) {
                    *count += 1;
                }
            });
        }
        self.change(id, |node| node.status = status);
    }

    /// Ends a node and what is open in it.
    pub(super) fn end_node(
        &mut self,
        id: NodeId,
        at: u64,
        status: Status,
        error: Option<&Arc<RuntimeError>>,
    ) {
        // A loop of its own rather than a recursion: how deep nodes are nested is up to a program.
        let mut ending = vec![(id, status, error)];
        while let Some((id, status, error)) = ending.pop() {
            let Some(node) = self.node(id) else { continue };
            if node.to.is_some() && id != NodeId::ROOT && node.session().is_none() {
                continue;
            }
            // What is still open in it was not waited for.
            let inner = if status == Status::Interrupted { status } else { Status::Skipped };
            let mut ended_inside = Vec::new();
            for (child, node) in self.children(id) {
                if node.to.is_none() {
                    ending.push((child, inner, None));
                }
                ended_inside.extend(node.key.clone());
            }
            for key in ended_inside {
                self.containers.remove(&key);
            }
            self.close(id, at, status, error);
        }
    }

    pub(super) fn close(&mut self, id: NodeId, at: u64, status: Status, error: Option<&Arc<RuntimeError>>) {
        self.close_activity(id);
        let now = self.clocks();
        let stops = self.stops.len();
        let closed = self.change(id, |node| {
            let waited = node.waiting.at(now).view;
            (node.to, node.waits_for, node.stops_at_end) = (Some(at), None, stops);
            if let Some(error) = error {
                node.error = Some(Arc::clone(error));
            }
            let (is_input, place) = (node.kind == NodeKind::Input, node.place.clone());
            let Some(session) = node.session_mut() else { return (None, is_input, false, place) };
            let last = session.attempts.last_mut();
            let request = last.map(|attempt| {
                if attempt.to.is_none() {
                    (attempt.to, attempt.status, attempt.queued) = (Some(at), status, false);
                }
                attempt.waited = waited.saturating_sub(attempt.waited_before);
                attempt.request
            });
            if let Some(pause) = session.pauses.last_mut() {
                pause.to.get_or_insert(at);
            }
            let is_final = status != Status::Failed || session.attempts.len() as u32 > session.retries;
            (request, is_input, session.retries > 0 && is_final, place)
        });
        let Some((request, is_input, is_final, place)) = closed else { return };
        if let Some(request) = request {
            if matches!(status, Status::Failed | Status::Skipped) {
                self.session_without_result(id, status);
            }
            self.sessions.remove(&request);
            if status == Status::Skipped {
                self.cancelled.insert(request, id);
            }
        }
        self.constructs.remove(&id);
        if is_input {
            self.inputs.retain(|input| *input != id);
        }
        if is_input || is_final {
            self.asked.remove(base(&place));
        }
        self.set_status(id, status);
    }

    pub(super) fn end_container(&mut self, key: &Place, at: u64, status: Status) {
        if let Some(id) = self.containers.get(key).copied() {
            self.end_node(id, at, status, None);
        }
    }

    /// Ends what a statement leaves open, such as a pipeline, which has no end of its own.
    pub(super) fn end_at(&mut self, place: &Place, at: u64, status: Status) {
        self.end_container(place, at, status);
        // The value of a binding has a place of its own, one step further.
        let Some(last) = self.node(self.around(place.as_str())).and_then(|node| node.last_child) else {
            return;
        };
        let is_inside = |node: &Node| {
            let rest = node.place.as_str().strip_prefix(place.as_str());
            node.to.is_none() && rest.is_some_and(|rest| rest.starts_with('/'))
        };
        if self.node(last).is_some_and(is_inside) {
            self.end_node(last, at, status, None);
        }
    }

    pub(super) fn iteration_started(&mut self, event: &Event, number: u32, max: Option<u32>) {
        let is_loop = |id: &NodeId| matches!(self.node(*id), Some(Node { kind: NodeKind::Loop { .. }, .. }));
        let around =
            nearest(event.place.as_str(), |place| self.containers.get(place).copied().filter(is_loop));
        let Some(id) = around else { return };
        let Some(place) = self.node(id).map(|node| node.place.clone()) else { return };
        self.end_iteration(id, self.time(event), Status::Complete);
        let of = max.map_or(String::new(), |max| format!(" of {max}"));
        let key = place.step(format_args!("i{}", number.saturating_sub(1)));
        let label = format_smolstr!("iteration {number}{of}");
        let iteration = self.add(event, NodeKind::Iteration(number), &label, "", Some(key), true);
        let lines = self.change(id, |node| {
            if let NodeKind::Loop { iteration: last, .. } = &mut node.kind {
                *last = Some(iteration);
            }
            (node.program, node.site)
        });
        // What the statements in the loop came to before belongs to earlier iterations.
        let Some((program, Some(Site { line, last_line, .. }))) = lines else { return };
        let range = (program, line + 1, 0, 0)..=(program, last_line.max(line + 1), u32::MAX, u32::MAX);
        for index in self.statement_of.range(range).map(|(_, index)| *index) {
            if let Some(statement) = self.statements.get_mut(self.revision, index) {
                statement.iteration_at = self.revision;
            }
        }
    }

    pub(super) fn end_iteration(&mut self, id: NodeId, at: u64, status: Status) {
        if let Some(NodeKind::Loop { iteration: Some(last), .. }) = self.node(id).map(|node| &node.kind) {
            self.end_node(*last, at, status, None);
        }
    }

    pub(super) fn cancelled(&mut self, event: &Event, at: u64) {
        self.stop_executions(event.place.as_str(), at);
        match self.containers.get(&event.place).copied() {
            Some(id) => self.log(event, EntryKind::Cancelled(id)),
            None => {
                let inside = self.sessions.values().map(|open| open.node);
                let is_inside = |id: &NodeId| {
                    self.node(*id).is_some_and(|node| is_in(node.place.as_str(), event.place.as_str()))
                };
                for id in inside.filter(is_inside).collect::<Vec<_>>() {
                    self.end_node(id, at, Status::Skipped, None);
                }
            }
        }
    }
}
