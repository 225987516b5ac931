//! Imported programs: converts the results of registries into programs and diagnostics of the analysis.
//!
//! The analysis requests imports, and [`prose_registry`] fetches them. Neither depends on the other.

pub(crate) mod copies;
mod fetched;
mod paths;
mod pins;
mod project;
mod registries;

pub use fetched::{fetched, importer, never_fetched, not_fetched, too_many};
pub use paths::{asked_rights, import_paths};
pub use pins::{commit, pin};
pub(crate) use project::NOTHING_IS_FETCHED;
pub use project::{ImportOptions, Imports, LockUse, Needs, ProjectImports, Update, block_on};
pub use registries::{FetchResult, PendingFetch, Registries, shown_at};
