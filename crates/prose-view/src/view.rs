//! What the view of a run holds, and how it is read.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use prose_vm::activity::{Denial, PermissionQuestion, ProviderRetry};
use prose_vm::command::Pause;
use prose_vm::effect::{Binding, RequestId, SessionTask, Usage};
use prose_vm::error::RuntimeError;
use prose_vm::event::{DefinedAgent, RunEnd, RunHead};
use prose_vm::place::{NamedLine, Place, Site};
use prose_vm::program_names::{ImportedProgram, ProgramNames};
use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use crate::activity::NodeActivity;
use crate::agent::{AgentKey, AgentTotal};
use crate::census::{Handled, MissingResult, OpenTry, Tally};
use crate::node::{Attempt, Node, NodeId, NodeKind};
use crate::statement::{Execution, ExecutionId, Statement};
use crate::times::{Times, Waits};
use crate::versioned::Versioned;

/// The view of a run after an event. A clone is cheap: it shares with the original what neither of them changes later.
#[derive(Debug, Clone, Default)]
pub struct View {
    pub(crate) revision: u64,
    /// The revision at which the run started, or was repeated from its start.
    pub(crate) started_at: u64,
    pub(crate) seq: u64,
    pub(crate) now: u64,
    pub(crate) paused: u64,
    pub(crate) waits: Waits,
    /// For how long the run was stopped without waiting for people, each time.
    pub(crate) stops: Vec<u64>,
    pub(crate) head: Option<Arc<RunHead>>,
    /// The harness that answers now; that of the start, until the run is resumed with another one.
    pub(crate) harness: SmolStr,
    pub(crate) end: Option<Arc<RunEnd>>,
    pub(crate) pause: Option<Pause>,
    pub(crate) nodes: Versioned<Node>,
    pub(crate) executions: Versioned<Execution>,
    pub(crate) statements: Versioned<Statement>,
    pub(crate) entries: Versioned<Entry>,
    pub(crate) activities: Versioned<NodeActivity>,
    pub(crate) agents: Versioned<AgentTotal>,
    pub(crate) agent_of: BTreeMap<AgentKey, usize>,
    /// The indices of statements by program, line and bytes.
    pub(crate) statement_of: BTreeMap<(u32, u32, u32, u32), usize>,
    pub(crate) programs: BTreeMap<u32, Program>,
    pub(crate) program_names: ProgramNames,
    pub(crate) sessions_ended: u32,
    /// The source of the statement that started last.
    pub(crate) current: Option<SmolStr>,
    pub(crate) failing: Vec<(Site, Arc<RuntimeError>)>,
    pub(crate) failure: Option<Failure>,

    // What is open, by how events name it.
    pub(crate) containers: FxHashMap<Place, NodeId>,
    /// Those of the containers that have not ended.
    pub(crate) constructs: BTreeSet<NodeId>,
    pub(crate) asked: FxHashMap<Place, NodeId>,
    pub(crate) inputs: Vec<NodeId>,
    /// The sessions and conditions that wait for a permission or at a limit, as far as it is recorded.
    pub(crate) questioned: BTreeSet<NodeId>,
    pub(crate) sessions: BTreeMap<RequestId, OpenSession>,
    /// The cancelled sessions, whose usage may be reported later.
    pub(crate) cancelled: BTreeMap<RequestId, NodeId>,
    pub(crate) memories: BTreeMap<RequestId, SmolStr>,
    pub(crate) calls: FxHashMap<Place, u32>,
    pub(crate) running: BTreeMap<Place, ExecutionId>,
    /// The conditions that are being judged.
    pub(crate) conditions: BTreeMap<RequestId, NodeId>,
    /// What open requests have used, as far as reported.
    pub(crate) used: BTreeMap<RequestId, Usage>,
    /// What requests have used that were cancelled or interrupted.
    pub(crate) expenses: BTreeMap<RequestId, Usage>,
    /// The usage of choices that have no node yet.
    pub(crate) usage_of_choices: FxHashMap<Place, Usage>,
    /// The activities of open nodes, and those that no node has any more.
    pub(crate) activity_of: BTreeMap<NodeId, usize>,
    pub(crate) free_activities: Vec<usize>,
    /// The nodes in which a tool call was denied.
    pub(crate) denied: BTreeSet<NodeId>,

    // For the census.
    pub(crate) tally: Tally,
    /// The failures that the program handled, with those that were raised again later.
    pub(crate) handled: Versioned<Handled>,
    /// The `try` statements in which something failed.
    pub(crate) tries: FxHashMap<Place, OpenTry>,
    /// The error of the statement that failed last.
    pub(crate) last_failed: Option<Arc<RuntimeError>>,
    /// What has no value because of a failure, by the program, the frame and the name.
    pub(crate) missing: BTreeMap<(u32, u32, SmolStr), MissingResult>,
}

