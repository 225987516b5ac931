//! The repository for relative paths in the formats for services.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use prose_analysis::location::normalized;

use crate::cli::STDIN;

/// The Git repository of a folder. A service has the repository, not the current folder of `prose check`.
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

    /// The base of relative paths.
    pub(crate) fn base(&self) -> &Path {
        self.root.as_deref().unwrap_or(&self.current)
    }

    /// A path relative to the repository. Paths outside of it are not changed.
    pub(crate) fn path<'a>(&self, path: &'a Path) -> Cow<'a, Path> {
        let Some(root) = self.root.as_deref().filter(|_| path != Path::new(STDIN)) else {
            return Cow::Borrowed(path);
        };
        match normalized(&self.current.join(path)).strip_prefix(root) {
            Ok(relative) => Cow::Owned(relative.to_owned()),
            Err(_) => Cow::Borrowed(path),
        }
    }

    /// The path relative to the repository as text, with forward slashes.
    pub(crate) fn name(&self, path: &Path) -> String {
        forward_slashes(&self.path(path).to_string_lossy())
    }
}

/// The path with forward slashes.
pub(crate) fn forward_slashes(path: &str) -> String {
    path.replace(std::path::MAIN_SEPARATOR, "/")
}
