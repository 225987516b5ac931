//! Places in an execution and in the text of programs.

use std::borrow::Borrow;
use std::fmt::{self, Write};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::shared_text::shared;

/// A place in an execution (decision 10): the path to it through statements, iterations, branches, calls and attempts. Places are unique within a run
/// and stable when the run is executed again.
///
/// It is written as steps separated by slashes: `s4.2` is part 2 of the fifth top-level statement, `i2` the third iteration of a loop, `b1` the
/// second branch, `f2` the call with execution id 2, `a1` the first retry.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place(Arc<str>);

impl Place {
    /// The place where an execution starts.
    pub fn root() -> Self {
        Self("".into())
    }

    /// The child place with one more step.
    pub fn step(&self, step: impl fmt::Display) -> Self {
        Self(shared(|text| {
            if !self.0.is_empty() {
                text.push_str(&self.0);
                text.push('/');
            }
            // Writing to a string does not fail.
            _ = write!(text, "{step}");
        }))
    }

    /// The written form.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for Place {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A range in the text of a program.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Site {
    /// The number of the program's execution: 0 for the started program; each call of an imported program gets its own number, in call order.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub program: u32,
    /// The offset of the first byte.
    pub start: u32,
    /// The offset after the last byte.
    pub end: u32,
    /// The line of the first byte, from 1.
    pub line: u32,
    /// The line of the last byte, from 1.
    pub last_line: u32,
}