#[derive(Debug, Clone)]
pub(crate) struct OpenSession {
    pub(crate) node: NodeId,
    pub(crate) task: Arc<SessionTask>,
}

/// An execution of a program: that of the run, or of one that it imports.
#[derive(Debug, Default, Clone)]
pub struct Program {
    /// Its name, such as `review.prose`; until its definitions are collected, the name in the `use` line.
    pub name: SmolStr,
    /// The folder of its files, relative to the folder of the run; empty for the program of the run.
    pub folder: Arc<str>,
    /// When it started, in milliseconds since 1970.
    pub started: u64,
    /// The revision at which it was called; 0 for the program of the run.
    pub(crate) called_at: u64,
    /// When something last happened in it, in milliseconds since 1970.
    pub updated: u64,
    /// The revision at which something last happened in it.
    pub revision: u64,
    /// The last line that execution has come to.
    pub position: u32,
    /// The agents that it defines.
    pub agents: Vec<DefinedAgent>,
    /// The names that have a value, in the order in which they got the first one.
    pub names: Vec<BoundName>,
    pub(crate) index_of_name: FxHashMap<(SmolStr, u32), usize>,
}

/// A name with a value.
#[derive(Debug, Clone)]
pub struct BoundName {
    /// What is bound, and the file with the value.
    pub binding: Binding,
    /// The number of the event that has the value.
    pub seq: u64,
}

/// Something that a log of the run shows in a line of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// How deep it is nested in statements and frames.
    pub nesting: u32,
    /// Where in the text.
    pub site: Option<Site>,
    /// What it is.
    pub kind: EntryKind,
}

/// What an entry of the log is about.
#[derive(Debug, Clone, PartialEq)]
pub enum EntryKind {
    /// The run started, with this harness.
    Started(SmolStr),
    /// The run continues after what was recorded, with this harness.
    Resumed(SmolStr),
    /// A session started an attempt, with the index of the attempt.
    Attempt(NodeId, u32),
    /// An attempt of a session ended.
    AttemptEnded(NodeId, u32),
    /// A session waits before a retry, for so many milliseconds.
    Pause(NodeId, u64),
    /// A construct started, an option was chosen, a condition was judged, an input was asked for.
    Node(NodeId),
    /// A branch was cancelled.
    Cancelled(NodeId),
    /// A session waits for the memory of this agent.
    MemoryAwaited(SmolStr),
    /// A warning.
    Warning(Arc<str>),
    /// A tool call of a session or a decision was denied.
    Denied(NodeId, Denial),
    /// An agent asks for permission.
    Asked(NodeId, PermissionQuestion),
    /// The provider of a session failed and is tried again.
    ProviderRetry(NodeId, ProviderRetry),
    /// A session has reported nothing for so many milliseconds.
    Stalled(NodeId, u64),
    /// The run ended, for now if it was interrupted.
    Ended,
}

/// Where and why a run failed.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// The statement of the program of the run that failed.
    pub site: Site,
    /// The error.
    pub error: Arc<RuntimeError>,
}

impl View {
    /// The number of events that were folded, with those that are not recorded. Later views of the run have greater ones.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The number of the last event.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// The time of the last event.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// What the time of the run was taken up by.
    pub fn times(&self) -> Times {
        let work = self.root().map_or(0, |root| root.to.unwrap_or(self.now).saturating_sub(root.from));
        let waiting = self.waits.attended + self.waits.unattended;
        Times { work, waiting, stopped: self.paused.saturating_sub(self.waits.unattended) }
    }

    /// What the time of a part of the run was taken up by.
    pub fn times_of(&self, node: &Node) -> Times {
        let waited = node.waiting.at(self.clocks());
        let first = node.session().and_then(|session| session.attempts.first());
        let from = first.and_then(|attempt| attempt.began).unwrap_or(node.from);
        let whole = node.to.unwrap_or(self.now).saturating_sub(from);
        Times {
            work: whole.saturating_sub(waited.view),
            waiting: waited.whole,
            stopped: self.stopped_within(node),
        }
    }

    /// For how long the run was stopped between the start and the end of a part.
    pub(crate) fn stopped_within(&self, node: &Node) -> u64 {
        let end = if node.to.is_some() { node.stops_at_end } else { self.stops.len() };
        self.stops.get(node.stops_at_start..end).unwrap_or_default().iter().sum()
    }

