//! The arguments of `prose top`.

use clap::Args;

/// Show all runs of the project on a screen, with keys to pause, stop and open them
#[derive(Debug, Args)]
#[command(
    after_help = "Enter shows a run: its parts, what its sessions write, and its questions. `prose runs list` prints the same list.

Exit status:
  0  you left the list
  2  wrong usage, no terminal, or runs that cannot be read

Examples:
  prose top
  prose top --on postgresql://prose@db.example/prose   the runs of a cluster"
)]
pub(crate) struct TopArgs {
    /// The runs on a PostgreSQL server: its address, or `-` for that of `OPENPROSE_POSTGRES_URL`
    #[arg(long, value_name = "URL")]
    pub(crate) on: Option<String>,
}
