//! The project of a run.

use std::path::PathBuf;

use prose_project::FileError;
use prose_run::{Project, UserTrust, project_at, project_of_text, project_with_run};

/// The project of the present folder, for commands about runs.
pub(crate) fn present_project() -> Project {
    project_of(None)
}

/// The project of a run that a command names: that of the present folder, or the temporary one of a program from standard input.
pub(crate) fn project_of_run(run: Option<&str>) -> Project {
    let project = present_project();
    match run {
        Some(run) => project_with_run(project, run, &UserTrust::of_user().files),
        None => project,
    }
}

/// Where runs keep their files: in the folder of the program's `prose.toml`, else in the present one.
pub(super) fn project_of(folder: Option<PathBuf>) -> Project {
    project_at(folder, &here(), &UserTrust::of_user())
}

/// Where a run of a program from standard input keeps its files.
pub(super) fn project_of_stdin(folder: Option<PathBuf>) -> Result<Project, FileError> {
    project_of_text(folder, &here(), &UserTrust::of_user())
}

fn here() -> PathBuf {
    std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."))
}
