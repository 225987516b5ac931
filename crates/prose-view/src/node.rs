//! The nodes of the tree of a run.

use std::sync::Arc;

use prose_vm::activity::{AgentSession, AskedPermission, Denial, Work};
use prose_vm::effect::{RequestId, Usage};
use prose_vm::error::RuntimeError;
use prose_vm::event::LoopKind;
use prose_vm::place::{Place, Site};
use serde::{Serialize, Serializer};
use smol_str::SmolStr;

use crate::json::{is_zero, is_zero_time};
use crate::text::shortened;
use crate::times::{Standing, Waiting};

/// The index of a node in its view, from 0 for the run itself. It is greater than the index of the node's parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize)]
#[serde(transparent)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The run itself.
    pub const ROOT: NodeId = NodeId(0);
}

/// How a part of a run goes.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It waits for an agent, for a retry or for an input.
    Waiting,
    /// It runs.
    #[default]
    Running,
    /// It ended without an error.
    Complete,
    /// It ended with an error.
    Failed,
    /// It was cancelled because nothing waits for it any more (R52).
    Skipped,
    /// The run was stopped before it ended.
    Interrupted,
}

impl Status {
    /// Whether it has not ended.
    pub fn is_open(self) -> bool {
        matches!(self, Status::Waiting | Status::Running)
    }
}

impl From<prose_vm::event::Status> for Status {
    fn from(status: prose_vm::event::Status) -> Self {
        match status {
            prose_vm::event::Status::Failed => Status::Failed,
            prose_vm::event::Status::Skipped => Status::Skipped,
            prose_vm::event::Status::Complete | prose_vm::event::Status::Left => Status::Complete,
        }
    }
}

/// What a node is.
#[derive(Debug, Default, Clone, PartialEq)]
#[allow(missing_docs, reason = "named for what they are")]
pub enum NodeKind {
    #[default]
    Run,
    Session(Box<Session>),
    /// A `parallel` with the names of its branches.
    Parallel {
        branches: Arc<[SmolStr]>,
        strategy: SmolStr,
        /// What becomes of failures: `fail-fast`, `continue` or `ignore`.
        policy: SmolStr,
    },
    /// A branch with its index.
    Branch(u32),
    Loop {
        kind: LoopKind,
        /// The condition or the collection, as it is written.
        header: SmolStr,
        max: Option<u32>,
        /// The iteration that started last.
        iteration: Option<NodeId>,
    },
    /// An iteration with its number, from 1.
    Iteration(u32),
    /// The call of a block (R80).
    Block {
        id: u32,
        depth: u32,
        /// The execution id of the calling frame.
        caller: u32,
    },
    /// The call of an imported program.
    Program(u32),
    Pipeline,
    Stage,
    Try,
    /// The `catch` or the `finally` of a `try`.
    Part,
    Condition,
    /// A choice with the label that was chosen.
    Choice(SmolStr),
    Input,
}

impl NodeKind {
    /// The name of the kind, as clients know it.
    pub fn name(&self) -> &'static str {
        match self {
            NodeKind::Run => "run",
            NodeKind::Session(_) => "session",
            NodeKind::Parallel { .. } => "parallel",
            NodeKind::Branch(_) => "branch",
            NodeKind::Loop { .. } => "loop",
            NodeKind::Iteration(_) => "iteration",
            NodeKind::Block { .. } => "block",
            NodeKind::Program(_) => "program",
            NodeKind::Pipeline => "pipeline",
            NodeKind::Stage => "stage",
            NodeKind::Try => "try",
            NodeKind::Part => "part",
            NodeKind::Condition => "condition",
            NodeKind::Choice(_) => "choice",
            NodeKind::Input => "input",
        }
    }
}

/// What a session has in addition to what every node has.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Session {
    /// The agent, if it has one.
    pub agent: Option<SmolStr>,
    /// The model, if one is named.
    pub model: Option<SmolStr>,
    /// The name that its result is bound to.
    pub name: SmolStr,
    /// The file of its result, relative to the folder of the run.
    pub file: Arc<str>,
    /// How many retries there may be.
    pub retries: u32,
    /// What was tried up to now.
    pub attempts: Vec<Attempt>,
    /// The pauses between the attempts.
    pub pauses: Vec<Span>,
    /// When it waited for a person. A stretch without a length is one in which the whole run waited.
    pub waits: Vec<Span>,
    /// The execution id of the frame in which its result is bound.
    pub(crate) frame: u32,
    /// The index of the failure that a retry handles.
    pub(crate) failure: Option<usize>,
}

/// A stretch of time, without an end while it lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Span {
    /// When it began.
    pub from: u64,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<u64>,
}

