//! Folds events into a view.

mod activities;
mod census;
mod failures;
mod nodes;
mod sessions;
mod statements;
mod times;

use std::sync::Arc;

use prose_vm::effect::{Outcome, RequestId};
use prose_vm::error::RuntimeError;
use prose_vm::event::{
    ConditionOf, Event, EventKind, LoopEnd, LoopKind, RunEnd, RunHead, RunStatus, TryPart,
};
use smol_str::{SmolStr, format_smolstr};

use crate::agent::AgentKey;
use crate::node::{Node, NodeId, NodeKind, Status, WaitsFor};
use crate::text::{counted, first_line, shortened};
use crate::view::{Entry, EntryKind, Failure, Program, View};

impl View {
    /// The view after some events.
    pub fn of<'a>(events: impl IntoIterator<Item = &'a Event>) -> Self {
        let mut view = Self::default();
        events.into_iter().for_each(|event| view.apply(event));
        view
    }

    /// Folds the next event. A run that is told from its start again, as a resumed one is, is viewed from its start again.
    pub fn apply(&mut self, event: &Event) {
        self.revision += 1;
        if let EventKind::RunStarted(head) = &event.kind {
            *self = Self { revision: self.revision, started_at: self.revision, ..Self::default() };
            self.run_started(event, head);
        }
        self.wait_until(event);
        if event.paused > self.paused {
            // What has ended before the run was stopped is reused by the execution that starts here.
            self.tally.reused = self.root().map_or(0, |root| root.sessions.complete);
            self.pause = None;
        }
        self.pause = event.pause_after(self.pause.take());
        self.seq = self.seq.max(event.seq);
        self.now = self.now.max(self.time(event));
        self.paused = self.paused.max(event.paused);
        self.program_names.apply(event);
        if let EventKind::ImportCalled { program, alias, folder, .. } = &event.kind {
            self.calls.insert(event.place.clone(), *program);
            let called = Program::new(alias.clone(), Arc::clone(folder), event.at);
            self.programs.insert(*program, Program { called_at: self.revision, ..called });
        }
        let number = self.program_of(&event.place, event.site);
        if let Some(program) = self.programs.get_mut(&number) {
            program.updated = event.at;
            program.revision = self.revision;
        }
        self.take(event, number);
        self.wait_after(event);
    }

    fn take(&mut self, event: &Event, number: u32) {
        let at = self.time(event);
        let place = &event.place;
        match &event.kind {
            EventKind::RunStarted(head) => self.log(event, EntryKind::Started(head.harness.clone())),
            EventKind::Resumed { harness } => {
                self.harness.clone_from(harness);
                self.tally.not_asked = 0;
                self.resumed(event);
                self.log(event, EntryKind::Resumed(harness.clone()));
            }
            EventKind::RunEnded(end) => self.run_ended(event, end),
            EventKind::Defined { name, agents, .. } => {
                if let Some(program) = self.programs.get_mut(&number) {
                    program.name = name.clone();
                    program.agents = agents.clone();
                }
            }
            EventKind::Bound { binding, value, .. } => self.bound(event, number, binding, value),
            EventKind::OutputGiven { value, .. } => self.give(place, value, None),
            EventKind::Warning { message } => {
                self.tally.warnings += 1;
                self.log(event, EntryKind::Warning(shortened(message).as_str().into()))
            }
            EventKind::VariableSet { name, by, .. } => {
                self.tally.warnings += 1;
                self.log(event, EntryKind::Warning(shortened(&by.variable_warning(name)).as_str().into()))
            }

            EventKind::StatementStarted { source, .. } => self.statement_started(event, source),
            EventKind::StatementEnded { status, error } => {
                let status = Status::from(*status);
                if let Some(id) = self.running.get(place).copied() {
                    self.statement_ended(id, at, status, error.as_ref());
                }
                if let Some(error) = error {
                    self.last_failed = Some(Arc::clone(error));
                }
                self.tries.remove(place);
                self.end_at(place, at, status);
            }

            EventKind::SessionStarted { request, task } => self.session_started(event, *request, task),
            EventKind::Queued { request } => self.change_attempt(*request, |node, attempt| {
                attempt.queued = true;
                node.waits_for = Some(WaitsFor::Agent);
                Some(Status::Waiting)
            }),
            EventKind::Begun { request } => self.change_attempt(*request, |node, attempt| {
                (attempt.queued, attempt.began) = (false, Some(at));
                node.waits_for = None;
                Some(Status::Running)
            }),
            EventKind::MemoryAwaited { request, agent } => {
                self.memories.insert(*request, agent.clone());
                self.log(event, EntryKind::MemoryAwaited(agent.clone()));
            }
            EventKind::MemoryAcquired { request } => drop(self.memories.remove(request)),
            EventKind::Effect { request, effect, outcome, began, work, .. } => {
                // Of the conditions, those that are computed have no request.
                let is_condition = self.conditions.contains_key(request);
                self.tally.conditions += u32::from(is_condition && matches!(outcome, Outcome::Verdict(_)));
                self.worked(event, *request, effect, work);
                self.answered(event, *request, outcome, *began);
            }
            EventKind::Expense(expense) => self.expense(event, expense),
            // The question was shown as open by the activity of its request, which ends with the answer.
            EventKind::Answered(_) => {}
            EventKind::Activity { request, activity } => self.reported(event, *request, activity),
            EventKind::SessionEnded { request, status, error } => {
                self.sessions_ended += 1;
                if *status == prose_vm::event::Status::Failed {
                    self.attempt_failed(*request);
                }
                let Some(open) = self.sessions.get(request) else { return };
                let (node, status) = (open.node, Status::from(*status));
                self.note_attempt(*request, |attempt| {
                    (attempt.to, attempt.status) = (Some(at), status);
                    attempt.error.clone_from(error);
                });
                self.end_node(node, at, status, error.as_ref());
                let session = self.node(node).and_then(Node::session);
                let attempts = session.map_or(1, |session| session.attempts.len() as u32);
                self.log(event, EntryKind::AttemptEnded(node, attempts - 1));
            }
            EventKind::Retrying { attempt, retries, delay_ms, error } => {
                self.retrying(event, *attempt, *retries, *delay_ms, error);
            }

            EventKind::ParallelStarted { branches, strategy, policy, is_loop, .. } => {
                let other = if strategy == "all" { String::new() } else { format!(", {strategy}") };
                let detail = format!("{}{other}", counted(branches.len(), "branch", "branches"));
                let label = if *is_loop { "parallel for" } else { "parallel" };
                let (strategy, policy) = (strategy.clone(), policy.clone());
                let kind = NodeKind::Parallel { branches: branches.as_slice().into(), strategy, policy };
                self.add(event, kind, label, &detail, Some(place.clone()), true);
            }
            EventKind::BranchStarted { index, name } => {
                self.add(event, NodeKind::Branch(*index), name, "", Some(place.clone()), false);
            }
            EventKind::BranchEnded { name, status, value, .. } => {
                let status = Status::from(*status);
                self.branch_ended(event, name, status, value);
                if status == Status::Skipped {
                    self.cancelled(event, at);
                }
                self.end_container(place, at, status);
            }
            EventKind::ParallelEnded { status, .. } => self.end_container(place, at, (*status).into()),

            EventKind::LoopStarted { kind, header, max } => {
                let name = match kind {
                    LoopKind::For => "for",
                    LoopKind::Repeat => "repeat",
                    LoopKind::Forever => "loop forever",
                    LoopKind::Until => "loop until",
                    LoopKind::While => "loop while",
                };
                let detail = max.filter(|_| *kind != LoopKind::Repeat);
                let detail = detail.map_or(String::new(), |max| format!("at most {max}"));
                let label = format_smolstr!("{name} {header}");
                let kind = NodeKind::Loop { kind: *kind, header: header.clone(), max: *max, iteration: None };
                self.add(event, kind, &label, &detail, Some(place.clone()), false);
            }
            EventKind::IterationStarted { number, max } => self.iteration_started(event, *number, *max),
            EventKind::LoopEnded { why, .. } => {
                let status = if *why == LoopEnd::Failed { Status::Failed } else { Status::Complete };
                let Some(id) = self.containers.get(place).copied() else { return };
                self.end_iteration(id, at, status);
                let note = match why {
                    LoopEnd::Satisfied => "condition met",
                    LoopEnd::NoProgress => "no progress",
                    LoopEnd::Max => "reached its limit",
                    LoopEnd::Exhausted => "",
                    LoopEnd::Left => "left",
                    LoopEnd::Failed => "failed",
                };
                self.change(id, |node| node.note = note.into());
                self.end_node(id, at, status, None);
            }

            EventKind::ConditionAsked { request, text, of } => {
                // The condition of a loop is judged between its iterations.
                let around = place.as_str().rfind("/i").map(|end| &place.as_str()[..end]);
                let of_loop = around.filter(|_| *of == ConditionOf::Loop);
                if let Some(id) = of_loop.and_then(|around| self.containers.get(around)).copied() {
                    self.end_iteration(id, at, Status::Complete);
                }
                let id = self.add(event, NodeKind::Condition, text, "", None, false);
                self.conditions.extend(request.map(|request| (request, id)));
                self.asked.insert(place.clone(), id);
            }
            EventKind::ConditionJudged { met, reason, of } => {
                let Some(id) = self.asked.remove(place) else { return };
                self.change(id, |node| node.note = noted(if *met { "yes" } else { "no" }, reason));
                self.end_node(id, at, Status::Complete, None);
                if *of != ConditionOf::Value {
                    self.log(event, EntryKind::Node(id));
                }
            }
            EventKind::Chosen { criterion, label, reason } => {
                self.tally.choices += 1;
                let id = self.add(event, NodeKind::Choice(label.clone()), criterion, "", None, true);
                // What it is in has the usage already.
                let usage = self.usage_of_choices.remove(place);
                self.change(id, |node| (node.note, node.usage) = (noted(label, reason), usage));
                self.end_node(id, at, Status::Complete, None);
            }
            EventKind::InputAsked { name, prompt, .. } => {
                let label = name.as_deref().unwrap_or_default();
                let id = self.add(event, NodeKind::Input, label, &shortened(prompt), None, true);
                self.asked.insert(place.clone(), id);
                self.inputs.push(id);
                self.change(id, |node| {
                    (node.status, node.waits_for) = (Status::Waiting, Some(WaitsFor::Input));
                });
                self.note_standing(id);
            }
            EventKind::InputGiven { value, .. } => {
                let Some(id) = self.asked.remove(place) else { return };
                self.change(id, |node| node.note = first_line(&value.to_string()));
                self.end_node(id, at, Status::Complete, None);
            }

            EventKind::FrameEntered { id, block, depth, parent, .. } => {
                let kind = NodeKind::Block { id: *id, depth: *depth, caller: *parent };
                let key = place.step(format_args!("f{id}"));
                self.add(event, kind, block, &format!("call {id}"), Some(key), true);
            }
            // Calls are numbered in each execution of a program, so that others may have the same number.
            EventKind::FrameLeft { id, status, .. } => {
                self.end_container(&place.step(format_args!("f{id}")), at, (*status).into());
            }
            EventKind::ImportCalled { program, alias, .. } => {
                let key = place.step(format_args!("m{program}"));
                self.add(event, NodeKind::Program(*program), alias, "", Some(key), true);
            }
            EventKind::ImportEnded { program, error, .. } => {
                let status = if error.is_some() { Status::Failed } else { Status::Complete };
                let key = place.step(format_args!("m{program}"));
                if let Some(id) = self.containers.get(&key).copied() {
                    self.end_node(id, at, status, error.as_ref());
                }
            }

            EventKind::PipelineStarted { stages, items } => {
                let items = counted(*items as usize, "item", "items");
                let detail = stages.iter().map(SmolStr::as_str).chain([items.as_str()]).collect::<Vec<_>>();
                self.add(
                    event,
                    NodeKind::Pipeline,
                    "pipeline",
                    &detail.join(", "),
                    Some(place.clone()),
                    false,
                );
            }
            EventKind::StageStarted { operator, items } => {
                let items = counted(*items as usize, "item", "items");
                self.add(event, NodeKind::Stage, operator, &items, Some(place.clone()), false);
            }
            EventKind::StageEnded { .. } => self.end_container(place, at, Status::Complete),

            EventKind::TryStarted => {
                self.add(event, NodeKind::Try, "try", "", Some(place.clone()), false);
            }
            EventKind::Caught { name, error } => {
                self.failing.clear();
                self.caught(place, error);
                let label = name.as_ref().map_or("catch".into(), |name| format_smolstr!("catch {name}"));
                let key = Some(place.step("catch"));
                self.add(event, NodeKind::Part, &label, &first_line(&error.message), key, true);
            }
            EventKind::FinallyStarted => {
                self.add(event, NodeKind::Part, "finally", "", Some(place.step("finally")), false);
            }
            EventKind::TryEnded { part, status } => {
                self.part_of_try_ended(place, *part, *status);
                match part {
                    TryPart::Body => {}
                    TryPart::Catch => self.end_container(&place.step("catch"), at, (*status).into()),
                    TryPart::Finally => self.end_container(&place.step("finally"), at, (*status).into()),
                }
            }

            EventKind::QuestionsOpen { questions } => self.questions_open(questions),
            EventKind::InputsReceived { .. }
            | EventKind::Imported { .. }
            | EventKind::Resolved { .. }
            | EventKind::Raised { .. }
            | EventKind::Commanded { .. }
            | EventKind::MemoryWritten { .. } => {}
        }
    }

    fn run_started(&mut self, event: &Event, head: &RunHead) {
        self.programs.insert(0, Program::new(head.program.clone(), "".into(), event.at));
        self.head = Some(Arc::new(head.clone()));
        self.harness.clone_from(&head.harness);
        self.add(event, NodeKind::Run, &head.program, "", None, false);
    }

    fn resumed(&mut self, event: &Event) {
        let at = self.time(event);
        self.end = None;
        self.change(NodeId::ROOT, |root| (root.status, root.to) = (Status::Running, None));
        self.questions_open(&[]);
        // The sessions that were open when the run stopped are asked once more.
        let now = self.clocks();
        for request in self.sessions.keys().copied().collect::<Vec<_>>() {
            self.change_attempt(request, |node, attempt| {
                (attempt.again, attempt.waited_before) = (Some(at), node.waiting.at(now).view);
                None
            });
        }
    }

    fn run_ended(&mut self, event: &Event, end: &RunEnd) {
        let at = self.time(event);
        if let (RunStatus::Failed, Some(error)) = (end.status, &end.error) {
            // The innermost of the statements that failed is where the error comes from. One that an imported program raises has no line here
            // but that of the call.
            let same = self.failing.iter().filter(|(_, raised)| raised == error).map(|(site, _)| *site);
            let innermost = same.min_by_key(|site| site.last_line - site.line);
            let site = innermost.or_else(|| self.failing.last().map(|(site, _)| *site));
            self.failure = site.map(|site| Failure { site, error: Arc::clone(error) });
        }
        let status = match end.status {
            RunStatus::Completed => Status::Complete,
            RunStatus::Failed => Status::Failed,
            RunStatus::Interrupted | RunStatus::Waiting => Status::Interrupted,
        };
        self.end = Some(Arc::new(end.clone()));
        self.tally.not_asked = end.not_asked;
        self.end_all(at, status, end.error.as_ref());
        self.change(NodeId::ROOT, |root| root.usage = end.usage.or(root.usage));
        self.log(event, EntryKind::Ended);
    }

    /// Ends what is open, because the run stopped without a last event.
    pub fn interrupt(&mut self) {
        if self.root().is_none_or(|root| root.to.is_some()) {
            return;
        }
        self.revision += 1;
        self.pause = None;
        self.end_all(self.now, Status::Interrupted, None);
    }

    fn end_all(&mut self, at: u64, status: Status, error: Option<&Arc<RuntimeError>>) {
        self.stop_executions("", at);
        self.memories.clear();
        self.conditions.clear();
        self.questioned.clear();
        // Requests at work have an expense; the others were never started.
        let never_started =
            |request: &RequestId| !self.used.contains_key(request) && !self.expenses.contains_key(request);
        let open = self.sessions.iter().filter(|(request, _)| never_started(request));
        let agents: Vec<_> = open.map(|(_, open)| AgentKey::Session(open.task.agent.clone())).collect();
        for agent in agents {
            self.change_agent(&agent, |agent| agent.requests = agent.requests.saturating_sub(1));
        }
        self.used.clear();
        self.end_node(NodeId::ROOT, at, status, error);
        // What a damaged journal puts into something that has ended.
        for node in self.sessions.values().map(|open| open.node).collect::<Vec<_>>() {
            self.end_node(node, at, Status::Skipped, None);
        }
    }

    fn log(&mut self, event: &Event, kind: EntryKind) {
        let entry = Entry { nesting: event.nesting, site: event.site, kind };
        self.entries.push(self.revision, entry);
    }
}

/// A result with its reason.
fn noted(result: &str, reason: &str) -> SmolStr {
    if reason.is_empty() { result.into() } else { shortened(&format!("{result}: {reason}")) }
}
