//! The database of a run that keeps its state in SQLite (R111 to R117): its journal as a table, and the documented tables.
//!
//! The table `journal` has the lines of a journal as they would stand in a file, each with the offset at which it would start. It is the truth, as in
//! a run with files; the other tables are made from the same events ([`crate::tables`]). Tables of others, such as those whose names start with `x_`, stay
//! as they are.
//!
//! No code opens the file of a database in another way while it may be open here: where a process closes any descriptor of a file, POSIX systems
//! release all of its locks, those of SQLite as well.

mod rows;
mod schema;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::ffi::SQLITE_IOERR_SHMSIZE;
use rusqlite::types::{Null, ToSqlOutput};
use rusqlite::{Connection, ErrorCode, OpenFlags, ToSql, params, params_from_iter};

use crate::disk::{OwnFile, refuse_link};
use crate::error::StateError;
use crate::statements::{Column, Write};

pub(crate) use self::rows::SqliteRows;
use self::schema::{APPLICATION_ID, TABLES_OF_AGENTS, TABLES_OF_RUN, VERSION};

/// The name of the database in the folder of a run.
pub(crate) const DATABASE_FILE: &str = "state.db";

/// How long it is waited for another program that writes to the database, such as `sqlite3`.
const BUSY: Duration = Duration::from_secs(10);

/// A database that is written to.
#[derive(Debug)]
pub(crate) struct Database {
    path: PathBuf,
    connection: Connection,
    /// Whether a transaction has begun.
    is_writing: bool,
}

impl Database {
    /// Makes the database of a new run, for the user alone.
    pub(crate) fn create(path: &Path) -> Result<Self, StateError> {
        // SQLite gives the files beside it the same rights.
        OwnFile(path).create_new()?;
        Self::open(path)
    }

    /// Opens a database for writing. Tables that it does not have are made: its process was killed before, or somebody has removed them.
    pub(crate) fn open(path: &Path) -> Result<Self, StateError> {
        let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        let content = content(&connection, path, Kind::Run)?;
        let failed = || failed("open", path);
        // The log lets others read while the run writes. It is synced by the journal, as a file would be.
        connection.pragma_update(None, "journal_mode", "WAL").map_err(failed())?;
        connection.pragma_update(None, "synchronous", "NORMAL").map_err(failed())?;
        let mut database = Self { path: path.to_owned(), connection, is_writing: false };
        // A table that somebody has removed is filled again by the events of the journal.
        database.begin().and_then(|connection| prepare_tables(connection, Kind::Run)).map_err(failed())?;
        database.commit().map_err(failed())?;
        if content.is_none() {
            database.checkpoint()?;
        }
        Ok(database)
    }

    /// The log of the database, which is what has to be synced.
    pub(crate) fn log(&mut self) -> Result<File, StateError> {
        let mut name = self.path.file_name().unwrap_or_default().to_owned();
        name.push("-wal");
        let path = self.path.with_file_name(name);
        // It is made by the first one who reads or writes.
        self.begin().map(drop).map_err(failed("open", &self.path))?;
        self.commit().map_err(failed("open", &self.path))?;
        OwnFile(&path).writer()
    }

    /// Begins a transaction, unless one has begun.
    pub(crate) fn begin(&mut self) -> rusqlite::Result<&Connection> {
        if !self.is_writing {
            self.connection.prepare_cached("BEGIN IMMEDIATE")?.execute(())?;
            self.is_writing = true;
        }
        Ok(&self.connection)
    }

    /// Ends the transaction, if one has begun. What it wrote survives the end of the process.
    pub(crate) fn commit(&mut self) -> rusqlite::Result<()> {
        if self.is_writing {
            self.connection.prepare_cached("COMMIT")?.execute(())?;
            self.is_writing = false;
        }
        Ok(())
    }

    /// Writes rows of the documented tables. They are a part of the transaction of the next lines.
    pub(crate) fn write_rows(&mut self, rows: &[Write]) -> Result<(), StateError> {
        let written =
            self.begin().and_then(|connection| rows.iter().try_for_each(|row| write_row(row, connection)));
        written.map_err(failed("write", &self.path))
    }

    /// Writes lines of the journal that start at an offset, and ends the transaction.
    pub(crate) fn write_lines(&mut self, start: u64, lines: &[u8]) -> io::Result<()> {
        let written = self.insert(start, lines).and_then(|()| self.commit());
        written.map_err(|error| {
            // Where a part of them was written, nothing is.
            if self.is_writing && self.connection.execute_batch("ROLLBACK").is_ok() {
                self.is_writing = false;
            }
            io_error(error)
        })
    }

