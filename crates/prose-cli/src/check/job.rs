//! What a check does with every program, and what became of one.

use crate::output::diff;
use annotate_snippets::Renderer;
use prose_project::Failure;
use prose_syntax::FixSafety;

use crate::cli::check::OutputFormat;
use crate::finding::CheckedFile;

/// What happens to the fixes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// They are shown with the findings.
    Report,
    /// They are applied.
    Fix,
    /// What applying them would change is shown.
    Diff,
}

/// What is done with every program.
pub(super) struct Job {
    pub(super) mode: Mode,
    pub(super) safety: FixSafety,
    pub(super) format: OutputFormat,
    /// Whether only the numbers of the codes are written.
    pub(super) statistics: bool,
    /// More warnings than this fail the check.
    pub(super) max_warnings: Option<usize>,
    pub(super) renderer: Renderer,
    pub(super) look: diff::DiffTarget,
}

/// What became of one file.
pub(super) struct Checked {
    pub(super) file: Option<CheckedFile>,
    pub(super) failure: Option<Failure>,
}
