//! The clock of a view.

use prose_vm::event::{Event, RunStatus};
use prose_vm::questions::OpenQuestion;

use super::sessions::base;
use crate::node::{Node, NodeId, NodeKind, Span};
use crate::times::{Clocks, Standing};
use crate::view::{View, outer};

impl View {
    /// The time of an event on the clock of the view.
    pub(crate) fn time(&self, event: &Event) -> u64 {
        event.active_at().saturating_sub(self.waits.attended)
    }

    /// Moves the clock to the next event.
    pub(super) fn wait_until(&mut self, event: &Event) {
        let waited = self.waits.since.take();
        if let Some(since) = waited {
            self.waits.attended += event.active_at().saturating_sub(since);
        }
        let stopped = event.paused.saturating_sub(self.paused);
        // A journal does not always have the end of an execution that stopped to wait.
        if waited.is_some() || self.end.as_ref().is_some_and(|end| end.status == RunStatus::Waiting) {
            self.waits.unattended += stopped;
        } else if stopped > 0 {
            self.stops.push(stopped);
        }
    }

    /// Stops the clock after an event if the run only waits for people.
    pub(super) fn wait_after(&mut self, event: &Event) {
        let only_waits = self.root().is_some_and(|root| root.waiting.is_now());
        self.waits.since = only_waits.then(|| event.active_at());
    }

    /// The time of the last event.
    pub(crate) fn clocks(&self) -> Clocks {
        Clocks { view: self.now, whole: self.now + self.waits.attended + self.waits.unattended }
    }

    /// Has the parts and statements around a request know how it stands.
    pub(super) fn note_standing(&mut self, id: NodeId) {
        let Some(node) = self.node(id) else { return };
        let is_request = matches!(node.kind, NodeKind::Session(_) | NodeKind::Condition | NodeKind::Input);
        let (before, after) = (node.standing, self.standing(id, node));
        if !is_request || before == after {
            return;
        }
        let (now, place) = (self.clocks(), node.place.clone());
        self.change(id, |node| {
            node.standing = after;
            let Some(session) = node.session_mut() else { return };
            match session.waits.last_mut().filter(|span| span.to.is_none()) {
                Some(open) if after != Standing::Asking => open.to = Some(now.view),
                None if after == Standing::Asking => session.waits.push(Span { from: now.view, to: None }),
                _ => {}
            }
        });
        self.change_upwards(id, |node| node.waiting.change(before, after, now));
        let mut at = Some(place.as_str());
        while let Some(place) = at {
            if let Some(id) = self.running.get(place)
                && let Some(execution) = self.executions.get_mut(self.revision, id.0 as usize)
            {
                execution.waiting.change(before, after, now);
            }
            at = outer(place);
        }
    }

    fn standing(&self, id: NodeId, node: &Node) -> Standing {
        let asks = || {
            let reported = self.activity(id).is_some_and(|activity| !activity.questions.is_empty());
            node.kind == NodeKind::Input || reported || self.questioned.contains(&id)
        };
        match node.to {
            Some(_) => Standing::Closed,
            None if asks() => Standing::Asking,
            None => Standing::AtWork,
        }
    }

    /// Takes up which permissions and limits are asked for. Unlike what backends report, this is recorded.
    pub(super) fn questions_open(&mut self, questions: &[OpenQuestion]) {
        let is_asked = |id: &NodeId| {
            let place = self.node(*id).map(|node| &node.place);
            place.is_some_and(|place| questions.iter().any(|open| base(&open.asked_at) == base(place)))
        };
        let open = self.sessions.values().map(|open| open.node).chain(self.conditions.values().copied());
        let asked = open.filter(is_asked).collect();
        let before = std::mem::replace(&mut self.questioned, asked);
        let changed: Vec<_> = before.symmetric_difference(&self.questioned).copied().collect();
        changed.into_iter().for_each(|id| self.note_standing(id));
    }
}
