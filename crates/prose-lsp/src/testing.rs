//! Test files: what is wrong with those that are open, and runs of their cases.

pub(crate) mod commands;
pub(crate) mod document;
pub(crate) mod results;
