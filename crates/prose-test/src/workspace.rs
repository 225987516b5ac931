//! Temporary folders for runs that have files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use ignore::WalkBuilder;
use tempfile::TempDir;

/// The most files and bytes of a project that are copied for a test.
const MAX_FILES: usize = 20_000;
const MAX_BYTES: u64 = 500 << 20;

/// What shows that a file was written.
type Stamp = (Option<SystemTime>, u64);

/// A temporary folder in which a run works. It is removed with the value.
pub(crate) struct Workspace {
    folder: TempDir,
    /// The copied files with their times and sizes; none in a folder that is not a copy.
    copied: Option<BTreeMap<PathBuf, Stamp>>,
}

impl Workspace {
    /// An empty folder, for runs that only need a place for what they record.
    pub(crate) fn empty() -> io::Result<Self> {
        Ok(Self { folder: temporary()?, copied: None })
    }

    /// A copy of a project, without hidden and ignored files, for agents that work in it.
    pub(crate) fn copy_of(root: &Path) -> io::Result<Self> {
        let folder = temporary()?;
        let mut bytes = 0;
        for (count, path) in files(root).enumerate() {
            let target = folder.path().join(path.strip_prefix(root).unwrap_or(&path));
            bytes += path.metadata().map_or(0, |metadata| metadata.len());
            if count >= MAX_FILES || bytes > MAX_BYTES {
                return Err(io::Error::other(format!(
                    "the project is too large to be copied for a test: more than {MAX_FILES} files or {} MB; add what it does not need to `.gitignore`",
                    MAX_BYTES >> 20
                )));
            }
            if let Some(folder) = target.parent() {
                fs::create_dir_all(folder)?;
            }
            fs::copy(&path, &target)?;
        }
        let copied = files(folder.path()).map(|path| (path.clone(), stamp(&path))).collect();
        Ok(Self { folder, copied: Some(copied) })
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The files that were added or written since the project was copied, relative to it.
    pub(crate) fn written(&self) -> BTreeSet<String> {
        let Some(copied) = &self.copied else { return BTreeSet::new() };
        let written = files(self.path()).filter(|path| copied.get(path) != Some(&stamp(path)));
        let relative = |path: PathBuf| {
            let relative = path.strip_prefix(self.path()).unwrap_or(&path);
            relative.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/")
        };
        written.map(relative).collect()
    }
}

fn stamp(path: &Path) -> Stamp {
    let metadata = path.metadata().ok();
    let modified = metadata.as_ref().and_then(|metadata| metadata.modified().ok());
    (modified, metadata.map_or(0, |metadata| metadata.len()))
}

fn temporary() -> io::Result<TempDir> {
    tempfile::Builder::new().prefix("prose-test-").tempdir()
}

/// The files in a folder, without hidden and ignored ones. Links are not followed.
fn files(root: &Path) -> impl Iterator<Item = PathBuf> {
    let walk = WalkBuilder::new(root).require_git(false).build();
    walk.filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
        .map(ignore::DirEntry::into_path)
}
