//! The tokens, trees, errors and fixes of programs.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod ast;
mod codes;
mod control;
mod definitions;
mod degenerate;
mod errors;
mod expressions;
mod fix_all;
mod fixes;
mod invariants;
mod isolation;
mod literals;
mod pipelines;
mod properties;
mod reference;
mod reparse;
mod sessions;
mod shown;
mod slips;
mod tree;
mod trivia;
mod words;
