//! The events of a run, with what a debugger asks of them: which statement, call and branch each belongs to, and what every name is bound to after it.
//!
//! All of it is found without folding events again, so that a step back takes the same time everywhere in a long run.

mod growth;
mod variables;

use prose_vm::call_order::{CallOrder, has_orders};
use prose_vm::command::Command;
use prose_vm::effect::{RequestId, Usage};
use prose_vm::event::{Event, EventKind, RunHead};
use prose_vm::place::{Place, Site};
use prose_vm::value::Value;
use rustc_hash::FxHashMap;
use smol_str::{SmolStr, format_smolstr};

use self::variables::Bindings;
pub(crate) use self::variables::{Seen, Variable};

/// The number of a part of a run.
pub(crate) type NodeId = u32;

/// The run as a whole. It is also the thread and the scope of the program that was started.
pub(crate) const RUN: NodeId = 0;

/// A part of a run: a statement, or what statements run in.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) kind: NodeKind,
    pub(crate) parent: NodeId,
    /// The event that starts it.
    pub(crate) start: usize,
    /// The event that ends it, if that is known.
    pub(crate) end: Option<usize>,
    /// The branch it runs in, or [`RUN`].
    pub(crate) thread: NodeId,
    /// The call, the program or the branch that names are bound in.
    pub(crate) scope: NodeId,
    /// The execution id of the frame of that scope.
    frame: u32,
    /// The number of calls and programs around it.
    pub(crate) depth: u32,
    pub(crate) site: Option<Site>,
    /// The number of the program.
    pub(crate) program: u32,
    pub(crate) children: Vec<NodeId>,
    /// The names that are there in this part only, such as the item of an iteration.
    pub(crate) locals: Vec<(SmolStr, Value)>,
    /// The place of what is inside, while it is open.
    key: Option<Place>,
    /// What had that place before.
    shadowed: Option<NodeId>,
}

/// Kinds of parts.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum NodeKind {
    Run,
    Statement { source: SmolStr },
    Iteration { number: u32, max: Option<u32> },
    Branch { name: SmolStr },
    Call { block: SmolStr },
    Import { alias: SmolStr },
    Session { request: RequestId },
    Catch,
}

impl NodeKind {
    /// Whether it is shown as a frame of its own.
    pub(crate) fn is_frame(&self) -> bool {
        matches!(
            self,
            NodeKind::Run
                | NodeKind::Iteration { .. }
                | NodeKind::Branch { .. }
                | NodeKind::Call { .. }
                | NodeKind::Import { .. }
        )
    }
}

/// The source of a program of a run.
#[derive(Debug, Clone, Default)]
pub(crate) struct ProgramSource {
    /// Its name, such as `review.prose`.
    pub(crate) name: SmolStr,
    /// What it was read from: a path or an address.
    pub(crate) from: String,
    /// Its text, if it was imported.
    pub(crate) text: Option<std::sync::Arc<str>>,
}

/// The events of a run up to now.
#[derive(Debug, Default)]
pub(crate) struct Timeline {
    events: Vec<Event>,
    node_of: Vec<NodeId>,
    nodes: Vec<Node>,
    /// The open parts, by the place of what is inside of them.
    open: FxHashMap<Place, NodeId>,
    sessions: FxHashMap<RequestId, NodeId>,
    by_thread: FxHashMap<NodeId, Vec<usize>>,
    branches: Vec<NodeId>,
    /// The names of each scope, in the order in which they were first bound.
    names: FxHashMap<NodeId, Vec<SmolStr>>,
    bindings: FxHashMap<(NodeId, SmolStr), Bindings>,
    programs: FxHashMap<u32, ProgramSource>,
    /// Where imported programs come from, by the importing program and the name in it.
    imports: FxHashMap<(u32, SmolStr), String>,
    /// The total usage after each event that has some.
    used: Vec<(usize, Usage)>,
    /// The events with which sessions ended.
    ended: Vec<usize>,
    head: Option<Box<RunHead>>,
}

impl Timeline {
    /// The events.
    pub(crate) fn events(&self) -> &[Event] {
        &self.events
    }

    /// An event.
    pub(crate) fn event(&self, index: usize) -> Option<&Event> {
        self.events.get(index)
    }

    /// With what the run was started.
    pub(crate) fn head(&self) -> Option<&RunHead> {
        self.head.as_deref()
    }

    /// The part that an event belongs to.
    pub(crate) fn node_at(&self, index: usize) -> NodeId {
        self.node_of.get(index).copied().unwrap_or(RUN)
    }

    pub(crate) fn node(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(id as usize)
    }