/// An attempt of a session.
#[derive(Debug, Default, Clone, PartialEq, Serialize)]
pub struct Attempt {
    /// The number of its request.
    pub request: RequestId,
    /// When it started.
    pub from: u64,
    /// When it started once more, because the run was resumed while it was open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub again: Option<u64>,
    /// How often it was cancelled while it was at work: because a person had it start again, or because nothing waited for it any more.
    #[serde(skip_serializing_if = "is_zero")]
    pub cancelled: u32,
    /// When an agent began with it, where it had to wait for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub began: Option<u64>,
    /// Whether it waits for an agent.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub queued: bool,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<u64>,
    /// How long it waited for people after it started, or started once more, on the clock of the view; set when it ends.
    #[serde(skip_serializing_if = "is_zero_time")]
    pub waited: u64,
    /// How long its session had waited when it started.
    #[serde(skip)]
    pub(crate) waited_before: u64,
    /// How it goes.
    pub status: Status,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "message")]
    pub error: Option<Arc<RuntimeError>>,
    /// Its usage up to now, if any was reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The number of tool calls, once it has ended.
    #[serde(skip_serializing_if = "is_zero")]
    pub calls: u32,
    /// The tool calls that were denied.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub denials: Vec<Denial>,
    /// The permission questions with their answers, once it has ended.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<AskedPermission>,
    /// The session of the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<Box<AgentSession>>,
}

impl Attempt {
    /// When it started, or started once more in a resumed run.
    pub fn started(&self) -> u64 {
        self.again.unwrap_or(self.from)
    }

    /// How often an agent was asked: also what was cancelled and started again is an attempt.
    pub fn times(&self) -> usize {
        let is_cancelled = matches!(self.status, Status::Skipped | Status::Interrupted) && self.cancelled > 0;
        self.cancelled as usize + usize::from(!is_cancelled)
    }

    /// Adds what was recorded of its work, and its usage with that of work that was interrupted.
    pub(crate) fn add(&mut self, work: &Work, usage: Option<Usage>) {
        self.usage = usage.or(self.usage);
        self.calls = work.calls.max(self.calls);
        if let Some(agent) = &work.agent {
            self.session = Some(Box::new(agent.clone()));
        }
    }
}

/// What a node waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum WaitsFor {
    /// A free agent (R58).
    Agent,
    /// The pause before a retry (R79).
    Retry,
    /// A person who gives the input.
    Input,
    /// A person who allows a tool call.
    Permission,
}

/// How many sessions are in a node, and how they stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[allow(missing_docs, reason = "named for what they count")]
pub struct Counts {
    pub total: u32,
    pub running: u32,
    pub waiting: u32,
    pub complete: u32,
    pub failed: u32,
}

impl Counts {
    pub(crate) fn of(&mut self, status: Status) -> Option<&mut u32> {
        match status {
            Status::Running => Some(&mut self.running),
            Status::Waiting => Some(&mut self.waiting),
            Status::Complete => Some(&mut self.complete),
            Status::Failed => Some(&mut self.failed),
            Status::Skipped | Status::Interrupted => None,
        }
    }
}

/// A part of a run: the run itself, a session, a construct around sessions.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Node {
    /// What it is.
    pub kind: NodeKind,
    /// The node that it is in; none for the run.
    pub parent: Option<NodeId>,
    /// The last node in it. The others follow by [`Node::previous`].
    pub last_child: Option<NodeId>,
    /// The node before it in the same parent.
    pub previous: Option<NodeId>,
    /// The first line of its task, its condition, its name.
    pub label: SmolStr,
    /// What else is said about it, such as the number of branches.
    pub detail: SmolStr,
    /// Where in the execution.
    pub place: Place,
    /// Where in the text; none for the run.
    pub site: Option<Site>,
    /// The execution of a program that it belongs to.
    pub program: u32,
    /// How deep it is nested in statements and frames.
    pub nesting: u32,
    /// How it goes.
    pub status: Status,
    /// What it waits for.
    pub waits_for: Option<WaitsFor>,
    /// When it started.
    pub from: u64,
    /// When it ended.
    pub to: Option<u64>,
    /// What came of it, in a few words; may be empty.
    pub note: SmolStr,
    /// Why it failed.
    pub error: Option<Arc<RuntimeError>>,
    /// What the sessions in it took, where the harness reports it.
    pub usage: Option<Usage>,
    /// How the sessions in it stand.
    pub sessions: Counts,
    /// How long it has only waited for people; see [`View::times_of`](crate::View::times_of).
    pub(crate) waiting: Waiting,
    /// How often the run had been stopped when it started.
    pub(crate) stops_at_start: usize,
    /// How often the run had been stopped when it ended.
    pub(crate) stops_at_end: usize,
    /// How it stands itself, if it is a request.
    pub(crate) standing: Standing,
    /// The beginning of the places in it, if anything can be in it.
    pub(crate) key: Option<Place>,
}

impl Node {
    /// The session, if it is one.
    pub fn session(&self) -> Option<&Session> {
        match &self.kind {
            NodeKind::Session(session) => Some(session),
            _ => None,
        }
    }

    pub(crate) fn session_mut(&mut self) -> Option<&mut Session> {
        match &mut self.kind {
            NodeKind::Session(session) => Some(session),
            _ => None,
        }
    }
}

/// Writes the beginning of the message of an error.
fn message<S: Serializer>(error: &Option<Arc<RuntimeError>>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&shortened(error.as_ref().map_or("", |error| &error.message)))
}