    /// How long an attempt of a session took up to now: without the time in which it waited for an agent or a person, or ran before the run was resumed.
    pub fn work_of(&self, node: &Node, attempt: &Attempt) -> u64 {
        let from = attempt.started().max(attempt.began.unwrap_or_default());
        let waited = if attempt.to.is_some() { attempt.waited } else { self.waited_by(node) };
        attempt.to.unwrap_or(self.now).saturating_sub(from).saturating_sub(waited)
    }

    /// How long the last attempt in a node has waited for people, on the clock of the view.
    pub(crate) fn waited_by(&self, node: &Node) -> u64 {
        let last = node.session().and_then(|session| session.attempts.last());
        let before = last.map_or(0, |attempt| attempt.waited_before);
        node.waiting.at(self.clocks()).view.saturating_sub(before)
    }

    /// What the run is; none before its first event.
    pub fn head(&self) -> Option<&RunHead> {
        self.head.as_deref()
    }

    /// How the run ended, if it did.
    pub fn end(&self) -> Option<&RunEnd> {
        self.end.as_deref()
    }

    /// The node of the run; none before its first event.
    pub fn root(&self) -> Option<&Node> {
        self.node(NodeId::ROOT)
    }

    /// A node.
    pub fn node(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(id.0 as usize)
    }

    /// All nodes, each after the one that it is in.
    pub fn nodes(&self) -> impl DoubleEndedIterator<Item = (NodeId, &Node)> {
        let ids = (0..self.nodes.len() as u32).map(NodeId);
        // The iterator of a list of chunks has no length of its own.
        ids.filter_map(|id| Some((id, self.node(id)?)))
    }

    /// The nodes directly in a node, the last one first.
    pub fn children(&self, id: NodeId) -> impl Iterator<Item = (NodeId, &Node)> {
        let mut next = self.node(id).and_then(|node| node.last_child);
        std::iter::from_fn(move || {
            let id = next?;
            let node = self.node(id)?;
            next = node.previous;
            Some((id, node))
        })
    }

    /// The nodes of a program that are open and can have others in them, in the order of their places.
    pub fn open_constructs(&self, program: u32) -> Vec<(NodeId, &Node)> {
        let found = self.constructs.iter().filter_map(|id| Some((*id, self.node(*id)?)));
        let mut found: Vec<_> = found.filter(|(_, node)| node.program == program).collect();
        found.sort_by(|(_, a), (_, b)| a.place.cmp(&b.place));
        found
    }

    /// The statements that were executed at least once, in the order of programs and their texts.
    pub fn statements(&self, program: u32) -> impl Iterator<Item = &Statement> {
        let indices = self.statement_of.range((program, 0, 0, 0)..=(program, u32::MAX, u32::MAX, u32::MAX));
        indices.filter_map(|(_, index)| self.statements.get(*index))
    }

    /// The executions of statements, in the order in which they started.
    pub fn executions(&self) -> impl Iterator<Item = &Execution> {
        self.executions.iter()
    }

    /// An execution of a statement.
    pub fn execution(&self, id: ExecutionId) -> Option<&Execution> {
        self.executions.get(id.0 as usize)
    }

    /// The statement of an execution.
    pub fn statement_of(&self, execution: &Execution) -> Option<&Statement> {
        self.statements.get(execution.statement)
    }

    /// The execution of a program by its number: 0 for the program of the run.
    pub fn program(&self, number: u32) -> Option<&Program> {
        self.programs.get(&number)
    }

    /// The executions of programs.
    pub fn programs(&self) -> impl Iterator<Item = (u32, &Program)> {
        self.programs.iter().map(|(number, program)| (*number, program))
    }

