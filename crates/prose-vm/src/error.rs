//! Errors of running programs, which `catch` can handle.

use std::fmt;

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

/// An error of a running program (R72). A `catch as e` binds it as an object with these fields (R74).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuntimeError {
    /// The kind of error.
    pub kind: ErrorKind,
    /// What is wrong and how to fix it.
    pub message: String,
    /// The first line of the statement that failed.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub statement: SmolStr,
    /// The line of the statement, from 1; 0 without a statement.
    #[serde(default)]
    pub line: u32,
    /// The number of attempts of a session; 0 if it is not a session.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub attempts: u32,
}

/// Kinds of errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorKind {
    /// `throw`
    Thrown,
    /// A failed session.
    Session,
    /// A session that exceeded its `timeout`.
    Timeout,
    /// A name that is not bound.
    UnknownName,
    /// A value of a kind that is not supported here.
    Type,
    /// An assignment to a constant (A14).
    Constant,
    /// A block whose recursion is too deep (R84).
    RecursionLimitExceeded,
    /// A loop without its own limit that did not end (R61).
    IterationLimitExceeded,
    /// A condition or a choice whose answer has the wrong form (R67).
    Undecided,
    /// A required input that is not given (R89).
    MissingInput,
    /// An imported program that is missing or failed (R95).
    Import,
    /// Permissions that the harness cannot enforce (decision 13).
    Permission,
    /// A name or a path that leads out of the folders of the run (decision 14).
    UnsafePath,
    /// A session that the system has no resources for: file descriptors, processes or memory. It is started again when resources are available.
    OutOfResources,
    /// The provider or the agent rejects the credentials. Stops the run, since every other session would fail, too.
    Auth,
    /// The rate limit of the provider is exceeded, or it is overloaded, and waiting did not help.
    RateLimit,
    /// The provider failed or cannot be reached.
    Provider,
    /// The prompt is longer than the context of the model.
    ContextTooLong,
    /// The model refused to answer.
    Refused,
    /// A budget of the provider's account, or a hard limit of the project, is exhausted. Stops the run.
    Budget,
    /// The agent's program ended before the session did.
    AgentCrashed,
    /// A person has to approve, and no one is there. Stops the run, which can be resumed with someone there.
    ApprovalNeeded,
    /// A request that the recorded run of a replay does not have. Stops the run.
    NotRecorded,
    /// An `assert` that does not hold.
    Assertion,
    /// Changes of branches to the same files that cannot be merged.
    Conflict,
    /// Any other error.
    Other,
}

impl ErrorKind {
    /// Whether a failed request of this kind stops the run, which can be resumed once the cause is removed, instead of failing its session.
    pub fn stops_run(self) -> bool {
        matches!(
            self,
            ErrorKind::Auth | ErrorKind::Budget | ErrorKind::ApprovalNeeded | ErrorKind::NotRecorded
        )
    }
}

impl RuntimeError {
    /// Creates an error without a place.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), statement: SmolStr::default(), line: 0, attempts: 0 }
    }
}

impl fmt::Display for RuntimeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.kind == ErrorKind::RecursionLimitExceeded {
            write!(f, "RecursionLimitExceeded: ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for RuntimeError {}
