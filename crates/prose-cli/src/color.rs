//! When colours are used.

use clap::ValueEnum;

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorWhen {
    /// On terminals that can show them
    Auto,
    /// Everywhere
    Always,
    /// Nowhere
    Never,
}
