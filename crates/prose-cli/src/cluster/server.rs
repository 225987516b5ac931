//! The server of a cluster that `--on` names.

use prose_cluster::{ClusterError, Mirror};
use prose_state::{Server, StateError};

use crate::run::project::present_project;

/// The server that `--on` names, with its tables: an address, or `-` for that of the project or of the environment.
pub(crate) fn server_of(on: &str) -> Result<Server, StateError> {
    server_with_schema(Some(on), None)
}

/// The same with a schema that is named, too.
pub(super) fn server_with_schema(url: Option<&str>, schema: Option<&str>) -> Result<Server, StateError> {
    let server = Server::new(url.filter(|url| *url != "-"), &present_project().root, schema)?;
    server.prepare()?;
    Ok(server)
}

/// The runs of the server that `--on` names, or one of them.
pub(crate) fn mirror(on: &str, only: Option<&str>) -> Result<Mirror, ClusterError> {
    Mirror::open(server_of(on)?, only)
}
