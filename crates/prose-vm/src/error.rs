//! Errors of running programs, which `catch` can catch.

use std::fmt;

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

/// What went wrong while a program ran (R72). A `catch as e` sees it as an object with these fields (R74).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuntimeError {
    /// What kind of error it is.
    pub kind: ErrorKind,
    /// What went wrong and what can be done about it, in words.
    pub message: String,
    /// The first line of the statement that failed.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub statement: SmolStr,
    /// The line of the statement, from 1; 0 where there is none.
    #[serde(default)]
    pub line: u32,
    /// How often a session was tried; 0 for what is no session.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub attempts: u32,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// Kinds of errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorKind {
    /// `throw`
    Thrown,
    /// A session that failed, in its agent or on the way to it.
    Session,
    /// A session that took longer than its `timeout`.
    Timeout,
    /// A name that nothing is bound to.
    UnknownName,
    /// A value of a kind that cannot be used so.
    Type,
    /// An assignment to a constant (A14).
    Constant,
    /// A block that called itself too often (R84).
    RecursionLimitExceeded,
    /// A loop without a limit of its own that did not end (R61).
    IterationLimitExceeded,
    /// A condition or a choice that was not answered in the form asked for (R67).
    Undecided,
    /// An input that nobody gives (R89).
    MissingInput,
    /// A program that is not there or gave an error (R95).
    Import,
    /// Permissions that the harness cannot enforce (decision 13).
    Permission,
    /// A name or a path that would leave the folders of the run (decision 14).
    UnsafePath,
    /// A session that the system has no room for: too few file descriptors, processes or memory. It is started again as soon as there is some.
    OutOfResources,
    /// An `assert` that does not hold.
    Assertion,
    /// Anything else.
    Other,
}

impl RuntimeError {
    /// An error without a place.
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
