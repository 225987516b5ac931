//! The rights of programs that were fetched (decision 19), and the files that no program passes on by accident.
//!
//! A local program acts for the person. A fetched one has its inputs and a folder of memory of its own; everything else is a [`Right`] that the
//! project grants by name. Nothing here reads a file: what a path leads to is for the caller to find out.

mod grants;
mod identity;
mod paths;
mod protected;
mod right;

pub use grants::Grants;
pub use identity::Identity;
pub use paths::normalized;
pub use protected::{is_in_git, is_protected};
pub use right::{InvalidRight, Right};
