//! Programs on disk and in registries, for the command line and the language server.

pub mod checker;
pub mod files;
pub mod imports;
pub mod key;
pub mod ledger;
pub mod load;
pub mod overlays;
pub mod ownership;
pub mod parts;
pub mod position;
pub mod runnable;
pub mod settings;
pub mod shell;
pub mod skills;
pub mod trust;
mod user_files;
pub mod walk;

pub use files::Failure;
pub use settings::{Diagnosed, Rules, Settings};
pub use user_files::{FileError, UserFiles};
