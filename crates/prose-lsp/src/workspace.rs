//! The files of the workspace: settings, programs that are not open, files that move.

pub(crate) mod files;
pub(crate) mod message;
pub(crate) mod moves;
pub(crate) mod scan;
pub(crate) mod scanner;
pub(crate) mod settings;
