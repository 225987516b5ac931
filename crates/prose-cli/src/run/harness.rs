//! The harness of a run.

use crate::cli::run::RunnerArgs;

/// The harness that the arguments name.
pub(crate) fn harness_of(args: &RunnerArgs) -> Option<String> {
    args.harness.clone().or_else(|| args.script.is_some().then(|| "script".to_owned()))
}
