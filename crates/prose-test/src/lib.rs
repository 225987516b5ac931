//! Tests of programs: `NAME.test.toml` next to `NAME.prose`.
//!
//! The parts, in the order in which a test command or the Testing view of an editor uses them:
//!
//! 1. [`discover`] finds test files in folders; [`TestFile::read`] reads a text. Reading never fails: [`TestFile::problems`] has what is wrong, and every
//!    [`Case`] has its place in the text, so that an editor can list and mark cases of a file with mistakes.
//! 2. [`Subject::load`] loads the program that a file tests, or [`Subject::new`] takes the one that an editor holds. [`TestFile::check`] decides whether the cases
//!    can be run; [`TestFile::problems_with`] has the expectations that no run of this program can fulfil.
//! 3. [`TestFile::variants`] has the [`Variant`]s of its cases: one for each combination of a matrix. An id such as `approves [topic=tides]` names one.
//! 4. [`run_variant`] runs one of them on the calling thread and returns a [`VariantResult`]: each [`Mismatch`] has its place in the test file, and the expected
//!    and the actual text. [`run_tests`] runs many of them on several threads and reports them in order.
//! 5. [`Coverage`] adds up which statements and branches the runs executed, with their ranges in the program.
//!
//! [`assist`] has what an editor completes and documents in a test file.
//!
//! Nothing of a test remains in the project: runs with scripted answers have no files, all others work in a temporary folder.

mod against;
pub mod assist;
mod changed;
mod check;
mod checked;
mod coverage;
mod debugged;
mod discover;
mod expectation;
mod file;
mod matcher;
mod observed;
mod read;
pub mod report;
mod runner;
mod schema;
mod selection;
mod subject;
mod table;
mod update;
mod variant;
mod workspace;

pub use crate::changed::{ChangedFiles, changed_files};
pub use crate::checked::Faulty;
pub use crate::coverage::{BranchCoverage, Coverage, FileCoverage, StatementCoverage};
pub use crate::debugged::Debugged;
pub use crate::discover::{Discovered, SUFFIX, discover, is_test_file, program_of, test_file_of};
pub use crate::expectation::{Bounds, Expectation, Expected, SessionPattern};
pub use crate::file::{Answers, Case, HarnessAnswers, Input, Matrix, RecordedAnswers, TestFile};
pub use crate::matcher::{Matcher, Matching};
pub use crate::observed::{Executed, Observed, ObservedBranch, ObservedLoop, ObservedSession};
pub use crate::runner::{FileResult, Job, Progress, RunOptions, Summary, run_tests, run_variant};
pub use crate::schema::schema;
pub use crate::selection::Selection;
pub use crate::subject::{Subject, Unloadable};
pub use crate::update::{KeptExpectation, Updated, updated};
pub use crate::variant::Variant;

pub use crate::check::{Actual, Mismatch, Update};
pub use crate::runner::{Attempt, AttemptEnd, VariantResult};