    /// The branch that an event belongs to.
    pub(crate) fn thread_at(&self, index: usize) -> NodeId {
        self.node(self.node_at(index)).map_or(RUN, |node| node.thread)
    }

    /// The number of calls around an event.
    pub(crate) fn depth_at(&self, index: usize) -> u32 {
        self.node(self.node_at(index)).map_or(0, |node| node.depth)
    }

    /// Whether a part is another one or in it.
    pub(crate) fn is_within(&self, mut node: NodeId, outer: NodeId) -> bool {
        loop {
            if node == outer {
                return true;
            }
            if node == RUN {
                return false;
            }
            node = self.nodes[node as usize].parent;
        }
    }

    /// The branch around a branch.
    pub(crate) fn thread_around(&self, thread: NodeId) -> NodeId {
        self.node(thread).and_then(|node| self.node(node.parent)).map_or(RUN, |parent| parent.thread)
    }

    /// The branches at a point of the run, without the main one.
    pub(crate) fn branches_at(&self, index: usize) -> impl Iterator<Item = NodeId> {
        let until = self.branches.partition_point(|id| self.nodes[*id as usize].start <= index);
        self.branches[..until].iter().copied().filter(move |id| self.is_open(*id, index))
    }

    /// Whether a part has not ended at a point of the run.
    pub(crate) fn is_open(&self, node: NodeId, index: usize) -> bool {
        self.node(node).is_some_and(|node| node.end.is_none_or(|end| end > index))
    }

    /// The part that a branch is at.
    pub(crate) fn part_of_thread(&self, thread: NodeId, index: usize) -> NodeId {
        let events = self.by_thread.get(&thread).map(Vec::as_slice).unwrap_or_default();
        let last = events[..events.partition_point(|event| *event <= index)].last();
        let mut node = last.map_or(thread, |last| self.node_at(*last));
        // A part that has ended is left, except the one whose end is the very event.
        while node != thread && !self.is_open(node, index) && last.is_some_and(|last| *last < index) {
            node = self.nodes[node as usize].parent;
        }
        node
    }

    /// The innermost statement that a part is or is in.
    pub(crate) fn statement_of(&self, mut node: NodeId) -> NodeId {
        while node != RUN && !matches!(self.nodes[node as usize].kind, NodeKind::Statement { .. }) {
            node = self.nodes[node as usize].parent;
        }
        node
    }

    /// The program or the imported program that a part is in.
    pub(crate) fn root_of(&self, mut node: NodeId) -> NodeId {
        while let Some(here) = self.node(node) {
            if matches!(here.kind, NodeKind::Run | NodeKind::Import { .. }) {
                break;
            }
            node = here.parent;
        }
        node
    }

    /// The session of the statement that a part is in: the one at work, or the next one that is known.
    pub(crate) fn session_at(&self, node: NodeId, index: usize) -> Option<NodeId> {
        let is_session = |id: &NodeId| matches!(self.nodes[*id as usize].kind, NodeKind::Session { .. });
        if is_session(&node) {
            return Some(node);
        }
        let statement = self.node(self.statement_of(node))?;
        let mut sessions = statement.children.iter().copied().filter(is_session);
        let mut last = None;
        sessions
            .find(|id| {
                last = Some(*id);
                self.nodes[*id as usize].start >= index || self.is_open(*id, index)
            })
            .or(last)
    }

    /// The event with the outcome of a request, if it was before a point of the run.
    pub(crate) fn outcome_of(&self, request: RequestId, from: usize, until: usize) -> Option<&Event> {
        self.event(self.outcome_at(request, from).filter(|index| *index <= until)?)
    }

    /// The event with the outcome of a request that was made after the event `from`.
    pub(crate) fn outcome_at(&self, request: RequestId, from: usize) -> Option<usize> {
        let is_outcome =
            |event: &Event| matches!(&event.kind, EventKind::Effect { request: of, .. } if *of == request);
        self.events.get(from..)?.iter().position(is_outcome).map(|at| from + at)
    }

    /// The number of events up to one that the program has emitted, which another execution emits again in this order.
    pub(crate) fn count_until(&self, index: usize) -> usize {
        self.events.iter().take(index + 1).filter(|event| is_of_program(&event.kind)).count()
    }

    /// The event with that count.
    pub(crate) fn at_count(&self, count: usize) -> Option<usize> {
        let events = self.events.iter().enumerate().filter(|(_, event)| is_of_program(&event.kind));
        events.map(|(index, _)| index).nth(count.checked_sub(1)?)
    }

    /// The last event up to one that the program has emitted.
    pub(crate) fn last_of_program(&self, index: usize) -> usize {
        let events = self.events.iter().take(index + 1);
        events.into_iter().rposition(|event| is_of_program(&event.kind)).unwrap_or(index)
    }

