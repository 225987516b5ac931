//! The seal of the start of a run.

use prose_project::key::RunKey;
use prose_state::journal::Sealer;

use crate::RunRequest;

/// What seals the start of a run, or why there is nothing that does.
pub(crate) fn sealer(request: &RunRequest) -> Result<Sealer, String> {
    let key = RunKey::find_or_create(&request.trust.files).map_err(|error| {
        format!(
            "the key that confirms whose run this is cannot be kept: {error}. To resume the run, its program and its harness will have to be named"
        )
    })?;
    Ok(Sealer::new(move |text| key.seal(text)))
}
