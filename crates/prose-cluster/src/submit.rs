//! Submits a run to a server.

use std::io;
use std::time::SystemTime;

use prose_state::folder::run_id;
use prose_state::{Server, protocol};
use smol_str::SmolStr;
use tokio_postgres::types::ToSql;

use crate::bundle::Bundle;
use crate::connection::Connection;
use crate::error::ClusterError;
use crate::priority::Priority;

/// Submits a run to a server that has its tables. Returns its id. It starts as soon as a worker is free and no run of a higher priority waits.
pub fn submit(server: &Server, bundle: &Bundle, priority: Priority) -> Result<SmolStr, ClusterError> {
    let text = serde_json::to_string(bundle).map_err(io::Error::from)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let (mut connection, _) = Connection::open(server).await?;
        let id = run_id(SystemTime::now());
        let failed = ClusterError::of(server);
        let (id_text, priority) = (id.as_str(), priority.number());
        let parameters: [&(dyn ToSql + Sync); 4] = [&id_text, &text, &bundle.version, &priority];
        connection.query(protocol::SUBMIT, &parameters).await.map_err(&failed)?;
        connection.notify("job").await.map_err(&failed)?;
        Ok(id)
    })
}
