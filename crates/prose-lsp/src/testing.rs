//! Test files: what is wrong with those that are open, what is completed and documented in them, and runs of their cases.

pub(crate) mod assist;
pub(crate) mod commands;
pub(crate) mod document;
pub(crate) mod results;
