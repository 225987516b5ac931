//! The project of a run.

use prose_project::trust::accepts_settings;
use prose_run::Project;
use std::path::{Path, PathBuf};

use prose_run::UserTrust;

/// The project of the present folder, for commands about runs.
pub(crate) fn present_project() -> Project {
    project_of(None)
}

/// Where runs keep their files: in the folder of the program's `prose.toml`, else in the present one.
pub(super) fn project_of(folder: Option<PathBuf>) -> Project {
    let root = folder.unwrap_or_else(|| {
        let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
        let store = UserTrust::of_user().store();
        let found =
            prose_config::find_accepted(&here.join("program.prose"), |file| accepts_settings(&store, file));
        found.and_then(|file| file.parent().map(Path::to_owned)).unwrap_or(here)
    });
    Project { home: std::env::home_dir(), ..Project::new(root) }
}
