//! Where the runs of programs keep their files.

use std::path::{Path, PathBuf};

use prose_project::trust::{UserTrust, accepts_settings};
use prose_state::folder::Project;

/// The project of a program: the folder of its `prose.toml`, else that of the `prose.toml` around a working folder, else this one.
pub fn project_at(folder: Option<PathBuf>, here: &Path, trust: &UserTrust) -> Project {
    let root = folder.unwrap_or_else(|| {
        let store = trust.store();
        let found =
            prose_config::find_accepted(&here.join("program.prose"), |file| accepts_settings(&store, file));
        found.and_then(|file| file.parent().map(Path::to_owned)).unwrap_or_else(|| here.to_owned())
    });
    Project { home: std::env::home_dir(), ..Project::new(root) }
}
