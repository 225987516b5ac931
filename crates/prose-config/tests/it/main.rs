//! Settings: files, values, levels, and everything that can be wrong with them.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod bad_input;
mod docs;
mod files;
mod levels;
mod support;
mod values;
