//! The rights of fetched programs (decision 19), and the protected files that no program passes on by accident.
//!
//! A local program acts for the user. A fetched one has its inputs and its own memory folder; everything else is a [`Right`] that the project grants
//! by name. [`PermissionRule`] is what a program says about its agents. This crate reads no files: the caller resolves paths.

mod grants;
mod identity;
mod paths;
mod protected;
mod right;
mod rule;

pub use grants::Grants;
pub use identity::Identity;
pub use paths::normalized;
pub use protected::{is_in_git, is_protected};
pub use right::{InvalidRight, Right};
pub use rule::{About, Enforcement, PermissionRule, RuleKind};
