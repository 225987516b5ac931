//! The files of the workspace: settings, programs that are not open, files that move.

pub(crate) mod files;
pub(crate) mod moves;
pub(crate) mod project_files;
pub(crate) mod scan;
pub(crate) mod settings;
