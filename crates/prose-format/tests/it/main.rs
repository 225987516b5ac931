//! The formatter and the canonical form.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod canonical;
mod format;
mod generated;
mod on_type;
mod properties;
mod range;
