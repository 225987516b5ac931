//! The arguments of `prose test`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::candidates;

/// Test programs with fixed answers
///
/// Runs the cases of test files: `review.test.toml` has those of `review.prose`. Each case has inputs, answers and expectations; without a harness, no model
/// is asked.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Exit status:
  0  all cases passed
  1  at least one case failed
  2  wrong usage, or a test file or program with errors; all other cases are still run
  3  the tests were interrupted
  5  no test file or no case was found

Examples:
  prose test                            all tests in the current folder
  prose test review.prose               the tests of one program, in review.test.toml
  prose test -k approves -k rejects     the cases with one of these texts in their names
  prose test --changed=main             what changed since the branch `main`
  prose test --watch                    run them again when a file changes
  prose test --update                   accept the actual values, and record answers
  prose test --junit results.xml --lcov coverage.lcov")]
pub(crate) struct TestArgs {
    /// Test files, programs and folders; the tests of a program are in the file of the same name
    ///
    /// In folders, all `*.test.toml` files are run, except hidden files and files excluded by `.gitignore` or `.ignore`.
    #[arg(value_name = "PATH", default_value = ".", add = candidates::tests())]
    pub(crate) paths: Vec<PathBuf>,

    /// Run only the cases with this text in `FILE::NAME`, in upper or lower case; can be repeated
    #[arg(short = 'k', long = "filter", value_name = "TEXT")]
    pub(crate) filters: Vec<String>,

    /// Run only what may have another result since this commit of Git; without a commit, since `HEAD`
    ///
    /// These are test files that have changed, and those whose program, imports, recorded answers or settings have.
    #[arg(long, value_name = "COMMIT", num_args = 0..=1, default_missing_value = "HEAD", require_equals = true)]
    pub(crate) changed: Option<String>,

    /// Take the texts of `--filter` as whole names: `NAME` or `FILE::NAME`
    #[arg(long, requires = "filters")]
    pub(crate) exact: bool,

    /// List the selected cases without running them; with `--json`, also their places and the mistakes in test files
    #[arg(long, conflicts_with_all = ["watch", "update"])]
    pub(crate) list: bool,

    /// Run the cases again whenever a test file, a program or recorded answers change
    #[arg(long, conflicts_with_all = ["json", "update"])]
    pub(crate) watch: bool,

    /// Replace expected values that differ by the actual ones, and record answers of cases with `recorded` and `harness`
    #[arg(long)]
    pub(crate) update: bool,

    /// The number of cases that run at the same time; by default, the number of cores
    #[arg(short, long, value_name = "N")]
    pub(crate) jobs: Option<NonZeroUsize>,

    /// Stop after the first case that fails
    #[arg(short = 'x', long)]
    pub(crate) fail_fast: bool,

    /// Show which statements and branches of the programs were executed
    #[arg(long)]
    pub(crate) coverage: bool,

    /// Write the coverage to this file in the format of LCOV
    #[arg(long, value_name = "FILE")]
    pub(crate) lcov: Option<PathBuf>,

    /// Write the results to this file in the format of JUnit
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,

    /// The format of the results; `github` adds annotations and is used in GitHub Actions without this option
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<TestFormat>,

    /// Write the results to standard output as JSON, and nothing else; with a file, write them there
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    pub(crate) json: Option<Option<PathBuf>>,

    /// Trust the projects of the programs, as `prose trust` does, for cases with a harness
    #[arg(long)]
    pub(crate) trust: bool,

    /// Fetch nothing; use cached copies of imported programs, however old
    #[arg(long)]
    pub(crate) offline: bool,

    /// Refuse imported programs that are not in `prose.lock`
    #[arg(long)]
    pub(crate) locked: bool,
}

impl TestArgs {
    /// Whether standard output has JSON and nothing else.
    pub(crate) fn writes_json(&self) -> bool {
        self.json == Some(None)
    }

    /// Whether standard output has events and nothing else.
    pub(crate) fn writes_events(&self) -> bool {
        self.format == Some(TestFormat::Events) && !self.writes_json()
    }
}

/// A format of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TestFormat {
    /// For people
    Full,
    /// For people, with annotations of GitHub Actions
    Github,
    /// A JSON object in each line as soon as something happens: `started`, `ended`, `problem`, `finished`
    Events,
}
