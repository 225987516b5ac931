//! The repository that paths are relative to in the formats that services read.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use prose_analysis::imports::normalized;

use crate::cli::STDIN;

/// The Git repository around a folder. A service that shows findings sees the repository and not the folder that `prose check` ran in.
pub(crate) struct Repository {
    root: Option<PathBuf>,
    current: PathBuf,
}

impl Repository {
    /// The repository of the folder that `prose check` runs in.
    pub(crate) fn of_current_folder() -> Self {
        Self::around(std::env::current_dir().unwrap_or_default())
    }

    /// The repository of a folder: the nearest folder upwards that has a `.git`, which is a file in worktrees and submodules.
    pub(crate) fn around(current: PathBuf) -> Self {
        let root = current.ancestors().find(|folder| folder.join(".git").exists()).map(Path::to_owned);
        Self { root, current }
    }

    /// The folder that relative paths are relative to.
    pub(crate) fn base(&self) -> &Path {
        self.root.as_deref().unwrap_or(&self.current)
    }

    /// A path as it is relative to the repository. Paths outside a repository stay as they are.
    pub(crate) fn path<'a>(&self, path: &'a Path) -> Cow<'a, Path> {
        let Some(root) = self.root.as_deref().filter(|_| path != Path::new(STDIN)) else {
            return Cow::Borrowed(path);
        };
        match normalized(&self.current.join(path)).strip_prefix(root) {
            Ok(relative) => Cow::Owned(relative.to_owned()),
            Err(_) => Cow::Borrowed(path),
        }
    }
}
