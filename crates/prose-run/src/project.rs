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
    let root = folder.or_else(|| folder_of_settings(here, trust)).unwrap_or_else(|| here.to_owned());
    Project { home: std::env::home_dir(), ..Project::new(root) }
}

fn folder_of_settings(here: &Path, trust: &UserTrust) -> Option<PathBuf> {
    let store = trust.store();
    let found =
        prose_config::find_accepted(&here.join("program.prose"), |file| accepts_settings(&store, file));
    found.and_then(|file| file.parent().map(Path::to_owned))
}

/// The project of a program that is no file, such as one from standard input: that of the working folder if there is one, which then has a `prose.toml` in
/// it or around it, or runs; else a temporary one, so that no folder gets a `.prose` by the way.
pub fn project_of_text(
    folder: Option<PathBuf>,
    here: &Path,
    trust: &UserTrust,
) -> Result<Project, FileError> {
    let is_project = folder.is_some()
        || folder_of_settings(here, trust).is_some()
        || Project::new(here).runs().parent().is_some_and(Path::is_dir);
    match is_project {
        true => Ok(project_at(folder, here, trust)),
        false => TemporaryProject::new(trust.files.clone()).create(),
    }
}

/// The project with a run: this one, or a temporary one if only that has a run of this name.
pub fn project_with_run(project: Project, run: &str, files: &UserFiles) -> Project {
    if project.find_run(run).is_ok() {
        return project;
    }
    let all = files.path(TEMPORARY).and_then(|all| std::fs::read_dir(all).ok());
    let temporary = all.into_iter().flatten().flatten().map(|entry| Project::new(entry.path()));
    let found = temporary.into_iter().find(|temporary| temporary.find_run(run).is_ok());
    found.map(|found| Project { root: found.root, ..project.clone() }).unwrap_or(project)
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
