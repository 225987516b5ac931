//! What backends report, and what was recorded of it.

use prose_vm::activity::{Activity, Work};
use prose_vm::effect::{RequestId, Usage};
use prose_vm::event::Event;

use crate::activity::NodeActivity;
use crate::node::{NodeId, Status, WaitsFor};
use crate::view::{EntryKind, View};

impl View {
    /// The open node of a request. Choices, extractions and summaries have none while they are at work.
    fn node_of(&self, request: RequestId) -> Option<NodeId> {
        let session = self.sessions.get(&request).map(|open| open.node);
        session.or_else(|| self.conditions.get(&request).copied())
    }

    pub(super) fn reported(&mut self, event: &Event, request: RequestId, activity: &Activity) {
        let at = event.active_at();
        if let Activity::Used(usage) = activity {
            let sum = Usage::sum([self.used.get(&request).copied(), Some(*usage)]);
            self.used.extend(sum.map(|sum| (request, sum)));
            self.add_usage(event, request, *usage);
            self.change_attempt(request, |_, attempt| {
                attempt.usage = sum;
                None
            });
        }
        let Some(node) = self.node_of(request) else { return };
        let had_questions = self.activity(node).is_some_and(|activity| !activity.questions.is_empty());
        let slot = self.activity_slot(node);
        let Some(now) = self.activities.get_mut(self.revision, slot) else { return };
        now.add(at, activity);
        let has_questions = !now.questions.is_empty();
        if had_questions != has_questions {
            self.change_attempt(request, |node, _| {
                node.waits_for = has_questions.then_some(WaitsFor::Permission);
                Some(if has_questions { Status::Waiting } else { Status::Running })
            });
        }
        match activity {
            Activity::Agent(agent) => self.change_attempt(request, |_, attempt| {
                attempt.session = Some(Box::new(agent.clone()));
                None
            }),
            Activity::Denied(denial) => {
                self.change_attempt(request, |_, attempt| {
                    attempt.denials.push(denial.clone());
                    None
                });
                self.denied.insert(node);
                self.log_of(event, node, EntryKind::Denied(node, denial.clone()));
            }
            Activity::ProviderRetry(retry) => {
                self.log_of(event, node, EntryKind::ProviderRetry(node, retry.clone()))
            }
            Activity::Asked(question) => self.log_of(event, node, EntryKind::Asked(node, question.clone())),
            Activity::Stalled { silent_ms } => self.log_of(event, node, EntryKind::Stalled(node, *silent_ms)),
            _ => {}
        }
    }

    /// Takes up what was recorded with an outcome, as far as it was not reported before.
    pub(super) fn worked(&mut self, event: &Event, request: RequestId, effect: &str, work: &Work) {
        let total = event.kind.usage();
        let known = self.used.remove(&request);
        if let Some(total) = total
            && let Some(rest) = known.map_or(Some(total), |known| difference(total, known))
        {
            self.add_usage(event, request, rest);
        }
        if effect == "choose"
            && let Some(total) = total
        {
            self.usage_of_choices.insert(event.place.clone(), total);
        }
        let node = self.node_of(request).unwrap_or_else(|| self.around(event.place.as_str()));
        let logged = self.activity(node).map_or(0, |activity| activity.denied as usize);
        self.close_activity(node);
        self.change_attempt(request, |_, attempt| {
            attempt.usage = total.or(attempt.usage);
            attempt.calls = work.calls.max(attempt.calls);
            if let Some(agent) = &work.agent {
                attempt.session = Some(Box::new(agent.clone()));
            }
            attempt.denials.extend(work.denials.iter().skip(logged).cloned());
            None
        });
        for denial in work.denials.iter().skip(logged) {
            self.denied.insert(node);
            self.log_of(event, node, EntryKind::Denied(node, denial.clone()));
        }
        self.conditions.remove(&request);
    }

    /// Adds a line to the log whose node is in the same delta.
    fn log_of(&mut self, event: &Event, node: NodeId, kind: EntryKind) {
        self.change(node, |_| ());
        self.log(event, kind);
    }

    fn add_usage(&mut self, event: &Event, request: RequestId, usage: Usage) {
        let node = self.node_of(request).unwrap_or_else(|| self.around(event.place.as_str()));
        self.change_upwards(node, |node| node.usage = Usage::sum([node.usage, Some(usage)]));
    }

    /// The place of the activity of a node in the list; a free one if the node has none yet.
    pub(super) fn activity_slot(&mut self, node: NodeId) -> usize {
        if let Some(slot) = self.activity_of.get(&node) {
            return *slot;
        }
        let slot = match self.free_activities.pop() {
            Some(slot) => {
                if let Some(free) = self.activities.get_mut(self.revision, slot) {
                    *free = NodeActivity::new(node);
                }
                slot
            }
            None => self.activities.push(self.revision, NodeActivity::new(node)),
        };
        self.activity_of.insert(node, slot);
        slot
    }

    /// Ends the activity of a node, whose place another node may take.
    pub(super) fn close_activity(&mut self, node: NodeId) {
        let Some(slot) = self.activity_of.remove(&node) else { return };
        self.free_activities.push(slot);
        let calls = self.activities.get(slot).map_or(0, |activity| activity.calls);
        if calls > 0 {
            self.change(node, |node| {
                if let Some(attempt) = node.session_mut().and_then(|session| session.attempts.last_mut()) {
                    attempt.calls = calls;
                }
            });
        }
    }
}

/// What a total has more than a part of it; `None` if that is nothing.
fn difference(total: Usage, part: Usage) -> Option<Usage> {
    let rest = Usage {
        input_tokens: total.input_tokens.saturating_sub(part.input_tokens),
        cache_read_tokens: total.cache_read_tokens.saturating_sub(part.cache_read_tokens),
        cache_write_tokens: total.cache_write_tokens.saturating_sub(part.cache_write_tokens),
        output_tokens: total.output_tokens.saturating_sub(part.output_tokens),
        cost: match (total.cost, part.cost) {
            (Some(total), Some(part)) if total == part => None,
            (Some(total), part) => Some((total - part.unwrap_or_default()).max(0.0)),
            (None, _) => None,
        },
    };
    (rest != Usage::default()).then_some(rest)
}
