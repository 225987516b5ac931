//! Diagnostics as every output format needs them: placed by line and column, and free of the text they were found in.

use std::iter::Sum;
use std::ops::Range;
use std::path::PathBuf;

use prose_project::Diagnosed;
use prose_syntax::codes::Tag;
use prose_syntax::{Code, Diagnostic, Fix, FixSafety, Related, Severity, TextRange};

use crate::position::{Position, Positions};
use crate::sources::Sources;

/// One file that was read and checked.
#[derive(Debug)]
pub(crate) struct CheckedFile {
    /// The path as the user would write it.
    pub(crate) path: PathBuf,
    /// How much was found.
    pub(crate) counts: Counts,
    /// How much was fixed, or would be.
    pub(crate) fixed: usize,
    /// What was found, sorted by position, for the formats that are written when everything is known.
    pub(crate) findings: Vec<Finding>,
    /// What is drawn while the program's text is at hand: the findings in the format `full`, or the diff.
    pub(crate) drawn: String,
}

/// How many findings there are of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) errors: usize,
    pub(crate) warnings: usize,
    pub(crate) remarks: usize,
    pub(crate) hints: usize,
    /// Findings with a fix that can be made without asking.
    pub(crate) safely_fixable: usize,
    /// Findings with a fix that is a guess.
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
    /// Other places that have to do with it.
    pub(crate) related: Vec<FindingRelated>,
    pub(crate) tags: Vec<Tag>,
}

/// A place that explains a finding.
#[derive(Debug)]
pub(crate) struct FindingRelated {
    /// The file, if it is another.
    pub(crate) path: Option<PathBuf>,
    pub(crate) span: Span,
    pub(crate) message: String,
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
