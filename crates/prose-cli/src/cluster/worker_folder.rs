//! The folder of a worker, with the bundles of its runs. It is removed with the worker, and that of a worker that was killed with the next one.

use std::fs::{File, Metadata, read_dir, remove_dir_all, remove_file};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::{Builder, TempDir};

use super::host_name::host_name;

const PREFIX: &str = "prose-worker-";

/// The file that a worker has locked in its folder. The system unlocks it when the worker ends, in whatever way.
const LOCK_FILE: &str = ".lock";

/// How old the lock of a folder is that is removed. A younger one may be that of a worker that is about to lock it.
const MIN_AGE: Duration = Duration::from_secs(60);

/// The folder of this worker.
pub(super) struct WorkerFolder {
    folder: TempDir,
    /// The lock lasts as long as the file is open. Where files cannot be locked, the folder has no lock file and stays if the worker is killed.
    _lock: Option<File>,
}

impl WorkerFolder {
    /// Makes a folder for this worker among temporary files, and removes those of workers of the same user that were killed.
    pub(super) fn new() -> io::Result<Self> {
        let mut folder = Builder::new();
        folder.prefix(PREFIX);
        // It has what was submitted, which is not for other users of the machine.
        #[cfg(unix)]
        folder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let folder = folder.tempdir()?;
        let lock = lock(&folder.path().join(LOCK_FILE)).ok();
        // What cannot be removed harms nobody.
        let _ = remove_abandoned(folder.path());
        Ok(Self { folder, _lock: lock })
    }

    /// Its path, without links.
    pub(super) fn path(&self) -> io::Result<PathBuf> {
        self.folder.path().canonicalize()
    }
}

/// Locks a file, with the name of the machine: another machine that shares the folder of temporary files may not see that it is locked.
fn lock(path: &Path) -> io::Result<File> {
    let mut file = File::create(path)?;
    let locked = file.lock().and_then(|()| file.write_all(host_name().as_bytes()));
    if locked.is_err() {
        remove_file(path)?;
    }
    locked.map(|()| file)
}

/// Removes the folders beside that of a worker whose workers have ended.
fn remove_abandoned(own: &Path) -> io::Result<()> {
    let metadata = own.symlink_metadata()?;
    for entry in read_dir(own.parent().unwrap_or(own))?.flatten() {
        let is_other = entry.path() != *own && entry.file_name().to_string_lossy().starts_with(PREFIX);
        // Nothing of another user is opened: it could be a pipe, which keeps who opens it waiting.
        let is_folder = |found: &Metadata| found.is_dir() && is_same_user(found, &metadata);
        if is_other && entry.path().symlink_metadata().is_ok_and(|found| is_folder(&found)) {
            let _ = remove_if_abandoned(&entry.path());
        }
    }
    Ok(())
}

fn remove_if_abandoned(folder: &Path) -> io::Result<()> {
    let lock = File::open(folder.join(LOCK_FILE))?;
    let age = lock.metadata()?.modified()?.elapsed().unwrap_or_default();
    if age <= MIN_AGE || lock.try_lock().is_err() || io::read_to_string(&lock)? != host_name() {
        return Ok(());
    }
    // The lock file goes last, so that the next worker tries again what cannot be removed now.
    for entry in read_dir(folder)?.flatten().filter(|entry| entry.file_name() != LOCK_FILE) {
        match entry.file_type()?.is_dir() {
            true => remove_dir_all(entry.path())?,
            false => remove_file(entry.path())?,
        }
    }
    remove_dir_all(folder)
}

#[cfg(unix)]
fn is_same_user(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    one.uid() == other.uid()
}

/// Temporary files are those of one user.
#[cfg(not(unix))]
fn is_same_user(_: &Metadata, _: &Metadata) -> bool {
    true
}
