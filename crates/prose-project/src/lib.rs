//! The projects that programs belong to: what needs a person's trust, and who has given it.

pub mod key;
pub mod ownership;
pub mod shell;
pub mod trust;
mod user_files;

pub use user_files::{FileError, UserFiles};
