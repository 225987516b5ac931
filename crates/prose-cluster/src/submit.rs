//! Submits a run to a server.

use std::io;
use std::time::SystemTime;

use prose_run::Caps;
use prose_state::folder::run_id;
use prose_state::{Server, protocol};
use smol_str::SmolStr;

use crate::bundle::Bundle;
use crate::connection::execute;
use crate::error::ClusterError;
use crate::priority::Priority;

/// Submits a run to a server that has its tables. Returns its id. It starts as soon as a worker is free and no run of a higher priority waits.
pub fn submit(server: &Server, bundle: &Bundle, priority: Priority) -> Result<SmolStr, ClusterError> {
    let text = text_of(bundle)?;
    let id = run_id(SystemTime::now());
    let (id_text, priority) = (id.as_str(), priority.number());
    execute(server, protocol::SUBMIT, &[&id_text, &text, &bundle.version, &priority], Some("job"))?;
    Ok(id)
}

/// Submits a run that a server has and that was not submitted, such as an imported one. It continues from where it stopped, with these limits. Nothing changes
/// if it was submitted.
pub fn adopt(server: &Server, run: &str, bundle: Bundle, caps: Caps) -> Result<(), ClusterError> {
    let bundle = if caps == Caps::default() { bundle } else { bundle.resumed(1, caps) };
    let text = text_of(&bundle)?;
    execute(server, protocol::ADOPT, &[&run, &text, &bundle.version], Some("job")).map(drop)
}

pub(crate) fn text_of(bundle: &Bundle) -> Result<String, io::Error> {
    serde_json::to_string(bundle).map_err(io::Error::from)
}
