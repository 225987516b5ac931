//! The command for PostgreSQL servers.

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
    /// Bring the tables to the version of this `prose`
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
