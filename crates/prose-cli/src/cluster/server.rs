//! The server of a cluster that `--on` names.

use prose_cluster::{ClusterError, Mirror};
use prose_state::{Server, StateError};

use crate::cli::cluster::ServerArgs;
use crate::run::project::present_project;

/// The server that `--on` names, with its tables: an address, or `-` for that of the project or of the environment.
pub(crate) fn server_of(on: &str) -> Result<Server, StateError> {
    with_tables(Some(on), None)
}

/// The server that the arguments of `prose cluster` name, with its tables.
pub(super) fn server_named(args: &ServerArgs) -> Result<Server, StateError> {
    with_tables(args.url.as_deref(), args.schema.as_deref())
}

fn with_tables(url: Option<&str>, schema: Option<&str>) -> Result<Server, StateError> {
    let server = Server::new(url.filter(|url| *url != "-"), &present_project().root, schema)?;
    server.prepare()?;
    Ok(server)
}

/// The runs of the server that `--on` names, or one of them.
pub(crate) fn mirror(on: &str, only: Option<&str>) -> Result<Mirror, ClusterError> {
    Mirror::open(server_of(on)?, only)
}