    /// The last event with which variables change at the start of a statement because a person has set them; the event itself if none do.
    pub(crate) fn after_changes(&self, index: usize) -> usize {
        let Some(event) = self.event(index) else { return index };
        if !matches!(event.kind, EventKind::StatementStarted { .. }) {
            return index;
        }
        let before = self.head.iter().flat_map(|head| head.changed_variables());
        let mut calls = CallOrder::default();
        if before.clone().any(|changed| has_orders(&changed.place)) {
            self.events.iter().take(index).for_each(|event| calls.apply(event));
        }
        let mut bound = before.filter(|changed| calls.is_same(&changed.place, &event.place)).count();
        let mut last = index;
        for (at, next) in self.events.iter().enumerate().skip(index + 1) {
            match &next.kind {
                EventKind::VariableSet { .. } => bound += 1,
                EventKind::Bound { .. } if bound > 0 && next.place == event.place => bound -= 1,
                _ => break,
            }
            last = at;
        }
        last
    }

    /// The start of the statement, for an event with which variables change there; the event itself for any other.
    pub(crate) fn before_changes(&self, index: usize) -> usize {
        let mut at = index;
        while let Some(event) = self.event(at) {
            match &event.kind {
                EventKind::VariableSet { .. } | EventKind::Bound { .. } if at > 0 => at -= 1,
                EventKind::StatementStarted { .. } if self.after_changes(at) >= index => return at,
                _ => break,
            }
        }
        index
    }

    /// Whether a person has changed the prompt of a session after an event that has no outcome yet.
    pub(crate) fn has_prompts_after(&self, index: usize) -> bool {
        self.events.iter().enumerate().skip(index + 1).any(|(at, event)| match &event.kind {
            EventKind::Commanded { command: Command::Prompt { request, .. }, .. } => {
                self.outcome_at(*request, at).is_none()
            }
            _ => false,
        })
    }

    /// Whether more than what the program computes has happened after an event: something was answered, used or commanded.
    pub(crate) fn has_results_after(&self, index: usize) -> bool {
        self.events.iter().skip(index + 1).any(|event| {
            matches!(
                event.kind,
                EventKind::Effect { .. }
                    | EventKind::Expense(_)
                    | EventKind::Commanded { .. }
                    | EventKind::Answered(_)
                    | EventKind::MemoryWritten { .. }
            )
        })
    }

    /// The source of a program of the run.
    pub(crate) fn program(&self, number: u32) -> Option<&ProgramSource> {
        self.programs.get(&number)
    }

    /// The sources of all programs of the run, by number.
    pub(crate) fn programs(&self) -> Vec<(u32, &ProgramSource)> {
        let mut programs: Vec<_> = self.programs.iter().map(|(number, source)| (*number, source)).collect();
        programs.sort_by_key(|(number, _)| *number);
        programs
    }

    /// What was used up to a point of the run.
    pub(crate) fn used(&self, index: usize) -> Usage {
        let until = self.used.partition_point(|(event, _)| *event <= index);
        self.used[..until].last().map(|(_, usage)| *usage).unwrap_or_default()
    }

    /// The number of sessions that have ended up to a point of the run.
    pub(crate) fn sessions_ended(&self, index: usize) -> usize {
        self.ended.partition_point(|event| *event <= index)
    }

    /// What a part is called in the stack.
    pub(crate) fn title(&self, node: NodeId) -> SmolStr {
        let Some(node) = self.node(node) else { return SmolStr::default() };
        match &node.kind {
            NodeKind::Run => self.program(0).map(|program| program.name.clone()).unwrap_or_default(),
            NodeKind::Statement { source } => source.clone(),
            NodeKind::Iteration { number, max: Some(max) } => {
                format_smolstr!("iteration {number} of {max}")
            }
            NodeKind::Iteration { number, max: None } => format_smolstr!("iteration {number}"),
            NodeKind::Branch { name } => {
                format_smolstr!("branch {name}").replacen("branch branch", "branch", 1).into()
            }
            NodeKind::Call { block } => format_smolstr!("block {block}"),
            NodeKind::Import { alias } => format_smolstr!("program {alias}"),
            NodeKind::Session { .. } => "session".into(),
            NodeKind::Catch => "catch".into(),
        }
    }
}

/// Whether an event comes from the program, so that every execution with the same outcomes emits it.
fn is_of_program(kind: &EventKind) -> bool {
    kind.is_recorded()
        && !matches!(
            kind,
            EventKind::Expense(_)
                | EventKind::Commanded { .. }
                | EventKind::VariableSet { .. }
                | EventKind::QuestionsOpen { .. }
                | EventKind::Answered(_)
        )
}
