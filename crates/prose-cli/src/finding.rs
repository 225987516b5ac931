//! Diagnostics for the output formats: with lines and columns, and independent of the text.

use std::iter::Sum;
use std::ops::Range;
use std::path::PathBuf;

use prose_project::Diagnosed;
use prose_project::position::{Position, Positions};
use prose_syntax::codes::Tag;
use prose_syntax::{Code, Diagnostic, Fix, FixSafety, Related, Severity, TextRange};

use crate::sources::Sources;

/// A checked file.
#[derive(Debug)]
pub(crate) struct CheckedFile {
    /// The path for display.
    pub(crate) path: PathBuf,
    /// The number of diagnostics.
    pub(crate) counts: Counts,
    /// The number of fixed, or fixable, diagnostics.
    pub(crate) fixed: usize,
    /// The diagnostics sorted by position, for formats that are written at the end.
    pub(crate) findings: Vec<Finding>,
    /// The rendered diagnostics in the format `full`, or the diff.
    pub(crate) drawn: String,
}

/// The number of diagnostics of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) errors: usize,
    pub(crate) warnings: usize,
    pub(crate) remarks: usize,
    pub(crate) hints: usize,
    /// Diagnostics with a safe fix.
    pub(crate) safely_fixable: usize,
    /// Diagnostics with an unsafe fix.
    pub(crate) unsafely_fixable: usize,
}

impl Counts {
    pub(crate) fn of(diagnosed: &[Diagnosed]) -> Self {
        let mut counts = Self::default();
        for Diagnosed { diagnostic, severity } in diagnosed {
            *match severity {
                Severity::Error => &mut counts.errors,
                Severity::Warning => &mut counts.warnings,
                Severity::Information => &mut counts.remarks,
                Severity::Hint => &mut counts.hints,
            } += 1;
            match diagnostic.fix.as_ref().map(|fix| fix.safety) {
                Some(FixSafety::Safe) => counts.safely_fixable += 1,
                Some(FixSafety::Unsafe) => counts.unsafely_fixable += 1,
                None => {}
            }
        }
        counts
    }

    pub(crate) fn findings(&self) -> usize {
        self.errors + self.warnings + self.remarks + self.hints
    }
}

impl Sum for Counts {
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        counts.fold(Self::default(), |sum, counts| Self {
            errors: sum.errors + counts.errors,
            warnings: sum.warnings + counts.warnings,
            remarks: sum.remarks + counts.remarks,
            hints: sum.hints + counts.hints,
            safely_fixable: sum.safely_fixable + counts.safely_fixable,
            unsafely_fixable: sum.unsafely_fixable + counts.unsafely_fixable,
        })
    }
}

impl CheckedFile {
    /// The path as text. Names that are not Unicode have replacement characters.
    pub(crate) fn name(&self) -> std::borrow::Cow<'_, str> {
        self.path.to_string_lossy()
    }
}

/// A diagnostic with positions.
#[derive(Debug)]
pub(crate) struct Finding {
    pub(crate) code: Code,
    pub(crate) severity: Severity,
    pub(crate) message: String,
    pub(crate) span: Span,
    pub(crate) fix: Option<FindingFix>,
    /// Related places.
    pub(crate) related: Vec<FindingRelated>,
    pub(crate) tags: Vec<Tag>,
}

/// A place that explains a diagnostic.
#[derive(Debug)]
pub(crate) struct FindingRelated {
    /// The file, if it is another one.
    pub(crate) path: Option<PathBuf>,
    pub(crate) span: Span,
    pub(crate) message: String,
}

/// A fix with positions.
#[derive(Debug)]
pub(crate) struct FindingFix {
    pub(crate) title: String,
    pub(crate) safe: bool,
    /// An edit.
    pub(crate) edits: Vec<(Span, String)>,
}

/// A range with lines, columns and bytes.
#[derive(Debug, Clone)]
pub(crate) struct Span {
    pub(crate) start: Position,
    pub(crate) end: Position,
    pub(crate) bytes: Range<usize>,
}

impl Finding {
    pub(crate) fn new(Diagnosed { diagnostic, severity }: &Diagnosed, sources: &Sources<'_>) -> Self {
        let Diagnostic { code, range, message, fix, related, .. } = diagnostic;
        let index = &sources.own.index;
        Self {
            code: *code,
            severity: *severity,
            message: message.clone(),
            span: Span::new(*range, index),
            fix: fix.as_ref().map(|fix| FindingFix::new(fix, index)),
            related: related.iter().map(|related| FindingRelated::new(related, sources)).collect(),
            tags: code.info().tag.into_iter().collect(),
        }
    }
}

impl FindingRelated {
    fn new(related: &Related, sources: &Sources<'_>) -> Self {
        Self {
            path: related.path.as_ref().map(|path| PathBuf::from(&**path)),
            span: Span::new(related.range, &sources.of(related).index),
            message: related.message.clone(),
        }
    }
}

impl FindingFix {
    fn new(fix: &Fix, index: &Positions<'_>) -> Self {
        let edits = fix.edits.iter().map(|edit| (Span::new(edit.range, index), edit.new_text.clone()));
        Self { title: fix.title.clone(), safe: fix.safety == FixSafety::Safe, edits: edits.collect() }
    }
}

impl Span {
    fn new(range: TextRange, index: &Positions<'_>) -> Self {
        Self {
            start: index.position(range.start()),
            end: index.position(range.end()),
            bytes: range.start().into()..range.end().into(),
        }
    }
}
