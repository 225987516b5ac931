//! The paths of `use`: what they name, and what is wrong with them.
//!
//! Nothing here reads a file or asks a network, so that the analysis and the client of registries can share it.

mod error;
mod git;
mod git_host;
mod local;
mod reference;

pub use error::Invalid;
pub use git::GitProgram;
pub use git_host::GitHost;
pub use reference::{Reference, RegistryProgram};

#[cfg(test)]
mod tests;
