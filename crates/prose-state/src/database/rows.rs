//! The rows of a journal in SQLite.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use rusqlite::types::ValueRef;

use super::{Kind, content, io_error, reader};
use crate::error::StateError;
use crate::rows::{RowSource, Wanted};

/// A table with a journal.
#[derive(Debug)]
pub(crate) struct SqliteRows {
    path: PathBuf,
    connection: Connection,
    /// Whether there is a table with rows.
    has_table: bool,
}

impl SqliteRows {
    pub(crate) fn open(path: &Path) -> Result<Self, StateError> {
        let (connection, found) = reader(path)?;
        Ok(Self { path: path.to_owned(), connection, has_table: found.is_some() })
    }

    /// The process of a run that has just started may have made it meanwhile.
    fn has_table_now(&self) -> io::Result<bool> {
        Ok(content(&self.connection, &self.path, Kind::Run).map_err(io::Error::from)?.is_some())
    }
}

impl RowSource for SqliteRows {
    fn length(&self) -> io::Result<u64> {
        if !self.has_table && !self.has_table_now()? {
            return Ok(0);
        }
        let last = "SELECT start + octet_length(line) + 1 FROM journal ORDER BY start DESC LIMIT 1";
        match self.connection.query_row(last, (), |row| row.get::<_, i64>(0)) {
            Ok(end) => Ok(end.max(0) as u64),
            Err(rusqlite::Error::QueryReturnedNoRows) => Ok(0),
            Err(error) => Err(io_error(error)),
        }
    }

    fn each_from(
        &mut self,
        position: u64,
        _: usize,
        take: &mut dyn FnMut(u64, &[u8]) -> io::Result<Wanted>,
    ) -> io::Result<()> {
        if !self.has_table {
            self.has_table = self.has_table_now()?;
            if !self.has_table {
                return Ok(());
            }
        }
        let mut statement = self.connection.prepare_cached(FROM).map_err(io_error)?;
        let mut rows = statement.query([position as i64]).map_err(io_error)?;
        while let Some(row) = rows.next().map_err(io_error)? {
            let at = row.get::<_, i64>(0).map_err(io_error)?.max(0) as u64;
            let line = match row.get_ref(1).map_err(io_error)? {
                ValueRef::Text(line) | ValueRef::Blob(line) => line,
                ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => &[],
            };
            if take(at, line)? == Wanted::Enough {
                break;
            }
        }
        Ok(())
    }
}

/// The rows from that on which has an offset in it.
const FROM: &str = "
SELECT start, line FROM journal
WHERE start >= ifnull((SELECT max(start) FROM journal WHERE start <= ?1), 0)
ORDER BY start";
