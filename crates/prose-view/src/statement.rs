//! Statements of programs and their executions.

use std::sync::Arc;

use prose_vm::effect::Usage;
use prose_vm::error::RuntimeError;
use prose_vm::place::{Place, Site};
use smol_str::SmolStr;

use crate::node::{NodeId, Status};
use crate::times::Waiting;

/// The index of an execution in its view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExecutionId(pub(crate) u32);

/// An execution of a statement.
#[derive(Debug, Clone, PartialEq)]
pub struct Execution {
    /// The index of its statement.
    pub(crate) statement: usize,
    /// Where in the execution of the run.
    pub place: Place,
    /// The node that it is in.
    pub node: NodeId,
    /// The execution of a statement of the same program that it is in.
    pub around: Option<ExecutionId>,
    /// How many executions of statements are open directly in it.
    pub inside: u32,
    /// How it goes.
    pub status: Status,
    /// When it started.
    pub from: u64,
    /// When it ended.
    pub to: Option<u64>,
    /// How long it has only waited for people.
    pub(crate) waiting: Waiting,
    /// The first line of the value that it gave, with an ellipsis if there is more; may be empty.
    pub value: SmolStr,
    /// The file with that value, relative to the folder of the run.
    pub file: Option<Arc<str>>,
}

/// What a statement of a program came to, over all its executions.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Statement {
    /// Where it stands.
    pub site: Site,
    /// How often it started.
    pub times: u32,
    /// How many of its executions are open.
    pub running: u32,
    /// How many of those have no open statement inside.
    pub innermost: u32,
    /// How many ended without an error.
    pub complete: u32,
    /// How many failed.
    pub failed: u32,
    /// How many ended by themselves, rather than with what they were in.
    pub ended: u32,
    /// How long the executions took together that ended.
    pub took: u64,
    /// When the last execution started.
    pub started: u64,
    /// How the execution ended that ended last.
    pub outcome: Option<Outcome>,
    /// The revision of that end.
    pub ended_at: u64,
    /// The attempt and the number of retries of a session that is tried again.
    pub retrying: Option<(u32, u32)>,
    /// The file of the value that it bound last, and the revision.
    pub file: Option<(Arc<str>, u64)>,
    /// What the requests in it have used, in all its executions.
    pub usage: Option<Usage>,
    /// The revision at which the current iteration of a loop around it started: what happened before belongs to earlier iterations.
    pub iteration_at: u64,
}

/// How an execution ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// Without an error.
    Done {
        /// How long it took.
        took: u64,
        /// The first line of its value, with an ellipsis if there is more; may be empty.
        value: SmolStr,
    },
    /// With an error.
    Failed {
        /// How long it took.
        took: u64,
        /// The error, if it is known.
        error: Option<Arc<RuntimeError>>,
    },
    /// It was cancelled (R52), or the run ended first.
    Stopped,
}
