//! Folds events into a view.

use std::ops::Bound;
use std::sync::Arc;

use prose_vm::effect::{Binding, Outcome as Answer, RequestId, SessionTask, Usage};
use prose_vm::error::RuntimeError;
use prose_vm::event::{ConditionOf, Event, LoopEnd, LoopKind, RunEnd, RunHead, RunStatus, TryPart, What};
use prose_vm::place::{Place, Site};
use prose_vm::value::Value;
use smol_str::{SmolStr, format_smolstr};

use crate::node::{Attempt, Counts, Node, NodeId, NodeKind, Session, Span, Status, WaitsFor};
use crate::statement::{Execution, ExecutionId, Outcome, Statement};
use crate::text::{beginning, counted, first_line, shortened};
use crate::view::{BoundName, Entry, EntryKind, Failure, OpenSession, Program, View, is_in, nearest, outer};

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
        if let What::RunStarted(head) = &event.what {
            *self = Self { revision: self.revision, started_at: self.revision, ..Self::default() };
            self.run_started(event, head);
        }
        self.seq = self.seq.max(event.seq);
        self.now = self.now.max(event.active_at());
        self.paused = self.paused.max(event.paused);
        if let What::ImportCalled { program, alias, folder, .. } = &event.what {
            self.calls.insert(event.place.clone(), *program);
            self.programs.insert(*program, Program::new(alias.clone(), Arc::clone(folder), event.at));
        }
        let number = self.program_of(&event.place, event.site);
        if let Some(program) = self.programs.get_mut(&number) {
            program.updated = event.at;
            program.revision = self.revision;
        }
        self.take(event, number);
    }

    fn take(&mut self, event: &Event, number: u32) {
        let at = event.active_at();
        let place = &event.place;
        match &event.what {
            What::RunStarted(head) => self.log(event, EntryKind::Started(head.harness.clone())),
            What::Resumed { harness } => {
                self.harness.clone_from(harness);
                self.resumed(event);
                self.log(event, EntryKind::Resumed(harness.clone()));
            }
            What::RunEnded(end) => self.run_ended(event, end),
            What::Defined { name, agents, .. } => {
                if let Some(program) = self.programs.get_mut(&number) {
                    program.name = name.clone();
                    program.agents = agents.clone();
                }
            }
            What::Bound { binding, value, .. } => self.bound(event, number, binding, value),
            What::OutputGiven { value, .. } => self.give(place, value, None),
            What::Warning { message } => {
                self.log(event, EntryKind::Warning(shortened(message).as_str().into()))
            }

            What::StatementStarted { source, .. } => self.statement_started(event, source),
            What::StatementEnded { status, error } => {
                let status = Status::from(*status);
                if let Some(id) = self.running.get(place).copied() {
                    self.statement_ended(id, at, status, error.as_ref());
                }
                self.end_at(place, at, status);
            }

            What::SessionStarted { request, task } => self.session_started(event, *request, task),
            What::Queued { request } => self.change_attempt(*request, |node, attempt| {
                attempt.queued = true;
                node.waits_for = Some(WaitsFor::Agent);
                Some(Status::Waiting)
            }),
            What::Begun { request } => self.change_attempt(*request, |node, attempt| {
                (attempt.queued, attempt.began) = (false, Some(at));
                node.waits_for = None;
                Some(Status::Running)
            }),
            What::MemoryAwaited { request, agent } => {
                self.memories.insert(*request, agent.clone());
                self.log(event, EntryKind::MemoryAwaited(agent.clone()));
            }
            What::MemoryAcquired { request } => drop(self.memories.remove(request)),
            What::Effect { request, outcome, began, .. } => self.answered(event, *request, outcome, *began),
            What::SessionEnded { request, status, error } => {
                self.sessions_ended += 1;
                let Some(open) = self.sessions.get(request) else { return };
                let (node, status) = (open.node, Status::from(*status));
                self.change_attempt(*request, |_, attempt| {
                    (attempt.to, attempt.status) = (Some(at), status);
                    attempt.error.clone_from(error);
                    None
                });
                self.end_node(node, at, status, error.as_ref());
                let session = self.node(node).and_then(Node::session);
                let attempts = session.map_or(1, |session| session.attempts.len() as u32);
                self.log(event, EntryKind::AttemptEnded(node, attempts - 1));
            }
            What::Retrying { attempt, retries, delay_ms, .. } => {
                self.retrying(event, *attempt, *retries, *delay_ms);
            }

            What::ParallelStarted { branches, strategy, is_loop, .. } => {
                let other = if strategy == "all" { String::new() } else { format!(", {strategy}") };
                let detail = format!("{}{other}", counted(branches.len(), "branch", "branches"));
                let label = if *is_loop { "parallel for" } else { "parallel" };
                let kind =
                    NodeKind::Parallel { branches: branches.as_slice().into(), strategy: strategy.clone() };
                self.add(event, kind, label, &detail, Some(place.clone()), true);
            }
            What::BranchStarted { index, name } => {
                self.add(event, NodeKind::Branch(*index), name, "", Some(place.clone()), false);
            }
            What::BranchEnded { status, .. } => {
                let status = Status::from(*status);
                if status == Status::Skipped {
                    self.cancelled(event, at);
                }
                self.end_container(place, at, status);
            }
            What::ParallelEnded { status, .. } => self.end_container(place, at, (*status).into()),

            What::LoopStarted { kind, header, max } => {
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
            What::IterationStarted { number, max } => self.iteration_started(event, *number, *max),
            What::LoopEnded { why, .. } => {
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

            What::ConditionAsked { text, of, .. } => {
                // The condition of a loop is judged between its iterations.
                let around = place.as_str().rfind("/i").map(|end| &place.as_str()[..end]);
                let of_loop = around.filter(|_| *of == ConditionOf::Loop);
                if let Some(id) = of_loop.and_then(|around| self.containers.get(around)).copied() {
                    self.end_iteration(id, at, Status::Complete);
                }
                let id = self.add(event, NodeKind::Condition, text, "", None, false);
                self.asked.insert(place.clone(), id);
            }
            What::ConditionJudged { met, reason, of } => {
                let Some(id) = self.asked.remove(place) else { return };
                self.change(id, |node| node.note = noted(if *met { "yes" } else { "no" }, reason));
                self.end_node(id, at, Status::Complete, None);
                if *of != ConditionOf::Value {
                    self.log(event, EntryKind::Node(id));
                }
            }
            What::Chosen { criterion, label, reason } => {
                let id = self.add(event, NodeKind::Choice(label.clone()), criterion, "", None, true);
                self.change(id, |node| node.note = noted(label, reason));
                self.end_node(id, at, Status::Complete, None);
            }
            What::InputAsked { name, prompt, .. } => {
                let label = name.as_deref().unwrap_or_default();
                let id = self.add(event, NodeKind::Input, label, &shortened(prompt), None, true);
                self.asked.insert(place.clone(), id);
                self.inputs.push(id);
                self.change(id, |node| {
                    (node.status, node.waits_for) = (Status::Waiting, Some(WaitsFor::Input));
                });
            }
            What::InputGiven { value, .. } => {
                let Some(id) = self.asked.remove(place) else { return };
                self.change(id, |node| node.note = first_line(&value.to_string()));
                self.end_node(id, at, Status::Complete, None);
            }

            What::FrameEntered { id, block, depth, parent, .. } => {
                let kind = NodeKind::Block { id: *id, depth: *depth, caller: *parent };
                let key = place.step(format_args!("f{id}"));
                let node = self.add(event, kind, block, &format!("call {id}"), Some(key), true);
                self.frames.insert(*id, node);
            }
            What::FrameLeft { id, status, .. } => {
                if let Some(node) = self.frames.remove(id) {
                    self.end_node(node, at, (*status).into(), None);
                }
            }
            What::ImportCalled { program, alias, .. } => {
                let key = place.step(format_args!("m{program}"));
                self.add(event, NodeKind::Program(*program), alias, "", Some(key), true);
            }
            What::ImportEnded { program, error, .. } => {
                let status = if error.is_some() { Status::Failed } else { Status::Complete };
                let key = place.step(format_args!("m{program}"));
                if let Some(id) = self.containers.get(&key).copied() {
                    self.end_node(id, at, status, error.as_ref());
                }
            }

            What::PipelineStarted { stages, items } => {
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
            What::StageStarted { operator, items } => {
                let items = counted(*items as usize, "item", "items");
                self.add(event, NodeKind::Stage, operator, &items, Some(place.clone()), false);
            }
            What::StageEnded { .. } => self.end_container(place, at, Status::Complete),

            What::TryStarted => {
                self.add(event, NodeKind::Try, "try", "", Some(place.clone()), false);
            }
            What::Caught { name, error } => {
                self.failing.clear();
                let label = name.as_ref().map_or("catch".into(), |name| format_smolstr!("catch {name}"));
                let key = Some(place.step("catch"));
                self.add(event, NodeKind::Part, &label, &first_line(&error.message), key, true);
            }
            What::FinallyStarted => {
                self.add(event, NodeKind::Part, "finally", "", Some(place.step("finally")), false);
            }
            What::TryEnded { part, status } => match part {
                TryPart::Body => {}
                TryPart::Catch => self.end_container(&place.step("catch"), at, (*status).into()),
                TryPart::Finally => self.end_container(&place.step("finally"), at, (*status).into()),
            },

            What::InputsReceived { .. }
            | What::Imported { .. }
            | What::Resolved { .. }
            | What::Raised { .. }
            | What::MemoryWritten { .. } => {}
        }
    }

    fn run_started(&mut self, event: &Event, head: &RunHead) {
        self.programs.insert(0, Program::new(head.program.clone(), "".into(), event.at));
        self.head = Some(Arc::new(head.clone()));
        self.harness.clone_from(&head.harness);
        self.add(event, NodeKind::Run, &head.program, "", None, false);
    }

    fn resumed(&mut self, event: &Event) {
        let at = event.active_at();
        self.end = None;
        self.change(NodeId::ROOT, |root| (root.status, root.to) = (Status::Running, None));
        // The sessions that were open when the run stopped are asked once more.
        for request in self.sessions.keys().copied().collect::<Vec<_>>() {
            self.change_attempt(request, |_, attempt| {
                attempt.again = Some(at);
                None
            });
        }
    }

    fn run_ended(&mut self, event: &Event, end: &RunEnd) {
        let at = event.active_at();
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
            RunStatus::Interrupted => Status::Interrupted,
        };
        self.end = Some(Arc::new(end.clone()));
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
        self.end_all(self.now, Status::Interrupted, None);
    }

    fn end_all(&mut self, at: u64, status: Status, error: Option<&Arc<RuntimeError>>) {
        self.stop_executions("", at);
        self.memories.clear();
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

    // Nodes.

    /// The node that something at a place is in.
    fn around(&self, place: &str) -> NodeId {
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

    fn add(
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
            last_child: None,
            previous,
            label: first_line(label),
            detail: detail.into(),
            place: event.place.clone(),
            site: event.site,
            program: self.program_of(&event.place, event.site),
            nesting: event.nesting,
            status: Status::Running,
            waits_for: None,
            from: event.active_at(),
            to: None,
            note: SmolStr::default(),
            error: None,
            usage: None,
            sessions: Counts::default(),
            key: key.clone(),
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
        id
    }

    fn change<T>(&mut self, id: NodeId, change: impl FnOnce(&mut Node) -> T) -> Option<T> {
        self.nodes.get_mut(self.revision, id.0 as usize).map(change)
    }

    /// Changes a node and all that it is in.
    fn change_upwards(&mut self, id: NodeId, mut change: impl FnMut(&mut Node)) {
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

    fn set_status(&mut self, id: NodeId, status: Status) {
        let Some(node) = self.node(id) else { return };
        let (before, is_session) = (node.status, node.session().is_some());
        if before == status {
            return;
        }
        if is_session {
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
    fn end_node(&mut self, id: NodeId, at: u64, status: Status, error: Option<&Arc<RuntimeError>>) {
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

    fn close(&mut self, id: NodeId, at: u64, status: Status, error: Option<&Arc<RuntimeError>>) {
        let closed = self.change(id, |node| {
            (node.to, node.waits_for) = (Some(at), None);
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
            self.sessions.remove(&request);
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

    fn end_container(&mut self, key: &Place, at: u64, status: Status) {
        if let Some(id) = self.containers.get(key).copied() {
            self.end_node(id, at, status, None);
        }
    }

    /// Ends what a statement leaves open, such as a pipeline, which has no end of its own.
    fn end_at(&mut self, place: &Place, at: u64, status: Status) {
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

    fn iteration_started(&mut self, event: &Event, number: u32, max: Option<u32>) {
        let is_loop = |id: &NodeId| matches!(self.node(*id), Some(Node { kind: NodeKind::Loop { .. }, .. }));
        let around =
            nearest(event.place.as_str(), |place| self.containers.get(place).copied().filter(is_loop));
        let Some(id) = around else { return };
        let Some(place) = self.node(id).map(|node| node.place.clone()) else { return };
        self.end_iteration(id, event.active_at(), Status::Complete);
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

    fn end_iteration(&mut self, id: NodeId, at: u64, status: Status) {
        if let Some(NodeKind::Loop { iteration: Some(last), .. }) = self.node(id).map(|node| &node.kind) {
            self.end_node(*last, at, status, None);
        }
    }

    fn cancelled(&mut self, event: &Event, at: u64) {
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

    // Sessions.

    fn session_started(&mut self, event: &Event, request: RequestId, task: &Arc<SessionTask>) {
        let at = event.active_at();
        let attempt = Attempt {
            request,
            from: at,
            again: None,
            began: None,
            queued: false,
            to: None,
            status: Status::Running,
            error: None,
        };
        let before = (task.attempt > 0).then(|| self.asked.get(base(&event.place)).copied()).flatten();
        let node = before.unwrap_or_else(|| {
            let session = Session {
                agent: task.agent.clone(),
                model: task.model.clone(),
                name: task.binding.name.clone(),
                file: Arc::clone(&task.binding.path),
                retries: task.retries,
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
        let count = self.change(node, |node| {
            (node.to, node.error, node.waits_for) = (None, None, None);
            let Some(session) = node.session_mut() else { return 0 };
            if let Some(pause) = session.pauses.last_mut() {
                pause.to.get_or_insert(at);
            }
            session.attempts.push(attempt);
            session.attempts.len() as u32
        });
        self.set_status(node, Status::Running);
        self.sessions.insert(request, OpenSession { node, task: Arc::clone(task) });
        self.log(event, EntryKind::Attempt(node, count.unwrap_or(1) - 1));
    }

    fn retrying(&mut self, event: &Event, attempt: u32, retries: u32, delay: u64) {
        if let Some(index) = self.execution_around(&event.place).map(|execution| execution.statement)
            && let Some(statement) = self.statements.get_mut(self.revision, index)
        {
            statement.retrying = Some((attempt, retries));
        }
        let Some(id) = self.asked.get(base(&event.place)).copied() else { return };
        self.change(id, |node| {
            (node.to, node.waits_for) = (None, Some(WaitsFor::Retry));
            if let Some(session) = node.session_mut() {
                session.pauses.push(Span { from: event.active_at(), to: None });
            }
        });
        self.set_status(id, Status::Waiting);
        if delay > 0 {
            self.log(event, EntryKind::Pause(id, delay));
        }
    }

    /// Changes the open attempt of a request, and its node to the status that comes of it.
    fn change_attempt(
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

    fn answered(&mut self, event: &Event, request: RequestId, outcome: &Answer, began: Option<u64>) {
        let Some(node) = self.sessions.get(&request).map(|open| open.node) else { return };
        self.change_attempt(request, |node, attempt| {
            attempt.began = began.map(|at| at.saturating_sub(event.paused)).or(attempt.began);
            attempt.queued = false;
            if let Answer::Reply(reply) = outcome {
                node.note = first_line(&reply.text);
            }
            None
        });
        let Answer::Reply(reply) = outcome else { return };
        let Some(usage) = reply.usage else { return };
        self.change_upwards(node, |node| node.usage = Usage::sum([node.usage, Some(usage)]));
    }

    // Statements.

    fn execution_around(&self, place: &Place) -> Option<&Execution> {
        let id = nearest(place.as_str(), |place| self.running.get(place).copied())?;
        self.execution(id)
    }

    fn change_execution<T>(
        &mut self,
        id: ExecutionId,
        change: impl FnOnce(&mut Execution, &mut Statement) -> T,
    ) -> Option<T> {
        let execution = self.executions.get_mut(self.revision, id.0 as usize)?;
        let statement = self.statements.get_mut(self.revision, execution.statement)?;
        Some(change(execution, statement))
    }

    fn statement_started(&mut self, event: &Event, source: &SmolStr) {
        self.current = Some(source.clone());
        let Some(site) = event.site else { return };
        let place = &event.place;
        let index = match self.statement_of.get(&(site.program, site.line, site.start, site.end)) {
            Some(index) => *index,
            None => {
                let index = self.statements.push(self.revision, Statement::new(site));
                self.statement_of.insert((site.program, site.line, site.start, site.end), index);
                index
            }
        };
        let around = outer(place.as_str())
            .and_then(|outer| nearest(outer, |place| self.running.get(place).copied()))
            .filter(|id| {
                let around = self.execution(*id).and_then(|around| self.statement_of(around));
                around.is_some_and(|around| around.site.program == site.program)
            });
        if let Some(around) = around {
            // The innermost statements are those that are executed; the ones around them wait.
            self.change_execution(around, |around, statement| {
                if around.inside == 0 {
                    statement.innermost = statement.innermost.saturating_sub(1);
                }
                around.inside += 1;
            });
        }
        let id = ExecutionId(self.executions.len() as u32);
        let execution = Execution {
            statement: index,
            place: place.clone(),
            node: self.around(place.as_str()),
            around,
            inside: 0,
            status: Status::Running,
            from: event.active_at(),
            to: None,
            value: SmolStr::default(),
            file: None,
        };
        self.executions.push(self.revision, execution);
        self.change_execution(id, |execution, statement| {
            statement.times += 1;
            statement.running += 1;
            statement.innermost += 1;
            statement.started = execution.from;
        });
        self.running.insert(place.clone(), id);
        if let Some(program) = self.programs.get_mut(&site.program) {
            program.position = program.position.max(site.line);
        }
    }

    fn statement_ended(
        &mut self,
        id: ExecutionId,
        at: u64,
        status: Status,
        error: Option<&Arc<RuntimeError>>,
    ) {
        let outcome = |execution: &Execution| {
            let took = at.saturating_sub(execution.from);
            match status {
                Status::Failed => Outcome::Failed { took, error: error.cloned() },
                Status::Skipped => Outcome::Stopped,
                _ => Outcome::Done { took, value: execution.value.clone() },
            }
        };
        let site = self.close_execution(id, at, status, outcome, true);
        if let (Some(site), Some(error)) = (site, error)
            && site.program == 0
        {
            self.failing.push((site, Arc::clone(error)));
        }
    }

    /// Stops the open executions at a place and in it, the innermost ones first.
    fn stop_executions(&mut self, place: &str, at: u64) {
        let from = (Bound::Included(place), Bound::Unbounded);
        let open = self.running.range::<str, _>(from);
        // Places in a place follow it, among others that only begin with the same letters.
        let near = open.take_while(|(open, _)| open.as_str().starts_with(place));
        let inside: Vec<_> =
            near.filter(|(open, _)| is_in(open.as_str(), place)).map(|(_, id)| *id).collect();
        for id in inside.into_iter().rev() {
            let site = self.close_execution(id, at, Status::Skipped, |_| Outcome::Stopped, false);
            let program = site.and_then(|site| self.programs.get_mut(&site.program));
            if let Some(program) = program {
                (program.updated, program.revision) = (at + self.paused, self.revision);
            }
        }
    }

    fn close_execution(
        &mut self,
        id: ExecutionId,
        at: u64,
        status: Status,
        outcome: impl FnOnce(&Execution) -> Outcome,
        is_own_end: bool,
    ) -> Option<Site> {
        let revision = self.revision;
        let (place, around, site) = self.change_execution(id, |execution, statement| {
            (execution.status, execution.to) = (status, Some(at));
            statement.outcome = Some(outcome(execution));
            statement.ended_at = revision;
            statement.retrying = None;
            statement.running = statement.running.saturating_sub(1);
            statement.ended += u32::from(is_own_end);
            statement.took += at.saturating_sub(execution.from);
            match status {
                Status::Failed => statement.failed += 1,
                Status::Complete => statement.complete += 1,
                _ => {}
            }
            // Statements inside that were given up do not always end by themselves.
            if execution.inside == 0 {
                statement.innermost = statement.innermost.saturating_sub(1);
            }
            (execution.place.clone(), execution.around, statement.site)
        })?;
        self.running.remove(&place);
        if let Some(around) = around {
            self.change_execution(around, |around, statement| {
                let was_outer = around.inside > 0 && around.to.is_none();
                around.inside = around.inside.saturating_sub(1);
                statement.innermost += u32::from(was_outer && around.inside == 0);
            });
        }
        Some(site)
    }

    /// Takes up the value of a statement.
    fn give(&mut self, place: &Place, value: &Value, file: Option<&Arc<str>>) {
        let Some(id) = self.running.get(place).copied() else { return };
        self.change_execution(id, |execution, _| {
            execution.value = beginning(&value.to_string());
            execution.file = file.cloned();
        });
    }

    fn bound(&mut self, event: &Event, number: u32, binding: &Binding, value: &Value) {
        self.give(&event.place, value, Some(&binding.path));
        let revision = self.revision;
        // A program that was imported binds its inputs before its first statement, in the call of another program.
        let statement = self.execution_around(&event.place).map(|execution| execution.statement);
        let is_own = |index: &usize| {
            self.statements.get(*index).is_some_and(|statement| statement.site.program == number)
        };
        if let Some(index) = statement.filter(is_own)
            && let Some(statement) = self.statements.get_mut(revision, index)
        {
            statement.file = Some((Arc::clone(&binding.path), revision));
        }
        if let Some(program) = self.programs.get_mut(&number) {
            program.bind(BoundName { binding: binding.clone(), seq: event.seq });
        }
    }
}

impl Program {
    fn new(name: SmolStr, folder: Arc<str>, at: u64) -> Self {
        Self {
            name,
            folder,
            started: at,
            updated: at,
            revision: 0,
            position: 0,
            agents: Vec::new(),
            names: Vec::new(),
            index_of_name: Default::default(),
        }
    }

    fn bind(&mut self, name: BoundName) {
        let key = (name.binding.name.clone(), name.binding.frame);
        match self.index_of_name.get(&key).copied() {
            // What a branch has bound belongs to the frame after the join (F22), in a file of that frame.
            Some(index) => self.names[index] = name,
            None => {
                self.index_of_name.insert(key, self.names.len());
                self.names.push(name);
            }
        }
    }
}

/// The place of a session without the step of its retry.
fn base(place: &Place) -> &str {
    let place = place.as_str();
    match place.rsplit_once("/a") {
        Some((base, retry)) if !retry.is_empty() && retry.bytes().all(|byte| byte.is_ascii_digit()) => base,
        _ => place,
    }
}

/// A result with its reason.
fn noted(result: &str, reason: &str) -> SmolStr {
    if reason.is_empty() { result.into() } else { shortened(&format!("{result}: {reason}")) }
}
