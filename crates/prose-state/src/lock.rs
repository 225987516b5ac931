//! One process per run.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::Path;

use crate::disk::refuse_link;
use crate::error::StateError;

/// The lock file in the folder of a run. It holds the number of the process that has the lock.
const LOCK_FILE: &str = ".lock";

/// The right to execute a run. The system takes it back when the process ends, in whatever way.
#[derive(Debug)]
pub struct RunLock {
    /// The lock lasts as long as the file is open.
    _file: File,
}

impl RunLock {
    /// Takes the lock of the run in that folder.
    pub fn acquire(folder: &Path, run: &str) -> Result<Self, StateError> {
        let path = folder.join(LOCK_FILE);
        refuse_link(&path)?;
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(StateError::io("open", &path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(StateError::Locked { run: run.to_owned(), process: process_in(&mut file) });
            }
            Err(TryLockError::Error(error)) => return Err(StateError::io("lock", &path)(error)),
        }
        // The number is for people, so a full disk must not keep a run from being resumed.
        let _ = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| {
            file.write_all(std::process::id().to_string().as_bytes())?;
            file.flush()
        });
        Ok(Self { _file: file })
    }

    /// The process that executes the run in that folder, if one does. The number is missing where the system does not let others read
    /// a locked file.
    pub fn holder(folder: &Path) -> Option<Option<u32>> {
        // Opened for reading alone, so that looking at a run changes nothing and works in a folder that cannot be written to.
        let mut file = File::open(folder.join(LOCK_FILE)).ok()?;
        match file.try_lock_shared() {
            Ok(()) => None,
            Err(TryLockError::WouldBlock) => Some(process_in(&mut file)),
            Err(TryLockError::Error(_)) => None,
        }
    }
}

fn process_in(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}