    fn insert(&mut self, mut start: u64, lines: &[u8]) -> rusqlite::Result<()> {
        let mut insert = self
            .begin()?
            .prepare_cached("INSERT INTO journal (start, line) VALUES (?1, CAST(?2 AS TEXT))")?;
        for line in lines.split_inclusive(|byte| *byte == b'\n') {
            let text = line.strip_suffix(b"\n").unwrap_or(line);
            insert.execute(params![start as i64, text])?;
            start += line.len() as u64;
        }
        Ok(())
    }

    /// Removes what the journal has after so many bytes.
    pub(crate) fn truncate(&mut self, length: u64) -> Result<(), StateError> {
        let path = self.path.clone();
        let cut = |database: &mut Self| {
            let connection = database.begin()?;
            connection.execute("DELETE FROM journal WHERE start >= ?1", [length as i64])?;
            // Where somebody has put several lines into one row, the end may be in the middle of it.
            connection.execute(
                "UPDATE journal SET line = CAST(substr(CAST(line AS BLOB), 1, ?1 - start - 1) AS TEXT)
                 WHERE start = (SELECT max(start) FROM journal) AND start + octet_length(line) + 1 > ?1",
                [length as i64],
            )?;
            database.commit()
        };
        cut(self).map_err(failed("cut the journal", &path))?;
        self.checkpoint()
    }

    /// Replaces all lines of the journal.
    pub(crate) fn replace_lines(
        &mut self,
        lines: impl Iterator<Item = io::Result<Vec<u8>>>,
    ) -> Result<(), StateError> {
        let path = self.path.clone();
        let replace = |database: &mut Self| -> io::Result<()> {
            database
                .begin()
                .and_then(|connection| connection.execute("DELETE FROM journal", ()))
                .map_err(io_error)?;
            let mut start = 0;
            for line in lines {
                let line = line?;
                database.insert(start, &line).map_err(io_error)?;
                start += line.len() as u64;
            }
            database.commit().map_err(io_error)
        };
        replace(self).map_err(StateError::io("repair the journal", &path))?;
        self.checkpoint()
    }

    /// Brings everything to the disk.
    fn checkpoint(&mut self) -> Result<(), StateError> {
        // Where somebody reads, the log stays, and is synced nevertheless.
        let checkpoint = self.connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", (), |_| Ok(()));
        checkpoint.map_err(failed("sync", &self.path))?;
        self.log()?.sync_data().map_err(StateError::io("sync", &self.path))
    }
}

/// Writes a row.
pub(crate) fn write_row(row: &Write, connection: &Connection) -> rusqlite::Result<()> {
    connection.prepare_cached(row.statement.for_sqlite())?.execute(params_from_iter(&row.values)).map(drop)
}

impl ToSql for Column {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Self::Null => ToSqlOutput::from(Null),
            Self::Text(text) => ToSqlOutput::from(text.as_str()),
            Self::Number(number) => ToSqlOutput::from(*number),
            Self::Json(json) => ToSqlOutput::from(json.to_string()),
        })
    }
}

/// What a database is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The state of a run.
    Run,
    /// Agents that outlive runs.
    Agents,
}

/// Makes the tables that a database does not have, and marks it as one of this program. It needs a transaction.
pub(crate) fn prepare_tables(connection: &Connection, kind: Kind) -> rusqlite::Result<()> {
    if kind == Kind::Run {
        connection.execute_batch(TABLES_OF_RUN)?;
    }
    connection.execute_batch(TABLES_OF_AGENTS)?;
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    connection.pragma_update(None, "user_version", VERSION)
}

/// What a database that was opened is for; none if it has nothing yet, because it is just being made or its process was killed then. One that this `prose` must
/// not write to is refused, and so is one for something else.
pub(crate) fn content(
    connection: &Connection,
    path: &Path,
    expected: Kind,
) -> Result<Option<Kind>, StateError> {
    let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    let count = |condition: &str| {
        let sql = format!("SELECT count(*) FROM sqlite_schema WHERE {condition}");
        connection.query_row(&sql, (), |row| row.get::<_, i64>(0))
    };
    let read = || {
        let journals = count("type = 'table' AND name = 'journal'")?;
        Ok((number("application_id")?, number("user_version")?, count("true")?, journals))
    };
    let refuse = |why: String| Err(StateError::refused(path.display().to_string(), why));
    match read().map_err(failed("read", path))? {
        (0, _, 0, _) => Ok(None),
        (APPLICATION_ID, version, ..) if version > VERSION => {
            Err(StateError::NewerDatabase { path: path.to_owned(), version, supported: VERSION })
        }
        (APPLICATION_ID, _, _, journals) if (journals == 1) == (expected == Kind::Run) => Ok(Some(expected)),
        _ => refuse("it is not a database that `prose` wrote, and is left as it is".to_owned()),
    }
}

