//! How a server stands, and how it is prepared, without a run.

use std::path::Path;

use super::address::Address;
use super::link::{Link, Purpose};
use super::missing::{lost_tables, missing_tables, repair};
use super::roles::functions;
use super::schema::VERSION;
use super::{incomplete, prepare, version};
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
    /// The tables that the version has and the schema does not.
    pub missing: Vec<String>,
    /// How many runs there are of each status, the most frequent first.
    pub runs: Vec<(String, i64)>,
}

impl ServerStatus {
    /// Whether tables are missing whose rows nothing else has, so that they are not made again.
    pub fn has_lost_rows(&self) -> bool {
        !lost_tables(&self.missing).is_empty()
    }
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
    let missing = match version {
        None => Vec::new(),
        Some(version) => missing_tables(&link, version).map_err(failed())?,
    };
    let runs = match version {
        Some(_) if !missing.iter().any(|table| table == "run") => {
            let sql = "SELECT status, count(*) FROM run GROUP BY status ORDER BY count(*) DESC, status";
            let rows = link.query(sql, Vec::new()).map_err(failed())?;
            rows.iter().map(|row| (row.get(0), row.get(1))).collect()
        }
        _ => Vec::new(),
    };
    Ok(ServerStatus {
        server: address.to_string(),
        postgres,
        schema: address.schema.clone(),
        version,
        supported: VERSION,
        missing,
        runs,
    })
}

/// Makes the schema and its tables on a server, or brings them up to date. Tables that were dropped are made again, unless their rows are lost with them. Returns
/// how it stood before.
pub fn prepare_server(
    root: &Path,
    url: Option<&str>,
    schema: Option<&str>,
) -> Result<ServerStatus, StateError> {
    let before = server_status(root, url, schema)?;
    let address = address(root, url, schema)?;
    let link = Link::new(address.clone(), Purpose::Reading);
    if let Some(version) = before.version.filter(|_| !before.missing.is_empty()) {
        if before.has_lost_rows() {
            return Err(incomplete(&address, &before.missing));
        }
        link.script(format!("BEGIN; {}COMMIT", repair(&before.missing, version)))
            .map_err(address.failed("repair the schema on"))?;
    }
    if prepare(&link, &address)?.is_some_and(|version| version == VERSION) {
        // Functions that were dropped or changed are made again.
        let script = format!("BEGIN; {}COMMIT", functions(&address.schema));
        link.script(script).map_err(address.failed("repair the schema on"))?;
    }
    Ok(before)
}
