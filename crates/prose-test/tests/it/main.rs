//! Test files, their cases, and what is reported about them.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod answers;
mod assist;
mod bad_input;
mod coverage;
mod docs;
mod expectations;
mod reports;
mod schema;
mod support;
mod update;
