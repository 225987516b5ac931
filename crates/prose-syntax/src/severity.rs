//! Severities of diagnostics.

use std::fmt;

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
