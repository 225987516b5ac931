//! Results of tests for other programs.

mod json;
mod junit;

pub use self::json::{event, finished, json, listed, problems};
pub use self::junit::junit;

use crate::check::Mismatch;
use crate::runner::{AttemptEnd, VariantResult};

/// What the first failed run of a variant did not fulfil.
fn mismatches(result: &VariantResult) -> &[Mismatch] {
    match result.first_failure() {
        Some((_, AttemptEnd::Failed(mismatches))) => mismatches,
        _ => &[],
    }
}

/// Why a variant failed, in lines; each expectation that is not fulfilled with its place.
fn reasons(result: &VariantResult, place: impl Fn(&Mismatch) -> String) -> Vec<String> {
    match result.first_failure() {
        Some((_, AttemptEnd::Failed(mismatches))) => {
            mismatches.iter().map(|mismatch| format!("{}: {}", place(mismatch), mismatch.message)).collect()
        }
        Some((_, AttemptEnd::Error(message))) => vec![message.clone()],
        _ => Vec::new(),
    }
}
