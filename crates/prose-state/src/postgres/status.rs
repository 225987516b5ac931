//! How a server stands, and how it is prepared, without a run.

use std::path::Path;

use super::address::Address;
use super::link::{Link, Purpose};
use super::schema::VERSION;
use super::{prepare, version};
use crate::error::StateError;

/// What there is on a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerStatus {
    /// The server, without the user and the password: `localhost:5432/prose`.
    pub server: String,
    /// The version of PostgreSQL.
    pub postgres: String,
    /// The schema of the tables.
    pub schema: String,
    /// The version of the tables; `None` if the schema has none.
    pub version: Option<i32>,
    /// The version that this `prose` writes and the latest that it reads.
    pub supported: i32,
    /// How many runs there are of each status, the most frequent first.
    pub runs: Vec<(String, i64)>,
}

/// The server that a user has given, or that of the project.
fn address(root: &Path, url: Option<&str>, schema: Option<&str>) -> Result<Address, StateError> {
    match url {
        Some(url) => Address::given(url, root, schema),
        None => Address::of_project(root, schema),
    }
}

/// How a server stands: the given one, or that of the project in a folder (R118). Nothing is changed.
pub fn server_status(
    root: &Path,
    url: Option<&str>,
    schema: Option<&str>,
) -> Result<ServerStatus, StateError> {
    let address = address(root, url, schema)?;
    let link = Link::new(address.clone(), Purpose::Reading);
    let failed = || address.failed("read from");
    let rows = link.query("SELECT current_setting('server_version')", Vec::new()).map_err(failed())?;
    let postgres = rows.first().map(|row| row.get(0)).unwrap_or_default();
    let version = version(&link).map_err(failed())?;
    let runs = match version {
        None => Vec::new(),
        Some(_) => {
            let sql = "SELECT status, count(*) FROM run GROUP BY status ORDER BY count(*) DESC, status";
            let rows = link.query(sql, Vec::new()).map_err(failed())?;
            rows.iter().map(|row| (row.get(0), row.get(1))).collect()
        }
    };
    Ok(ServerStatus {
        server: address.to_string(),
        postgres,
        schema: address.schema.clone(),
        version,
        supported: VERSION,
        runs,
    })
}

/// Makes the schema and its tables on a server, or brings them up to date. Returns how it stood before.
pub fn prepare_server(
    root: &Path,
    url: Option<&str>,
    schema: Option<&str>,
) -> Result<ServerStatus, StateError> {
    let before = server_status(root, url, schema)?;
    let address = address(root, url, schema)?;
    prepare(&Link::new(address.clone(), Purpose::Reading), &address)?;
    Ok(before)
}
