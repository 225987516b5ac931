//! The bytes of a journal, wherever they are stored: in a file, or in the rows of a database.
//!
//! Everything that reads journals reads lines at offsets, so that it is the same for both.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::database::SqliteRows;
use crate::disk::OwnFile;
use crate::error::StateError;
use crate::postgres::PostgresRows;
use crate::row_writer::{DatabaseKind, database_of, is_database};
use crate::rows::Rows;

/// The name of the journal in the folder of a run that keeps its state in files.
pub const JOURNAL_FILE: &str = "journal.jsonl";

/// The journal of the run in a folder: that of the database of a run that keeps its state there, named by a file of the folder, and otherwise the file,
/// also where it is missing.
pub fn journal_of(folder: &Path) -> PathBuf {
    let file = folder.join(JOURNAL_FILE);
    let is_there = |path: &Path| path.symlink_metadata().is_ok();
    if is_there(&file) {
        return file;
    }
    let databases = [DatabaseKind::Sqlite, DatabaseKind::Postgres].map(|kind| folder.join(kind.file()));
    databases.into_iter().find(|path| is_there(path)).unwrap_or(file)
}

/// A journal that is read from any offset.
#[derive(Debug)]
pub(crate) enum JournalSource {
    File(File),
    Rows(Rows),
}

impl JournalSource {
    pub(crate) fn open(path: &Path) -> Result<Self, StateError> {
        match database_of(path) {
            Some(DatabaseKind::Sqlite) => Ok(Self::Rows(Rows::new(SqliteRows::open(path)?))),
            Some(DatabaseKind::Postgres) => Ok(Self::Rows(Rows::new(PostgresRows::open(path)?))),
            None => Ok(Self::File(OwnFile(path).reader()?)),
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
