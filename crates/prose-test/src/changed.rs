//! Which files have changed in the working tree of Git.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use prose_project::files::identity;
use prose_run::changed_in_git;

use crate::file::TestFile;
use crate::subject::Subject;

/// The files that have changed.
#[derive(Debug, Default)]
pub struct ChangedFiles(BTreeSet<PathBuf>);

/// The files in the repository of a folder that differ from a commit, with untracked ones. The error is for the user.
pub fn changed_files(folder: &Path, commit: &str) -> Result<ChangedFiles, String> {
    Ok(ChangedFiles(changed_in_git(folder, commit)?.iter().map(|path| identity(path)).collect()))
}

impl ChangedFiles {
    /// Whether a file has changed.
    pub fn has(&self, path: &Path) -> bool {
        self.0.contains(&identity(path))
    }

    /// Whether the tests of a file may have another result: the file, its program, one of its local imports, its recorded answers or its settings have
    /// changed.
    pub fn concern(&self, file: &TestFile, subject: &Subject) -> bool {
        self.has(&file.path)
            || subject.files().iter().any(|path| self.has(path))
            || file.recorded_files().any(|path| self.has(path))
            || self.has(&subject.root.join(prose_config::FILE_NAME))
    }
}
