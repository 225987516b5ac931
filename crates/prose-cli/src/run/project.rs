//! The project of a run.

use std::path::PathBuf;

use prose_run::{Project, UserTrust, project_at};

/// The project of the present folder, for commands about runs.
pub(crate) fn present_project() -> Project {
    project_of(None)
}

/// Where runs keep their files: in the folder of the program's `prose.toml`, else in the present one.
pub(crate) fn project_of(folder: Option<PathBuf>) -> Project {
    let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
    project_at(folder, &here, &UserTrust::of_user())
}