    /// The entries of the log.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter()
    }

    /// The inputs that the run waits for, in the order in which they were asked for.
    pub fn awaited_inputs(&self) -> impl DoubleEndedIterator<Item = &Node> {
        self.inputs.iter().filter_map(|id| self.node(*id))
    }

    /// The agents whose memories other runs use, in the order in which this run waits for them.
    pub fn awaited_memories(&self) -> impl Iterator<Item = &SmolStr> {
        self.memories.values()
    }

    /// The open sessions by their requests, with what they are asked.
    pub fn open_sessions(&self) -> impl Iterator<Item = (RequestId, NodeId, &Arc<SessionTask>)> {
        self.sessions.iter().map(|(request, open)| (*request, open.node, &open.task))
    }

    /// What an open session is asked.
    pub fn task(&self, request: RequestId) -> Option<&Arc<SessionTask>> {
        self.sessions.get(&request).map(|open| &open.task)
    }

    /// The node of an open session with the attempt.
    pub fn attempt(&self, request: RequestId) -> Option<(&Node, &Attempt)> {
        let node = self.node(self.sessions.get(&request)?.node)?;
        let attempt = node.session()?.attempts.iter().rfind(|attempt| attempt.request == request)?;
        Some((node, attempt))
    }

    /// What the backend of an open node reports.
    pub fn activity(&self, node: NodeId) -> Option<&NodeActivity> {
        self.activities.get(*self.activity_of.get(&node)?)
    }

    /// What the backend of an open request reports.
    pub fn activity_of(&self, request: RequestId) -> Option<&NodeActivity> {
        let session = self.sessions.get(&request).map(|open| open.node);
        self.activity(session.or_else(|| self.conditions.get(&request).copied())?)
    }

    /// What the agents have used, in the order in which they started.
    pub fn agents(&self) -> impl Iterator<Item = &AgentTotal> {
        self.agents.iter()
    }

    /// The number of sessions that ran before the program changed, and of which the run now uses no result. They have no nodes.
    pub fn sessions_before_change(&self) -> u32 {
        self.tally.before_change
    }

    /// The nodes in which tool calls were denied.
    pub fn denied(&self) -> impl Iterator<Item = (NodeId, &Node)> {
        self.denied.iter().filter_map(|id| Some((*id, self.node(*id)?)))
    }

    /// How many attempts of sessions have ended.
    pub fn sessions_ended(&self) -> u32 {
        self.sessions_ended
    }

    /// The source of the statement that started last.
    pub fn current(&self) -> Option<&SmolStr> {
        self.current.as_ref()
    }

    /// Since when and by whom the run is paused, if it is.
    pub fn pause(&self) -> Option<&Pause> {
        self.pause.as_ref()
    }

    /// The imported program that has a site; `None` for the program of the run.
    pub fn imported_program(&self, site: Site) -> Option<&ImportedProgram> {
        self.program_names.imported(site.program)
    }

    /// The line of a site, as messages name it; `None` if it belongs to no statement.
    pub fn line(&self, site: Site) -> Option<NamedLine> {
        self.program_names.line(site)
    }

    /// The line of an event or a node at the start of a message about it: `line 4: `, or nothing without a statement.
    pub fn line_prefix(&self, site: Option<Site>) -> String {
        let line = site.and_then(|site| self.line(site));
        line.map_or(String::new(), |line| format!("{line}: "))
    }

    /// Where and why the run failed, if it did.
    pub fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }

    pub(crate) fn program_of(&self, place: &Place, site: Option<Site>) -> u32 {
        let called = || nearest(place.as_str(), |place| self.calls.get(place).copied());
        site.map(|site| site.program).or_else(called).unwrap_or(0)
    }

    /// How many parts of the run are open, which a clone copies.
    pub(crate) fn open_parts(&self) -> usize {
        let parts = [self.containers.len(), self.asked.len(), self.sessions.len(), self.running.len()];
        let parts = parts.into_iter().chain([self.missing.len(), self.tries.len()]);
        parts.sum::<usize>() + self.nodes.len() / 64
    }

    /// The nodes that a node is in, from the inside out.
    pub fn ancestors(&self, id: NodeId) -> impl Iterator<Item = (NodeId, &Node)> {
        let mut next = self.node(id).and_then(|node| node.parent);
        std::iter::from_fn(move || {
            let id = next?;
            let node = self.node(id)?;
            next = node.parent;
            Some((id, node))
        })
    }

    /// The iteration of a loop that started last.
    pub fn iteration(&self, node: &Node) -> u32 {
        let NodeKind::Loop { iteration: Some(id), .. } = &node.kind else { return 0 };
        match self.node(*id).map(|node| &node.kind) {
            Some(NodeKind::Iteration(number)) => *number,
            _ => 0,
        }
    }
}

/// What is known of a place itself or of the closest one around it.
pub(crate) fn nearest<T>(place: &str, mut known: impl FnMut(&str) -> Option<T>) -> Option<T> {
    let mut at = Some(place);
    while let Some(place) = at {
        if let Some(found) = known(place) {
            return Some(found);
        }
        at = outer(place);
    }
    None
}

/// The place around a place, if it is not the outermost one.
pub(crate) fn outer(place: &str) -> Option<&str> {
    place.rfind(['/', '.']).map(|end| &place[..end])
}

/// Whether a place is another one or in it.
pub(crate) fn is_in(place: &str, around: &str) -> bool {
    let rest = place.strip_prefix(around);
    around.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '.']))
}
