//! What a case expects of its run.

use std::fmt;

use prose_syntax::TextRange;
use prose_vm::event::RunStatus;
use regex::Regex;
use smol_str::SmolStr;

use crate::matcher::Matcher;

/// An expectation, with its place in the test file.
#[derive(Debug, Clone)]
pub struct Expectation {
    /// Where it stands.
    pub range: TextRange,
    /// What is expected.
    pub expected: Expected,
}

/// What is expected of a run.
#[derive(Debug, Clone)]
pub enum Expected {
    /// How it ends.
    Status(RunStatus),
    /// A named output.
    Output {
        /// Its name.
        name: SmolStr,
        /// What it is compared with.
        matcher: Matcher,
    },
    /// The unnamed output.
    Value(Matcher),
    /// How many sessions are asked.
    SessionCount(Bounds),
    /// All sessions, in any order.
    SessionNames(Vec<String>),
    /// Some of the sessions, in order.
    SessionOrder(Vec<String>),
    /// Sessions that are not asked.
    NoSessions(Vec<String>),
    /// Sessions with their prompts and contexts.
    Session(Box<SessionPattern>),
    /// Branches that are taken, or not.
    Branches {
        /// Their names.
        names: Vec<String>,
        /// Whether they are taken.
        are_taken: bool,
    },
    /// The iterations of each execution of a loop; of the only one without a name.
    Iterations {
        /// The header of the loop, or `line N`.
        of: Option<String>,
        /// How many.
        bounds: Bounds,
    },
    /// The message of the error that ends the run.
    Error(Matcher),
    /// The messages of all errors, in any order.
    Errors(Vec<Matcher>),
    /// All warnings, in any order.
    Warnings(Vec<Matcher>),
    /// The most that the run costs, in US dollars.
    MaxCost(f64),
    /// The most tokens that the run uses.
    MaxTokens(u64),
    /// A file that is written, and what its content is compared with.
    File {
        /// The path, relative to the project.
        path: String,
        /// What its content is compared with.
        matcher: Option<Matcher>,
    },
}

/// The sessions that an expectation is about, and what is expected of each of them.
#[derive(Debug, Clone, Default)]
pub struct SessionPattern {
    /// The agent.
    pub agent: Option<String>,
    /// The name of the result.
    pub name: Option<String>,
    /// The first line of the task.
    pub label: Option<String>,
    /// What matches in the task.
    pub pattern: Option<Regex>,
    /// How many of them are asked.
    pub count: Bounds,
    /// Where that stands, if it is given.
    pub count_range: Option<TextRange>,
    /// Their complete prompts.
    pub prompt: Option<Matcher>,
    /// Their system parts.
    pub system: Option<Matcher>,
    /// The values in their contexts.
    pub context: Vec<(String, Matcher)>,
    /// Their model.
    pub model: Option<(String, TextRange)>,
}

/// The bounds of a number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Bounds {
    /// The lowest number.
    pub at_least: Option<u64>,
    /// The highest number.
    pub at_most: Option<u64>,
}

impl Bounds {
    /// Exactly one number.
    pub fn exactly(number: u64) -> Self {
        Self { at_least: Some(number), at_most: Some(number) }
    }

    /// Whether a number is in them.
    pub fn contain(self, number: u64) -> bool {
        self.at_least.is_none_or(|least| number >= least) && self.at_most.is_none_or(|most| number <= most)
    }
}

impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.at_least, self.at_most) {
            (Some(least), Some(most)) if least == most => write!(f, "{least}"),
            (Some(least), Some(most)) => write!(f, "{least} to {most}"),
            (Some(least), None) => write!(f, "at least {least}"),
            (None, Some(most)) => write!(f, "at most {most}"),
            (None, None) => f.write_str("any number"),
        }
    }
}
