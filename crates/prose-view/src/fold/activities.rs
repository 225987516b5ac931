//! What backends report, and what was recorded of it.

use prose_vm::activity::{Activity, Denial, Work};
use prose_vm::effect::{RequestId, Usage};
use prose_vm::event::{Event, EventKind, Expense};

use crate::activity::NodeActivity;
use crate::agent::{AgentKey, AgentTotal};
use crate::node::{Node, NodeId, NodeKind, Status, WaitsFor};
use crate::text::difference;
use crate::view::{EntryKind, View};

impl View {
    /// The open node of a request. Choices, extractions and summaries have none while they are at work.
    pub(crate) fn node_of(&self, request: RequestId) -> Option<NodeId> {
        let session = self.sessions.get(&request).map(|open| open.node);
        let session = session.or_else(|| self.cancelled.get(&request).copied());
        session.or_else(|| self.conditions.get(&request).copied())
    }

    pub(super) fn reported(&mut self, event: &Event, request: RequestId, activity: &Activity) {
        let at = self.time(event);
        if let Activity::Used(usage) = activity {
            let sum = Usage::sum([self.used.get(&request).copied(), Some(*usage)]);
            self.used.extend(sum.map(|sum| (request, sum)));
            self.add_usage(event, request, *usage, Some(&self.agent_of(request)));
            let sum = Usage::sum([self.expenses.get(&request).copied(), sum]);
            self.note_attempt(request, |attempt| attempt.usage = sum);
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
        self.note_standing(node);
        match activity {
            Activity::Agent(agent) => {
                self.note_attempt(request, |attempt| attempt.session = Some(Box::new(agent.clone())));
            }
            Activity::Denied(denial) => {
                self.note_attempt(request, |attempt| attempt.denials.push(denial.clone()));
                self.deny(event, node, denial);
            }
            Activity::ProviderRetry(retry) if retry.attempt > 0 => {
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
        let agent = self.agent_of(request);
        // What was used before the program changed is in the total already.
        self.add_rest(event, request, total, Some(&agent).filter(|_| !work.is_reused));
        let is_decision = matches!(effect, "judge" | "choose" | "extract" | "summarise");
        match (work.is_reused, is_decision) {
            (false, true) => self.change_agent(&agent, |agent| agent.requests += 1),
            (true, false) => {
                self.change_agent(&agent, |agent| agent.requests = agent.requests.saturating_sub(1))
            }
            _ => {}
        }
        if effect == "choose"
            && let Some(total) = total
        {
            self.usage_of_choices.insert(event.place.clone(), total);
        }
        let node = self.node_of(request).unwrap_or_else(|| self.around(event.place.as_str()));
        let logged = self.activity(node).map_or(0, |activity| activity.denied as usize);
        self.close_activity(node);
        let sum = Usage::sum([self.expenses.remove(&request), total]);
        let mut is_second = false;
        let is_by_hand =
            matches!(&event.kind, EventKind::Effect { outcome, .. } if work.is_ended_by_hand(outcome));
        self.note_attempt(request, |attempt| {
            // What was cancelled last is the attempt that a person has ended.
            attempt.cancelled -= u32::from(is_by_hand).min(attempt.cancelled);
            is_second = attempt.cancelled > 0;
            attempt.add(work, sum);
            attempt.denials.extend(work.denials.iter().skip(logged).cloned());
            attempt.questions.clone_from(&work.questions);
        });
        // One that the program retries is counted already.
        let session = self.node(node).and_then(Node::session);
        let is_first = session.is_some_and(|session| session.attempts.len() == 1);
        self.tally.retried += u32::from(is_second && is_first);
        for denial in work.denials.iter().skip(logged) {
            self.deny(event, node, denial);
        }
        self.conditions.remove(&request);
        if work.is_reused && effect == "session" {
            self.tally.reused += 1;
            self.tally.before_change = self.tally.before_change.saturating_sub(1);
        }
    }

    fn deny(&mut self, event: &Event, node: NodeId, denial: &Denial) {
        self.tally.denied += 1;
        self.denied.insert(node);
        self.log_of(event, node, EntryKind::Denied(node, denial.clone()));
    }

    /// Takes up what a request has used that has no outcome.
    pub(super) fn expense(&mut self, event: &Event, expense: &Expense) {
        let Expense { request, effect, agent, requests, work, .. } = expense;
        let key = match effect.as_str() {
            "session" => AgentKey::Session(agent.clone()),
            _ => AgentKey::Decisions,
        };
        let Some(request) = *request else {
            // Of the executions before the program changed.
            self.tally.before_change += if effect == "session" { *requests } else { 0 };
            self.change_agent(&key, |agent| {
                agent.requests += requests;
                agent.usage = Usage::sum([agent.usage, work.usage]);
            });
            self.change(NodeId::ROOT, |root| root.usage = Usage::sum([root.usage, work.usage]));
            return;
        };
        self.add_rest(event, request, work.usage, Some(&key));
        let node = self.node_of(request);
        if key == AgentKey::Decisions {
            self.change_agent(&key, |agent| agent.requests += requests);
        }
        let sum = Usage::sum([self.expenses.get(&request).copied(), work.usage]);
        self.expenses.extend(sum.map(|sum| (request, sum)));
        if let Some(node) = node {
            let denials = self.change(node, |node| {
                let attempts = &mut node.session_mut()?.attempts;
                let attempt = attempts.iter_mut().rfind(|attempt| attempt.request == request)?;
                // Those that were reported while it was at work are known.
                let denials: Vec<_> = work.denials.iter().skip(attempt.denials.len()).cloned().collect();
                attempt.denials.extend(denials.iter().cloned());
                attempt.cancelled += requests;
                attempt.add(work, sum);
                Some(denials)
            });
            for denial in denials.flatten().into_iter().flatten() {
                self.deny(event, node, &denial);
            }
        }
    }

    /// Changes the total of an agent.
    pub(super) fn change_agent(&mut self, key: &AgentKey, change: impl FnOnce(&mut AgentTotal)) {
        let slot = match self.agent_of.get(key) {
            Some(slot) => *slot,
            None => {
                let slot = self.agents.push(self.revision, AgentTotal::new(key));
                self.agent_of.insert(key.clone(), slot);
                slot
            }
        };
        if let Some(agent) = self.agents.get_mut(self.revision, slot) {
            change(agent);
        }
    }

    /// Adds a line to the log whose node is in the same delta.
    fn log_of(&mut self, event: &Event, node: NodeId, kind: EntryKind) {
        self.change(node, |_| ());
        self.log(event, kind);
    }

    /// Who has made an open request.
    fn agent_of(&self, request: RequestId) -> AgentKey {
        let session = self.sessions.get(&request);
        session.map_or(AgentKey::Decisions, |open| AgentKey::Session(open.task.agent.clone()))
    }

    /// Adds what a request has used in total, as far as it was not reported before.
    fn add_rest(
        &mut self,
        event: &Event,
        request: RequestId,
        total: Option<Usage>,
        agent: Option<&AgentKey>,
    ) {
        let known = self.used.remove(&request);
        if let Some(total) = total
            && let Some(rest) = known.map_or(Some(total), |known| difference(total, known))
        {
            self.add_usage(event, request, rest, agent);
        }
    }

    /// Adds usage to all that it belongs to; without an agent, to all but the total of the run.
    fn add_usage(&mut self, event: &Event, request: RequestId, usage: Usage, agent: Option<&AgentKey>) {
        let node = self.node_of(request).unwrap_or_else(|| self.around(event.place.as_str()));
        let add = |sum: &mut Option<Usage>| *sum = Usage::sum([*sum, Some(usage)]);
        self.change_upwards(node, |node| {
            if node.kind != NodeKind::Run || agent.is_some() {
                add(&mut node.usage);
            }
        });
        if let Some(agent) = agent {
            self.change_agent(agent, |agent| add(&mut agent.usage));
        }
        for index in self.statements_around(event) {
            self.statements.get_mut(self.revision, index).into_iter().for_each(|it| add(&mut it.usage));
        }
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
        self.note_standing(node);
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
