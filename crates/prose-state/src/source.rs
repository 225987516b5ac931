//! The bytes of a journal, wherever they are stored: in a file, or in the rows of a database.
//!
//! Everything that reads journals reads lines at offsets, so that it is the same for both.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::database::{DATABASE_FILE, Rows, is_database};
use crate::disk::OwnFile;
use crate::error::StateError;

/// The name of the journal in the folder of a run that keeps its state in files.
pub const JOURNAL_FILE: &str = "journal.jsonl";

/// The journal of the run in a folder: the database of a run that keeps its state there, and otherwise the file, also where it is missing.
pub fn journal_of(folder: &Path) -> PathBuf {
    let file = folder.join(JOURNAL_FILE);
    let database = folder.join(DATABASE_FILE);
    let is_there = |path: &Path| path.symlink_metadata().is_ok();
    if !is_there(&file) && is_there(&database) { database } else { file }
}

/// A journal that is read from any offset.
#[derive(Debug)]
pub(crate) enum JournalSource {
    File(File),
    Rows(Box<Rows>),
}

impl JournalSource {
    pub(crate) fn open(path: &Path) -> Result<Self, StateError> {
        match is_database(path) {
            true => Ok(Self::Rows(Box::new(Rows::open(path)?))),
            false => Ok(Self::File(OwnFile(path).reader()?)),
        }
    }

    /// Whether there is a journal at that path, which may be empty.
    pub(crate) fn is_there(path: &Path) -> Result<bool, StateError> {
        match is_database(path) {
            true => Ok(path.symlink_metadata().is_ok()),
            false => OwnFile(path).is_there(),
        }
    }

    /// How many bytes the journal has.
    pub(crate) fn length(&self) -> io::Result<u64> {
        match self {
            Self::File(file) => Ok(file.metadata()?.len()),
            Self::Rows(rows) => rows.length(),
        }
    }
}

impl Read for JournalSource {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.read(into),
            Self::Rows(rows) => rows.read(into),
        }
    }
}

impl Seek for JournalSource {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            Self::File(file) => file.seek(to),
            Self::Rows(rows) => rows.seek(to),
        }
    }
}
