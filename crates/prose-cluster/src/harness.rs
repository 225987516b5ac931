//! The harness of this machine for the sessions of a run.

use std::path::Path;
use std::sync::Arc;

use prose_run::{Project, Start, backend};
use prose_vm::budget::Accounts;
use prose_vm::harness::Harness;

use crate::bundle::Bundle;

/// What the requests of a run are performed with.
#[derive(Clone)]
pub(crate) struct RunHarness {
    pub(crate) harness: Arc<dyn Harness>,
    /// The prices of its project.
    pub(crate) accounts: Arc<dyn Accounts>,
}

/// Makes a harness for a run, which works in a folder with its bundle, or in a workspace instead.
pub(crate) fn harness_in(
    run: &str,
    bundle: &Bundle,
    root: &Path,
    workspace: Option<&Path>,
) -> Result<RunHarness, String> {
    let mut request = bundle.request(root, Start::New).map_err(|error| error.to_string())?;
    let folder = request.project.run(run).map_err(|error| error.to_string())?;
    std::fs::create_dir_all(&folder).map_err(|error| format!("`{}`: {error}", folder.display()))?;
    if let Some(workspace) = workspace {
        request.project = Project::new(workspace);
    }
    let harness = backend(&request, folder).map_err(|failure| failure.to_string())?;
    Ok(RunHarness { harness, accounts: request.money.accounts_of_worker() })
}
