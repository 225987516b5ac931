//! Imports from elsewhere, from the network to the diagnostics.

#![allow(clippy::unwrap_used, reason = "a test that panics is a test that fails")]

mod codes;
mod outcomes;
mod registries;
mod shown;
mod support;
mod transitive;
