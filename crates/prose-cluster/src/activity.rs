//! What a cluster does now: its workers, and the requests that wait for them.

use std::time::Duration;

use prose_state::{Server, protocol};

use crate::connection::execute;
use crate::error::ClusterError;

/// A worker whose lease has not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerState {
    /// Its name.
    pub name: String,
    /// The harnesses that it performs requests with.
    pub classes: Vec<String>,
    /// How many requests it performs at the same time at most.
    pub slots: i32,
    /// How many it performs now.
    pub at_work: i64,
    /// The version of `prose`.
    pub version: String,
}

/// The requests of a harness that have no outcome yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queue {
    /// The harness.
    pub class: String,
    /// How many wait for a worker.
    pub waiting: i64,
    /// For how long the oldest of them has waited.
    pub oldest: Duration,
    /// How many are at work.
    pub at_work: i64,
}

const WORKERS: &str = "SELECT name, classes, slots, version,
    (SELECT count(*) FROM effect WHERE effect.worker = worker.name AND claim IS NOT NULL AND outcome IS NULL)
    FROM worker WHERE until > clock_timestamp() ORDER BY name";

/// The workers of a server, by their names.
pub fn workers(server: &Server) -> Result<Vec<WorkerState>, ClusterError> {
    let rows = execute(server, WORKERS, &[], None)?;
    let of_row = |row: &tokio_postgres::Row| WorkerState {
        name: row.get(0),
        classes: row.get(1),
        slots: row.get(2),
        version: row.get(3),
        at_work: row.get(4),
    };
    Ok(rows.iter().map(of_row).collect())
}

/// The requests on a server, by their harnesses.
pub fn queues(server: &Server) -> Result<Vec<Queue>, ClusterError> {
    let rows = execute(server, protocol::QUEUE, &[], None)?;
    let mut queues: Vec<Queue> = rows
        .iter()
        .map(|row| Queue {
            class: row.get(0),
            waiting: row.get(1),
            at_work: row.get(2),
            oldest: Duration::from_secs_f64(row.get::<_, f64>(3).max(0.0)),
        })
        .collect();
    queues.sort_by(|one, other| one.class.cmp(&other.class));
    Ok(queues)
}
