//! The paths of `use`: the programs that they name, and their errors.
//!
//! Nothing here reads a file or makes a request, so that the analysis and the client of registries can share it.

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
