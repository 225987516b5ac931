//! Why a run cannot be started or has to stop.

use std::fmt;
use std::io;

use prose_harness::registry::HarnessError;
use prose_state::StateError;
use prose_vm::event::ScriptFile;
use prose_vm::runner::RunError;

/// Why a run cannot be started or has to stop, apart from what goes wrong in its program.
#[derive(Debug)]
pub enum RunFailure {
    /// Its state cannot be read or written.
    State(StateError),
    /// There is no such harness, or it cannot be made.
    Harness(HarnessError),
    /// The harness cannot do what the prompts of the run tell agents to do.
    OtherHarness {
        /// The run.
        run: String,
        /// The harness that it had.
        before: String,
        /// The harness that it would have now.
        now: String,
    },
    /// The file is gone that the run takes its answers from.
    ScriptGone {
        /// The run.
        run: String,
        /// The file.
        script: ScriptFile,
    },
    /// The program has changed since the run was started.
    Changed {
        /// The run.
        run: String,
        /// The first difference, in words.
        difference: String,
    },
    /// The run has ended.
    Over {
        /// The run.
        run: String,
        /// Whether changes of its program were accepted, and there are none.
        is_unchanged: bool,
    },
    /// It stopped while it was executed.
    Run(RunError),
    /// The system gives no event loop.
    Runtime(io::Error),
}

impl fmt::Display for RunFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunFailure::State(error) => error.fmt(f),
            RunFailure::Harness(error) => error.fmt(f),
            RunFailure::OtherHarness { run, before, now } => write!(
                f,
                "the run {run} tells its agents to read and write files, as `{before}` can and `{now}` cannot; go on with `{before}`, or use \
                `--accept-changes` to have the remaining sessions told otherwise"
            ),
            RunFailure::ScriptGone { run, script } => write!(
                f,
                "the run {run} takes its answers from the script `{}`, and `{}` is gone; put it back, or name another one with `--script FILE.toml`",
                script.given, script.path
            ),
            RunFailure::Changed { run, difference } => write!(
                f,
                "the program has changed since the run {run} was started: {difference}. Undo the change, or use `--accept-changes`, which keeps \
                the results of all sessions that are asked the same"
            ),
            RunFailure::Over { run, is_unchanged: false } => write!(
                f,
                "the run {run} has come to its end; there is nothing left to do. `prose run` starts a new one. To run again from a place, change the \
                program there and use `prose resume {run} --accept-changes`, which keeps the results of all sessions that are asked the same"
            ),
            RunFailure::Over { run, is_unchanged: true } => write!(
                f,
                "the run {run} has come to its end, and its program has not changed since. To run again from a place, change the program there, \
                such as the prompt of a session: that session runs again, with all that depends on it. `prose run` starts a new run"
            ),
            RunFailure::Run(error) => error.fmt(f),
            RunFailure::Runtime(error) => write!(f, "the system gives no event loop: {error}"),
        }
    }
}

impl std::error::Error for RunFailure {}

impl From<StateError> for RunFailure {
    fn from(error: StateError) -> Self {
        RunFailure::State(error)
    }
}
