//! Diagnostics as every output format needs them: placed by line and column, and free of the text they were found in.

use std::ops::Range;
use std::path::PathBuf;

use prose_syntax::{Code, Diagnostic, Fix, FixSafety, Severity, TextRange};

use crate::position::{LineIndex, Position};

/// One file that was read and checked.
#[derive(Debug)]
pub(crate) struct CheckedFile {
    /// The path as the user would write it.
    pub(crate) path: PathBuf,
    /// What was found, sorted by position.
    pub(crate) findings: Vec<Finding>,
    /// The findings in the format `full`, if that was asked for: it alone needs the program's text.
    pub(crate) full: String,
}

impl CheckedFile {
    /// The path as text. Names that are not Unicode are shown with replacement characters.
    pub(crate) fn name(&self) -> std::borrow::Cow<'_, str> {
        self.path.to_string_lossy()
    }
}

/// A diagnostic with its places.
#[derive(Debug)]
pub(crate) struct Finding {
    pub(crate) code: Code,
    pub(crate) severity: Severity,
    pub(crate) message: String,
    pub(crate) span: Span,
    pub(crate) fix: Option<FindingFix>,
}

/// A fix with its places.
#[derive(Debug)]
pub(crate) struct FindingFix {
    pub(crate) title: String,
    pub(crate) safe: bool,
    /// What to replace, and by what.
    pub(crate) edits: Vec<(Span, String)>,
}

/// A range of a file, for people and in bytes.
#[derive(Debug, Clone)]
pub(crate) struct Span {
    pub(crate) start: Position,
    pub(crate) end: Position,
    pub(crate) bytes: Range<usize>,
}

impl Finding {
    pub(crate) fn new(diagnostic: &Diagnostic, index: &LineIndex<'_>) -> Self {
        Self {
            code: diagnostic.code,
            severity: diagnostic.severity(),
            message: diagnostic.message.clone(),
            span: Span::new(diagnostic.range, index),
            fix: diagnostic.fix.as_ref().map(|fix| FindingFix::new(fix, index)),
        }
    }
}

impl FindingFix {
    fn new(fix: &Fix, index: &LineIndex<'_>) -> Self {
        let edits = fix.edits.iter().map(|edit| (Span::new(edit.range, index), edit.new_text.clone()));
        Self { title: fix.title.clone(), safe: fix.safety == FixSafety::Safe, edits: edits.collect() }
    }
}

impl Span {
    fn new(range: TextRange, index: &LineIndex<'_>) -> Self {
        Self {
            start: index.position(range.start()),
            end: index.position(range.end()),
            bytes: range.start().into()..range.end().into(),
        }
    }
}
