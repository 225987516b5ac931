//! Imported programs: fetching them, and the commands at imports.

pub(crate) mod commands;
pub(crate) mod fetcher;
mod retries;
