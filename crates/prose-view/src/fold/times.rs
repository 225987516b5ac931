//! The clock of a view.

use prose_vm::event::{Event, RunStatus};

use crate::node::NodeId;
use crate::view::View;

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
        }
    }

    /// Stops the clock after an event if the run only waits for people.
    pub(super) fn wait_after(&mut self, event: &Event) {
        self.waits.since = self.only_waits_for_people().then(|| event.active_at());
    }

    fn only_waits_for_people(&self) -> bool {
        let counts = self.root().map(|root| root.sessions).unwrap_or_default();
        // Those that wait for an agent or for a retry are no open sessions that ask.
        counts.running == 0
            && counts.waiting as usize == self.sessions.len()
            && !(self.inputs.is_empty() && self.sessions.is_empty() && self.conditions.is_empty())
            && self.conditions.values().all(|node| self.asks(*node))
            && self.sessions.values().all(|open| self.asks(open.node))
    }

    /// Whether the agent of a node asks for a permission.
    fn asks(&self, node: NodeId) -> bool {
        self.activity(node).is_some_and(|activity| !activity.questions.is_empty())
    }
}