/// Opens a database that exists, without following links.
pub(crate) fn connect(path: &Path, access: OpenFlags) -> Result<Connection, StateError> {
    refuse_link(path)?;
    let metadata = path.symlink_metadata().map_err(StateError::io("open", path))?;
    if !metadata.is_file() {
        return Err(StateError::refused(path.display().to_string(), "it is not a file"));
    }
    let file = in_real_folder(path)?;
    let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let set = |connection: &Connection| {
        connection.busy_timeout(BUSY)?;
        // The file may come from somebody else: nothing in it makes SQLite do more than read and write tables.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        connection.pragma_update(None, "cell_size_check", true)
    };
    let is_uri = access.contains(OpenFlags::SQLITE_OPEN_URI);
    let file = if is_uri { unchanging(&file) } else { file };
    let connection = Connection::open_with_flags(&file, flags).map_err(failed("open", path))?;
    set(&connection).map_err(failed("open", path))?;
    Ok(connection)
}

/// The path without links on the way to its folder. Those have been looked at, and SQLite would refuse them.
fn in_real_folder(path: &Path) -> Result<PathBuf, StateError> {
    // Paths of Windows would get a form that SQLite does not know.
    if cfg!(windows) {
        return Ok(path.to_owned());
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    let folder = folder.canonicalize().map_err(StateError::io("open", path))?;
    Ok(folder.join(path.file_name().unwrap_or_default()))
}

/// The address of a database that nobody can write to: SQLite then makes no files beside it.
fn unchanging(path: &Path) -> PathBuf {
    let mut address = "file:".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'-' | b'.' | b'_' => address.push(char::from(*byte)),
            byte if byte.is_ascii_alphanumeric() => address.push(char::from(*byte)),
            byte => address.push_str(&format!("%{byte:02x}")),
        }
    }
    (address + "?immutable=1").into()
}

/// Opens a database for reading.
pub(crate) fn reader(path: &Path) -> Result<(Connection, Option<Kind>), StateError> {
    // With the right to write, who reads last tidies up what a killed process has left.
    let opened = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE).and_then(|connection| {
        connection.pragma_update(None, "query_only", true).map_err(failed("open", path))?;
        Ok((content(&connection, path, Kind::Run)?, connection))
    });
    let read_only = |flags: OpenFlags| {
        let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY | flags)?;
        Ok((content(&connection, path, Kind::Run)?, connection))
    };
    // In a folder that cannot be written to, there is no log either, unless somebody else writes it.
    let opened = or_if_forbidden(opened, || read_only(OpenFlags::empty()));
    let opened = or_if_forbidden(opened, || read_only(OpenFlags::SQLITE_OPEN_URI));
    opened.map(|(content, connection)| (connection, content))
}

/// Tries another way where the system allows no other.
fn or_if_forbidden<T>(
    result: Result<T, StateError>,
    other: impl FnOnce() -> Result<T, StateError>,
) -> Result<T, StateError> {
    match result {
        Err(StateError::Io { error, .. })
            if matches!(
                error.kind(),
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
            ) =>
        {
            other()
        }
        result => result,
    }
}

/// What SQLite says about a database.
pub(crate) fn failed(doing: &'static str, path: &Path) -> impl FnOnce(rusqlite::Error) -> StateError {
    let path = path.to_owned();
    move |error| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        StateError::Io { doing, path, error: io_error_of(&name, error) }
    }
}

/// The same about the database of a run, as an error of input and output.
pub(crate) fn io_error(error: rusqlite::Error) -> io::Error {
    io_error_of(DATABASE_FILE, error)
}

fn io_error_of(name: &str, error: rusqlite::Error) -> io::Error {
    let text = match &error {
        rusqlite::Error::SqliteFailure(code, text) => text.clone().unwrap_or_else(|| code.to_string()),
        other => other.to_string(),
    };
    let (kind, text) = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => (
            io::ErrorKind::InvalidData,
            format!("{text}; `sqlite3 {name} .recover` prints what can still be read of it"),
        ),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => (
            io::ErrorKind::WouldBlock,
            format!("{text}: another program has been writing to it for {} seconds", BUSY.as_secs()),
        ),
        Some(ErrorCode::DiskFull) => (io::ErrorKind::StorageFull, text),
        // SQLite does not say why the index of its log cannot grow.
        Some(_) if error.sqlite_error().is_some_and(|error| error.extended_code == SQLITE_IOERR_SHMSIZE) => {
            (io::ErrorKind::StorageFull, "database or disk is full".to_owned())
        }
        Some(ErrorCode::ReadOnly) => (io::ErrorKind::ReadOnlyFilesystem, text),
        Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => (io::ErrorKind::PermissionDenied, text),
        _ => (io::ErrorKind::Other, text),
    };
    io::Error::new(kind, text)
}
