//! What the tools say about a program: a coded, placed message with an optional fix.

use std::fmt;

use rowan::{TextRange, TextSize};

use crate::codes::Code;

/// How grave a diagnostic is. Only [`Severity::Error`] keeps a program from running.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// No reading of the program can run.
    Error,
    /// The program can run, but probably not as meant.
    Warning,
    /// Something worth knowing that needs no change.
    Information,
    /// A suggestion that editors show unobtrusively.
    Hint,
}

impl Severity {
    /// The lower-case name used in every textual output.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Information => "info",
            Severity::Hint => "hint",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One finding in one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The entry of the code table; it gives the severity, the title and the explanation.
    pub code: Code,
    /// The bytes that are wrong. Never longer than what has to change, empty where something is missing.
    pub range: TextRange,
    /// One sentence that says what is wrong and what was probably meant.
    pub message: String,
    /// How to mend it, if a program can tell.
    pub fix: Option<Fix>,
}

impl Diagnostic {
    /// The severity in the default profile.
    pub fn severity(&self) -> Severity {
        self.code.info().severity
    }

    /// The same diagnostic where its text has moved.
    pub(crate) fn moved(mut self, by: impl Fn(TextRange) -> TextRange) -> Self {
        self.range = by(self.range);
        if let Some(fix) = &mut self.fix {
            for edit in &mut fix.edits {
                edit.range = by(edit.range);
            }
        }
        self
    }
}

/// A change of the text that mends a diagnostic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// What the change does, in the imperative: `Insert ':'`.
    pub title: String,
    /// Whether the change keeps the meaning that the author must have had.
    pub safety: FixSafety,
    /// Replacements that do not overlap, in the order of the text.
    pub edits: Vec<TextEdit>,
}

/// Whether a fix may be applied without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FixSafety {
    /// Only one thing can have been meant.
    Safe,
    /// A guess: a person should look at it.
    Unsafe,
}

/// Replaces the text of a range; an empty range inserts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextEdit {
    /// The bytes to replace, in the text before the change.
    pub range: TextRange,
    /// The text that takes their place.
    pub new_text: String,
}

impl TextEdit {
    /// Puts `new_text` at `offset`.
    pub fn insert(offset: TextSize, new_text: impl Into<String>) -> Self {
        Self { range: TextRange::empty(offset), new_text: new_text.into() }
    }

    /// Puts `new_text` in the place of `range`.
    pub fn replace(range: TextRange, new_text: impl Into<String>) -> Self {
        Self { range, new_text: new_text.into() }
    }

    /// Removes `range`.
    pub fn delete(range: TextRange) -> Self {
        Self { range, new_text: String::new() }
    }
}
