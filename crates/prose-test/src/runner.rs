//! Runs cases: one on the calling thread, or many on several threads.

mod answered;
mod judge;
mod parallel;

use std::collections::BTreeMap;
use std::future::Future;
use std::num::NonZeroUsize;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use prose_run::UserTrust;
use prose_syntax::TextRange;
use prose_vm::harness::Harness;
use tokio::sync::watch;

pub use self::answered::run_variant;
pub use self::parallel::{FileResult, Job, Progress, Summary, run_tests};
use crate::check::Mismatch;
use crate::observed::{Executed, Observed};

/// How tests are run.
#[derive(Clone)]
pub struct RunOptions {
    /// What the user trusts.
    pub trust: UserTrust,
    /// The number of runs at the same time.
    pub jobs: NonZeroUsize,
    /// Whether to stop after the first case that fails.
    pub stops_at_failure: bool,
    /// Whether recorded answers are written again, with the harness of their case.
    pub updates: bool,
    /// What judges values instead of the model of the settings.
    pub judge: Option<Arc<dyn Harness>>,
    /// Becomes true when the user stops the tests.
    pub stopped: watch::Receiver<bool>,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            trust: UserTrust::of_user(),
            jobs: std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
            stops_at_failure: false,
            updates: false,
            judge: None,
            stopped: watch::channel(false).1,
        }
    }
}

impl RunOptions {
    /// Completes when a run has to stop, with the reason.
    pub(crate) fn interrupted(&self, timeout: Option<Duration>) -> Pin<Box<dyn Future<Output = String>>> {
        let mut stopped = self.stopped.clone();
        Box::pin(async move {
            let is_stopped = async {
                // Without a sender, the tests are not stopped.
                if stopped.wait_for(|stopped| *stopped).await.is_err() {
                    std::future::pending::<()>().await;
                }
            };
            let is_over = async {
                match timeout {
                    Some(timeout) => tokio::time::sleep(timeout).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = is_stopped => "the tests were stopped".to_owned(),
                () = is_over => "the time of the case is over (`timeout`)".to_owned(),
            }
        })
    }

    /// Whether the user has stopped the tests.
    pub(crate) fn is_stopped(&self) -> bool {
        *self.stopped.borrow()
    }
}

/// The result of a variant of a case.
#[derive(Debug, Default)]
pub struct VariantResult {
    /// The index of the case in its file.
    pub case: usize,
    /// The id of the variant.
    pub id: String,
    /// Where the name of the case stands in the test file.
    pub range: TextRange,
    /// The reason why it was not run, if it was skipped.
    pub skipped: Option<String>,
    /// How many of the runs have to pass.
    pub at_least: u32,
    /// The runs.
    pub attempts: Vec<Attempt>,
}

/// One run of a case.
#[derive(Debug, Default)]
pub struct Attempt {
    /// How long it took.
    pub took: Duration,
    /// The result.
    pub end: AttemptEnd,
    /// How often the statements of the program and of its local imports were executed, by where each program was read from.
    pub executed: BTreeMap<String, Executed>,
    /// What it did, for displays that show more than the result.
    pub observed: Option<Box<Observed>>,
}

/// The result of one run of a case.
#[derive(Debug, Default, Clone, PartialEq)]
pub enum AttemptEnd {
    /// All expectations are fulfilled.
    #[default]
    Passed,
    /// These are not.
    Failed(Vec<Mismatch>),
    /// The run could not be executed.
    Error(String),
    /// The user stopped the tests.
    Stopped,
}

impl VariantResult {
    /// The number of runs that passed.
    pub fn passed(&self) -> usize {
        self.attempts.iter().filter(|attempt| attempt.end == AttemptEnd::Passed).count()
    }

    /// Whether enough runs passed.
    pub fn is_passed(&self) -> bool {
        self.skipped.is_none() && self.passed() >= self.at_least as usize
    }

    /// Whether it was run and did not pass.
    pub fn is_failed(&self) -> bool {
        self.skipped.is_none() && !self.is_passed() && !self.is_stopped()
    }

    /// Whether the user stopped it.
    pub fn is_stopped(&self) -> bool {
        self.attempts.iter().any(|attempt| attempt.end == AttemptEnd::Stopped)
            || self.skipped.is_none() && self.attempts.is_empty()
    }

    /// How long its runs took together.
    pub fn took(&self) -> Duration {
        self.attempts.iter().map(|attempt| attempt.took).sum()
    }

    /// The first run that did not pass, with its number from 1.
    pub fn first_failure(&self) -> Option<(usize, &AttemptEnd)> {
        let mut attempts = self.attempts.iter().enumerate();
        attempts.find_map(|(index, attempt)| {
            (attempt.end != AttemptEnd::Passed).then_some((index + 1, &attempt.end))
        })
    }
}
