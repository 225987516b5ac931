//! Programs and what happens when they run.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod support;

mod activities;
mod bad_programs;
mod bindings;
mod blocks;
mod budget;
mod commands;
mod context;
mod determinism;
mod discretion;
mod errors;
mod estimates;
mod expenses;
mod frames;
mod gate;
mod inputs_and_imports;
mod limits;
mod loops;
mod memory;
mod mutants;
mod official_programs;
mod parallel;
mod pipelines;
mod prompt_shares;
mod prompts;
mod resume;
mod room;
mod sessions;
mod strategies;
mod values;
