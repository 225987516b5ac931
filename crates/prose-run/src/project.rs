//! Where the runs of programs keep their files.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use prose_project::trust::{UserTrust, accepts_settings};
use prose_project::{FileError, UserFiles};
use prose_state::StateError;
use prose_state::folder::{Project, run_id};
use prose_state::portable;
use prose_state::replay::RecordedRun;
use smol_str::SmolStr;

/// The folder among the user's files with the temporary projects.
const TEMPORARY: &str = "unsaved";

/// How long a temporary project is kept after its last run started.
const KEPT: Duration = Duration::from_secs(7 * 24 * 60 * 60);

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

/// The project of programs that are in no folder, such as those of an editor that were never saved. It is a private folder of the user, with a name of its
/// own for each process, so that programs of the same name do not share their runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemporaryProject {
    files: UserFiles,
    name: String,
}

impl TemporaryProject {
    /// A temporary project among the files of a user. Nothing is created yet.
    pub fn new(files: UserFiles) -> Self {
        Self { files, name: format!("{TEMPORARY}/{}", run_id(SystemTime::now())) }
    }

    /// Its folder; `None` if the system has no folder for files of a user.
    pub fn root(&self) -> Option<PathBuf> {
        self.files.path(&self.name)
    }

    /// Creates its folder, and removes those of earlier processes in which no run has started for a week.
    pub fn create(&self) -> Result<Project, FileError> {
        self.files.create_folder(TEMPORARY)?;
        let root = self.files.create_folder(&self.name)?;
        if let Some(all) = root.parent() {
            remove_old(all, &root, SystemTime::now());
        }
        Ok(Project { home: std::env::home_dir(), ..Project::new(root) })
    }
}

/// Removes temporary projects that are too old. One that cannot be removed stays until the next time.
fn remove_old(all: &Path, own: &Path, now: SystemTime) {
    for entry in std::fs::read_dir(all).into_iter().flatten().flatten() {
        let folder = entry.path();
        let runs = Project::new(&folder).runs();
        let started = runs.metadata().or_else(|_| entry.metadata()).and_then(|found| found.modified());
        let is_old = started.is_ok_and(|at| now.duration_since(at).is_ok_and(|age| age > KEPT));
        let has_live_run = || {
            let list = Project::new(&folder).list_runs().unwrap_or_default();
            list.iter().any(|run| run.status.process().is_some())
        };
        if folder != own && is_old && !has_live_run() {
            let _ = std::fs::remove_dir_all(&folder);
        }
    }
}

/// Moves a run of a temporary project to the project of its program, which was saved in the meantime.
pub fn keep_run(from: &Project, run: &str, to: &Project, program: &Path) -> Result<SmolStr, StateError> {
    let recorded = RecordedRun::in_folder(&from.existing_run(run)?)?;
    let id = portable::adopt(to, &recorded, program)?;
    from.remove_run(&id)?;
    Ok(id)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use super::*;

    #[test]
    fn old_temporary_projects_are_removed_when_another_one_is_created() {
        let folder = prose_fixture::tempdir().unwrap();
        let files = UserFiles::at(folder.path());
        let [old, recent, own] = [(); 3].map(|()| TemporaryProject::new(files.clone()));
        let roots = [&old, &recent, &own].map(|project| project.root().unwrap());
        assert!(roots.iter().all(|root| !root.exists()), "nothing is created before it is needed");
        for (project, days) in [(&old, 8), (&recent, 6)] {
            let runs = project.create().unwrap().runs();
            fs::create_dir_all(&runs).unwrap();
            let then = SystemTime::now() - Duration::from_secs(days * 24 * 60 * 60);
            File::open(&runs).unwrap().set_modified(then).unwrap();
        }
        own.create().unwrap();
        assert_eq!(roots.map(|root| root.exists()), [false, true, true]);
    }
}
