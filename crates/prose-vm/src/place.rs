//! Places in an execution and in the text of programs.

use std::borrow::Borrow;
use std::fmt::{self, Write};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::shared_text::shared;

/// A place in an execution (decision 10): the path to it through statements, iterations, branches, calls and attempts. Places are unique within a run
/// and stable when the run is executed again.
///
/// It is written as steps separated by slashes: `s4.2` is part 2 of the fifth top-level statement, `i2` the third iteration of a loop, `b1` the
/// second branch, `f2` the call with execution id 2, `a1` the first retry. What a person changes in an edited program is at a place that names calls by their
/// order ([`crate::call_order`]): `f@1` is the first one there.
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

/// A line of a program, as messages name it: `line 12` of the program of the run, `lib.prose:12` of one that it imports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedLine {
    /// The name of the imported program ([`imported_name`]); `None` for the program of the run.
    pub program: Option<SmolStr>,
    /// The line, from 1.
    pub line: u32,
}

impl NamedLine {
    /// A line of a program; `None` for line 0, which stands for no statement.
    pub fn new(program: Option<SmolStr>, line: u32) -> Option<Self> {
        (line > 0).then_some(Self { program, line })
    }

    /// The line counted in a document whose line `first_line`, from 0, is the first one of the program of the run. Imported programs have texts of
    /// their own.
    pub fn in_document(mut self, first_line: u32) -> Self {
        if self.program.is_none() {
            self.line += first_line;
        }
        self
    }
}

impl fmt::Display for NamedLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.program {
            Some(program) => write!(f, "{program}:{}", self.line),
            None => write!(f, "line {}", self.line),
        }
    }
}

/// What messages call an imported program: the path of its `use` line, without `./` at its start. Characters that would break the line of a message or
/// reorder it are escaped.
pub fn imported_name(path: &str) -> SmolStr {
    let path = path.strip_prefix("./").unwrap_or(path);
    let steers = |character: char| {
        character.is_control() || matches!(character, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if !path.contains(steers) {
        return path.into();
    }
    let mut name = String::new();
    for character in path.chars() {
        match steers(character) {
            true => name.extend(character.escape_default()),
            false => name.push(character),
        }
    }
    name.into()
}
