//! Runs told in lines and read back.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;
mod cuts;
mod deviations;
mod golden;
mod machine;
mod shapes;
