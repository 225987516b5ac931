//! Imported programs: converts the results of registries into programs and diagnostics of the analysis.
//!
//! The analysis requests imports, and [`prose_registry`] fetches them. Neither depends on the other.

pub(crate) mod copies;
mod fetched;
mod paths;
mod pins;
mod project;
mod registries;

pub use fetched::{fetched, importer, not_fetched, not_requested, too_many_programs};
pub use paths::{import_paths, requested_rights};
pub use pins::{commit, pin};
pub(crate) use project::NOTHING_IS_FETCHED;
pub use project::{ImportOptions, Imports, LockUse, Needs, ProjectImports, Update, block_on};
pub use registries::{FetchResult, PendingFetch, Registries, shown_at};
