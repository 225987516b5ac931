//! Brings imported programs into the analysis: what registries, addresses and repositories give becomes programs and notes.
//!
//! The analysis asks for what imports lead to, and [`prose_registry`] looks it up. Neither knows the other; this crate says in the words
//! of the one what the other found.

mod fetched;
mod paths;
mod registries;

pub use fetched::{fetched, importer, never_fetched, not_fetched, too_many};
pub use paths::{asked_rights, import_paths};
pub use registries::{Fulfilled, Registries, Wish, shown_at};
