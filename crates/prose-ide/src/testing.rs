//! Helpers for the tests of the features.

#[path = "../tests/it/support/programs.rs"]
mod programs;

pub(crate) use programs::{Analysed, analysed, expect_lines};
