//! One process per run.

use std::fs::{File, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use prose_files::Folder;

use crate::disk::Tree;
use crate::error::StateError;
use crate::folder::Project;

/// The lock file in the folder of a run. It holds the number of the process that has the lock.
const LOCK_FILE: &str = ".lock";

/// How often the lock is tried, since who lists runs takes it for a moment.
const MAX_TRIES: u32 = 20;

/// How long it is waited between two tries.
const BETWEEN_TRIES: Duration = Duration::from_millis(5);

/// The right to execute a run. The system takes it back when the process ends, in whatever way.
#[derive(Debug)]
pub struct RunLock {
    /// The lock lasts as long as the file is open.
    _file: File,
}

/// What the lock file of a run tells.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LockState {
    /// The process that executes the run, if one does. The number is missing where the system does not let others read a locked file.
    pub(crate) holder: Option<Option<u32>>,
    /// When a process took the lock last, in milliseconds since 1970-01-01 in UTC.
    pub(crate) taken_at: Option<u64>,
    /// Which process that was: two may take it within one tick of the clock of a file system.
    pub(crate) last: Option<u32>,
}

impl LockState {
    /// The state of the lock in the folder of a run.
    pub(crate) fn read(folder: &Path) -> Self {
        // Opened for reading alone, so that looking at a run changes nothing and works in a folder that cannot be written to.
        let opened = Folder::open(folder).and_then(|folder| folder.reader(LOCK_FILE));
        let Ok(Some(mut file)) = opened else { return Self::default() };
        let is_held = matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock));
        // A process writes its number when it takes the lock, and nothing later.
        let written = file.metadata().and_then(|metadata| metadata.modified()).ok();
        let since = written.and_then(|written| written.duration_since(UNIX_EPOCH).ok());
        let last = process_in(&mut file);
        Self {
            holder: is_held.then_some(last),
            taken_at: since.and_then(|since| u64::try_from(since.as_millis()).ok()),
            last,
        }
    }
}

impl RunLock {
    /// Takes the lock of the run in that folder.
    pub(crate) fn acquire(tree: &Tree, run: &str) -> Result<Self, StateError> {
        let path = || tree.folder().path().join(LOCK_FILE);
        let mut file = tree.folder().lockable(LOCK_FILE)?;
        let mut tries = 0;
        loop {
            match file.try_lock() {
                Ok(()) => break,
                // Who only looks whether the run is executed has the lock for a moment as well.
                Err(TryLockError::WouldBlock) if tries < MAX_TRIES => {
                    tries += 1;
                    std::thread::sleep(BETWEEN_TRIES);
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(StateError::Locked { run: run.to_owned(), process: process_in(&mut file) });
                }
                Err(TryLockError::Error(error)) => return Err(StateError::io("lock", &path())(error)),
            }
        }
        // Between opening and locking, another process may have removed the run; what is locked then is no run's any more.
        if !is_still_there(&file, tree) {
            let folder = tree.folder().path().parent().unwrap_or(Path::new("")).to_owned();
            return Err(StateError::NoRun { run: run.to_owned(), folder });
        }
        // The number is for people, so a full disk must not keep a run from being resumed.
        let _ = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| {
            file.write_all(std::process::id().to_string().as_bytes())?;
            file.flush()
        });
        Ok(Self { _file: file })
    }

    /// Takes the lock of a run of a project, for a process that stands for the one that executes it.
    pub fn of_folder(project: &Project, run: &str) -> Result<Self, StateError> {
        Self::acquire(&project.run_tree(&project.existing_run(run)?)?, run)
    }

    /// The process that executes the run in that folder, if one does. The number is missing where the system does not let others read
    /// a locked file.
    pub fn holder(folder: &Path) -> Option<Option<u32>> {
        LockState::read(folder).holder
    }

    /// When a process took the lock last, in milliseconds since 1970-01-01 in UTC.
    pub fn taken_at(folder: &Path) -> Option<u64> {
        LockState::read(folder).taken_at
    }
}

#[cfg(unix)]
fn is_still_there(file: &File, tree: &Tree) -> bool {
    use std::os::unix::fs::MetadataExt;
    let opened = file.metadata().ok().map(|metadata| (metadata.dev(), metadata.ino()));
    let there = tree.folder().path().join(LOCK_FILE).symlink_metadata().ok();
    opened == there.map(|metadata| (metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn is_still_there(_: &File, tree: &Tree) -> bool {
    tree.folder().path().join(LOCK_FILE).is_file()
}

fn process_in(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.take(20).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}
