//! The priorities of runs of a cluster.

use clap::ValueEnum;

/// How urgent a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum RunPriority {
    /// When nothing else is to be done
    Low,
    /// As all runs without the flag
    #[default]
    Normal,
    /// Before all other runs
    High,
}
