//! Imports from elsewhere, from the network to the diagnostics.

mod codes;
mod outcomes;
mod registries;
mod shown;
mod support;
mod transitive;
