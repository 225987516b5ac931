//! Runs that start, stop and resume.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod control;
mod foreign;
mod generated;
mod money;
mod replay;
mod resume;
mod stores;
mod waiting;
