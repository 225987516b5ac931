//! Programs on a disk and in registries: imports from the network to the diagnostics, and what can be run.

#![allow(clippy::unwrap_used, reason = "a test that panics is a test that fails")]

mod codes;
mod outcomes;
mod registries;
mod runnable;
mod shown;
mod support;
mod transitive;
