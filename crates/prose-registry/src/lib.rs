//! From a reference to the text of the program: HTTP, cache, lock file, vendored copies.

mod cache;
mod program;

pub use cache::{CACHE_DIR, Cache, CacheProblem, Cleaned, MOST_BYTES};
pub use program::{Hash, NoHash, Program, Source, Timestamp};
pub use prose_reference::{GitHost, GitProgram, Invalid, Reference, RegistryProgram};
