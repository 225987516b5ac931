//! The command for PostgreSQL servers.

use std::time::Duration;

use clap::{Args, Subcommand};

/// Prepare a PostgreSQL server for the state of runs, or show how it stands
///
/// The server is that of `OPENPROSE_POSTGRES_URL` in `.prose/.env` or in the environment, then that of `DATABASE_URL`. `prose run --state postgres` also
/// prepares it, if the user of the address may do so.
#[derive(Debug, Args)]
#[command(after_help = "Exit status:
  0  success
  1  the tables are missing or of another version (`status`)
  2  wrong usage, or a server that cannot be used

Examples:
  prose cluster status                     the server of this project
  prose cluster init --schema research     make the tables in a schema of their own")]
pub(crate) struct ClusterArgs {
    /// What to do
    #[command(subcommand)]
    pub(crate) command: ClusterCommand,
}

/// What can be done with a server.
#[derive(Debug, Subcommand)]
pub(crate) enum ClusterCommand {
    /// Make the schema and its tables, unless they are there
    Init(ServerArgs),
    /// Show the server, the version of the tables, and how many runs there are
    Status(ServerArgs),
    /// Bring the tables to the version of this `prose`, and make dropped ones again
    Migrate(ServerArgs),
}

/// The server.
#[derive(Debug, Args)]
pub(crate) struct ServerArgs {
    /// The address, such as `postgresql://user:password@host:5432/database`; other users of this machine can see it while the command runs
    #[arg(value_name = "URL")]
    pub(crate) url: Option<String>,

    /// The schema of the tables; by default, that of `OPENPROSE_POSTGRES_SCHEMA`, or `openprose`
    #[arg(long, value_name = "NAME")]
    pub(crate) schema: Option<String>,
}

/// Lead and perform runs of a cluster
///
/// A worker leads runs that `prose run --on` submits, and performs the requests of any run with the harnesses of its machine. Where one ends, in whatever way,
/// others continue with what it had, within the time of a lease. Users who can write to the database decide what workers start.
#[derive(Debug, Args)]
#[command(after_help = "Ctrl-C gives everything back to the other workers and ends.

Exit status:
  0  it was asked to end
  2  wrong usage, or a server that cannot be used

Examples:
  prose worker --on postgresql://prose@db.example/prose
  prose worker --on - --class claude --slots 4     only sessions of Claude, four at a time
  prose worker --on - --class offline --leads 0    perform requests, and lead no runs")]
pub(crate) struct WorkerArgs {
    /// The address of the PostgreSQL server; `-`, the default, is that of `OPENPROSE_POSTGRES_URL`
    #[arg(long, value_name = "URL", default_value = "-")]
    pub(crate) on: String,

    /// The harnesses to perform requests with, separated by commas; by default, all that are installed
    #[arg(long = "class", value_name = "HARNESS", value_delimiter = ',')]
    pub(crate) classes: Vec<String>,

    /// How many requests to perform at the same time
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub(crate) slots: usize,

    /// How many runs to lead at the same time
    #[arg(long, value_name = "N", default_value_t = 16)]
    pub(crate) leads: usize,

    /// For how long other workers wait for this one when it does not answer, before they continue with what it has
    #[arg(long, value_name = "TIME", value_parser = lease, default_value = "15s")]
    pub(crate) lease: Duration,

    /// Write only errors
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

fn lease(text: &str) -> Result<Duration, String> {
    let lease = super::run::duration(text)?;
    match lease < Duration::from_secs(1) {
        true => Err("a lease needs at least 1s".to_owned()),
        false => Ok(lease),
    }
}
