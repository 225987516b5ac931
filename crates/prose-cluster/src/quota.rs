//! Quotas: how many sessions of some harnesses run at the same time in the whole cluster, and what they may cost.

use prose_state::Server;
use tokio_postgres::Row;

use crate::connection::execute;
use crate::error::ClusterError;

/// For which time a cost is counted, by the clock of the server in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Period {
    /// Since midnight.
    #[default]
    Day,
    /// Since Monday.
    Week,
    /// Since the first of the month.
    Month,
    /// Since the tables were made.
    Ever,
}

impl Period {
    /// All, from the shortest.
    pub const ALL: [Self; 4] = [Self::Day, Self::Week, Self::Month, Self::Ever];

    /// The name, which is that of PostgreSQL's `date_trunc`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
            Self::Ever => "ever",
        }
    }
}

/// A quota.
#[derive(Debug, Clone, PartialEq)]
pub struct Quota {
    /// Its name, such as that of the key that the harnesses use.
    pub name: String,
    /// The harnesses; none for all.
    pub classes: Vec<String>,
    /// How many requests may be at work at the same time.
    pub max_parallel: Option<i64>,
    /// What they may cost in a period, in US dollars.
    pub max_cost: Option<f64>,
    /// The period.
    pub period: Period,
}

/// A quota, and what there is of it.
#[derive(Debug, Clone, PartialEq)]
pub struct QuotaUse {
    /// The quota.
    pub quota: Quota,
    /// How many requests are at work.
    pub at_work: i64,
    /// What requests have cost in the period, in US dollars, with those at work.
    pub spent: f64,
}

const SET: &str = "INSERT INTO quota (name, classes, max_parallel, max_cost, period)
    VALUES ($1::text, $2::text[], $3::bigint, $4::float8, $5::text)
    ON CONFLICT (name) DO UPDATE SET classes = excluded.classes, max_parallel = excluded.max_parallel,
    max_cost = excluded.max_cost, period = excluded.period";

const REMOVE: &str = "DELETE FROM quota WHERE name = $1::text RETURNING name";

const USED: &str = "SELECT name, classes, max_parallel, max_cost, period, at_work, spent
    FROM quota JOIN quota_use USING (name) ORDER BY name";

/// Sets a quota, in place of one with its name. Workers observe it with their next claims; what is at work continues.
pub fn set_quota(server: &Server, quota: &Quota) -> Result<(), ClusterError> {
    let Quota { name, classes, max_parallel, max_cost, period } = quota;
    let period = period.name();
    execute(server, SET, &[name, classes, max_parallel, max_cost, &period], Some("quota")).map(drop)
}

/// Removes a quota. Returns whether there was one.
pub fn remove_quota(server: &Server, name: &str) -> Result<bool, ClusterError> {
    execute(server, REMOVE, &[&name], Some("quota")).map(|rows| !rows.is_empty())
}

/// The quotas of a server, by their names.
pub fn quotas(server: &Server) -> Result<Vec<QuotaUse>, ClusterError> {
    let rows = execute(server, USED, &[], None)?;
    let of_row = |row: &Row| {
        let period: &str = row.get(4);
        QuotaUse {
            quota: Quota {
                name: row.get(0),
                classes: row.get(1),
                max_parallel: row.get(2),
                max_cost: row.get(3),
                period: Period::ALL.into_iter().find(|known| known.name() == period).unwrap_or_default(),
            },
            at_work: row.get(5),
            spent: row.get(6),
        }
    };
    Ok(rows.iter().map(of_row).collect())
}
