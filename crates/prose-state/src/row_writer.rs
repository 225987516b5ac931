//! The database that the journal of a run and its tables are written to.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use prose_vm::effect::RequestId;
use prose_vm::event::StateMode;

use crate::database::{DATABASE_FILE, Database, io_error};
use crate::error::StateError;
use crate::postgres::{MARKER_FILE, Notice, PostgresDatabase};
use crate::statements::Write;

/// The kind of database whose rows the journal at a path is; `None` if it is a file with a journal.
pub(crate) fn database_of(path: &Path) -> Option<DatabaseKind> {
    let name = path.file_name()?;
    [DatabaseKind::Sqlite, DatabaseKind::Postgres].into_iter().find(|kind| name == kind.file())
}

/// Whether the journal at a path is the rows of a database.
pub(crate) fn is_database(path: &Path) -> bool {
    database_of(path).is_some()
}

/// The databases that a run can keep its state in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DatabaseKind {
    /// A file in the folder of the run.
    Sqlite,
    /// A server.
    Postgres,
}

impl DatabaseKind {
    /// The file in the folder of a run by which its database is known.
    pub(crate) fn file(self) -> &'static str {
        match self {
            Self::Sqlite => DATABASE_FILE,
            Self::Postgres => MARKER_FILE,
        }
    }

    /// The database of a kind of state, if it is one.
    pub(crate) fn of_state(state: StateMode) -> Option<Self> {
        match state {
            StateMode::Sqlite => Some(Self::Sqlite),
            StateMode::Postgres => Some(Self::Postgres),
            StateMode::Filesystem | StateMode::InContext => None,
        }
    }

    /// The kind of state.
    pub(crate) fn state(self) -> StateMode {
        match self {
            Self::Sqlite => StateMode::Sqlite,
            Self::Postgres => StateMode::Postgres,
        }
    }
}

/// A database that is written to.
#[derive(Debug)]
pub(crate) enum RowWriter {
    Sqlite(Database),
    Postgres(Box<PostgresDatabase>),
}

impl RowWriter {
    /// Makes the state of a new run. The folder of the path is that of the run.
    pub(crate) fn create(kind: DatabaseKind, path: &Path) -> Result<Self, StateError> {
        match kind {
            DatabaseKind::Sqlite => Database::create(path).map(Self::Sqlite),
            DatabaseKind::Postgres => PostgresDatabase::create(path).map(|it| Self::Postgres(Box::new(it))),
        }
    }

    /// Opens the state of a run.
    pub(crate) fn open(kind: DatabaseKind, path: &Path) -> Result<Self, StateError> {
        match kind {
            DatabaseKind::Sqlite => Database::open(path).map(Self::Sqlite),
            DatabaseKind::Postgres => PostgresDatabase::open(path).map(|it| Self::Postgres(Box::new(it))),
        }
    }

    pub(crate) fn kind(&self) -> DatabaseKind {
        match self {
            Self::Sqlite(_) => DatabaseKind::Sqlite,
            Self::Postgres(_) => DatabaseKind::Postgres,
        }
    }

    /// What has to be synced after rows were written. What a server has committed, it has synced itself.
    pub(crate) fn log(&mut self) -> Result<File, StateError> {
        match self {
            Self::Sqlite(database) => database.log(),
            Self::Postgres(database) => database.marker(),
        }
    }

    /// From now on, somebody is told where the run waits for its database.
    pub(crate) fn tell(&self, notice: Notice) {
        if let Self::Postgres(database) = self {
            database.tell(notice);
        }
    }

    /// Writes rows of the documented tables, with the next lines or by the next [`RowWriter::commit`].
    pub(crate) fn write_rows(&mut self, rows: Vec<Write>) -> Result<(), StateError> {
        match self {
            Self::Sqlite(database) => database.write_rows(&rows),
            Self::Postgres(database) => {
                database.write_rows(rows);
                Ok(())
            }
        }
    }

    /// Whether this process leads the run, which is one of a cluster.
    pub(crate) fn is_led(&self) -> bool {
        matches!(self, Self::Postgres(database) if database.is_led())
    }

    /// The outcome of a request of a run that is led here is in the journal with the next lines.
    pub(crate) fn settle(&mut self, request: RequestId) {
        if let Self::Postgres(database) = self {
            database.settle(request);
        }
    }

    /// The next lines have something of a run that is led here which is nowhere else, so that they are to be on the disk of the server.
    pub(crate) fn has_news(&mut self) {
        if let Self::Postgres(database) = self {
            database.has_news();
        }
    }

    /// Writes lines of the journal that start at an offset, and what was written before.
    pub(crate) fn write_lines(&mut self, start: u64, lines: &[u8]) -> io::Result<()> {
        match self {
            Self::Sqlite(database) => database.write_lines(start, lines),
            Self::Postgres(database) => database.write_lines(start, lines),
        }
    }

    /// Writes the rows that wait.
    pub(crate) fn commit(&mut self) -> io::Result<()> {
        match self {
            Self::Sqlite(database) => database.commit().map_err(io_error),
            Self::Postgres(database) => database.commit(),
        }
    }

    /// Removes what the journal has after so many bytes.
    pub(crate) fn truncate(&mut self, length: u64) -> Result<(), StateError> {
        match self {
            Self::Sqlite(database) => database.truncate(length),
            Self::Postgres(database) => database.truncate(length),
        }
    }

    /// Replaces all lines of the journal.
    pub(crate) fn replace_lines(
        &mut self,
        lines: impl Iterator<Item = io::Result<Vec<u8>>>,
    ) -> Result<(), StateError> {
        match self {
            Self::Sqlite(database) => database.replace_lines(lines),
            Self::Postgres(database) => database.replace_lines(lines),
        }
    }
}

/// A database that the journal and the tables of a run write to.
#[derive(Debug, Clone)]
pub(crate) struct SharedRowWriter(Arc<Mutex<RowWriter>>);

impl SharedRowWriter {
    pub(crate) fn new(writer: RowWriter) -> Self {
        Self(Arc::new(Mutex::new(writer)))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, RowWriter> {
        // A transaction that a panic has left is ended by the next one, or never was.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
