//! Semantic analysis of OpenProse programs.
//!
//! The unit of all work is the top-level statement. Its model ([`model`]) depends on its own text, and what is found in it, of the rest of the file,
//! on the few names that it uses. What is known is kept for some statements together, which are a chunk. So an edit costs what it touches, and not what the
//! file or the workspace is long.

// The macros of salsa write code that is unsafe inside, with their own proofs.
#![allow(unsafe_code)]

pub mod call_graph;
mod certain;
pub mod checks;
pub mod contract;
pub mod db;
pub mod diagnostics;
pub mod host;
mod ignores;
mod importers;
pub mod imports;
pub mod index;
mod interface;
pub mod location;
mod lower;
pub mod model;
mod neighbours;
pub mod parts;
mod released;
mod repairs;
pub mod resolve;
pub mod rights;
pub mod skills;
pub mod statements;
pub mod summary;

pub use db::{Database, Db, SourceFile, Text};
pub use host::AnalysisHost;
pub use salsa::Cancelled;
