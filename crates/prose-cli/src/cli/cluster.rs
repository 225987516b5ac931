//! The command for PostgreSQL servers.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgGroup, Args, Subcommand, ValueEnum, ValueHint};

use crate::candidates;

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
  prose cluster init --schema research     make the tables in a schema of their own
  prose cluster set-quota key --class claude --max-parallel 20    at most 20 sessions of Claude on all workers together
  prose cluster grant worker gpu-machine   let a user perform requests, and nothing else")]
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
    /// Show the server, the version of the tables, how many runs there are, the workers, and what waits for them
    Status(ServerArgs),
    /// Bring the tables to the version of this `prose`, and make dropped ones again
    Migrate(ServerArgs),
    /// List the quotas of harnesses, and how much of each is used
    Quotas(ServerArgs),
    SetQuota(QuotaArgs),
    /// Remove a quota
    RemoveQuota {
        /// The name of the quota
        #[arg(value_name = "NAME")]
        name: String,
        #[command(flatten)]
        server: ServerArgs,
    },
    /// Let a user of the database lead runs, perform requests, or read, in place of what the user could do before
    Grant {
        /// What the user may do
        #[arg(value_enum, value_name = "ROLE")]
        role: UserRole,
        /// The user, as `CREATE ROLE` has made it
        #[arg(value_name = "USER")]
        user: String,
        #[command(flatten)]
        server: ServerArgs,
    },
    /// Take all rights in the schema from a user
    Revoke {
        /// The user
        #[arg(value_name = "USER")]
        user: String,
        #[command(flatten)]
        server: ServerArgs,
    },
}

/// What a user may do on a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum UserRole {
    /// Submit, lead and perform runs, answer and stop them, and set quotas
    Coordinator,
    /// Perform requests with `prose worker`: the user sees what it performs, and no other runs
    Worker,
    /// Read everything
    Reader,
}

/// Limit how many sessions of some harnesses run at the same time in the whole cluster, and what they cost
///
/// The quota replaces one of the same name. Sessions at work are completed; others wait until there is room, or until the next day, week or month begins in
/// UTC. If several quotas apply to a harness, all of them do.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("limit").args(["max_parallel", "max_cost"]).required(true).multiple(true))]
#[command(after_help = "Examples:
  prose cluster set-quota team-key --class claude,opencode --max-parallel 20    the harnesses that use one key
  prose cluster set-quota budget --max-cost 100 --per month                     all harnesses together
  prose cluster set-quota team-key --max-parallel 0                             nothing new starts")]
pub(crate) struct QuotaArgs {
    /// The name of the quota
    #[arg(value_name = "NAME")]
    pub(crate) name: String,

    #[command(flatten)]
    pub(crate) server: ServerArgs,

    /// The harnesses, separated by commas; by default, all of them
    #[arg(long = "class", value_name = "HARNESS", value_delimiter = ',', add = candidates::harnesses())]
    pub(crate) classes: Vec<String>,

    /// How many sessions may be at work at the same time
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(0..))]
    pub(crate) max_parallel: Option<i64>,

    /// What sessions may cost in US dollars, such as `2.50`; a session whose price is unknown counts as 0
    #[arg(long, value_name = "DOLLARS", value_parser = super::run::amount)]
    pub(crate) max_cost: Option<f64>,

    /// For which time the cost is counted
    #[arg(long, value_enum, value_name = "PERIOD", default_value_t = QuotaPeriod::Day, requires = "max_cost")]
    pub(crate) per: QuotaPeriod,
}

/// For which time a cost is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum QuotaPeriod {
    /// Since midnight
    Day,
    /// Since Monday
    Week,
    /// Since the first of the month
    Month,
    /// Since the tables were made
    Ever,
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

    /// Let agents work in this folder, which all workers share, such as the project on a network file system; by default, they start in an empty one
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub(crate) workspace: Option<PathBuf>,

    /// Serve metrics for Prometheus at this address, such as `127.0.0.1:9464`, below `/metrics`
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) metrics: Option<SocketAddr>,

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
