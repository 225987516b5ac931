//! The rows of a journal, read as the file that they would be.

use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use rusqlite::types::ValueRef;

use super::{Kind, content, io_error, reader};
use crate::error::StateError;

/// How many bytes are read at once in the middle of a journal, and at least after a jump: often only one line is wanted then.
const MAX_READ: usize = 1 << 16;
const FIRST_READ: usize = 1 << 10;

/// How many bytes somebody may have removed in one place: a line cannot be longer.
const MAX_GAP: u64 = 1 << 28;

/// The rows of a journal from their first byte to the last.
///
/// Each row is the bytes from its start to that of the next one. Where somebody has changed a line, it is cut off there, or a line of blanks follows it, so that
/// everything after it stays at its offset.
#[derive(Debug)]
pub(crate) struct Rows {
    path: PathBuf,
    connection: Connection,
    /// Whether there is a table with rows.
    has_table: bool,
    /// Bytes that were read, and where they start.
    bytes: Vec<u8>,
    start: u64,
    position: u64,
    /// How many bytes are read next.
    size: usize,
}

impl Rows {
    pub(crate) fn open(path: &Path) -> Result<Self, StateError> {
        let (connection, found) = reader(path)?;
        Ok(Self {
            path: path.to_owned(),
            connection,
            has_table: found.is_some(),
            bytes: Vec::new(),
            start: 0,
            position: 0,
            size: FIRST_READ,
        })
    }

    /// How many bytes there are.
    pub(crate) fn length(&self) -> io::Result<u64> {
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

    /// The process of a run that has just started may have made it meanwhile.
    fn has_table_now(&self) -> io::Result<bool> {
        Ok(content(&self.connection, &self.path, Kind::Run).map_err(io::Error::from)?.is_some())
    }

    /// Reads the bytes from the position on.
    fn fill(&mut self) -> io::Result<()> {
        // A large line must not keep its room.
        self.bytes.clear();
        self.bytes.shrink_to(2 * MAX_READ);
        self.start = self.position;
        if !self.has_table {
            self.has_table = self.has_table_now()?;
            if !self.has_table {
                return Ok(());
            }
        }
        let mut statement = self.connection.prepare_cached(FROM).map_err(io_error)?;
        let mut rows = statement.query([self.position as i64]).map_err(io_error)?;
        let mut is_first = true;
        while let Some(row) = rows.next().map_err(io_error)? {
            let at = row.get::<_, i64>(0).map_err(io_error)?.max(0) as u64;
            if is_first {
                self.start = at.min(self.position);
            }
            if !is_first || at > self.position {
                fit(&mut self.bytes, at - self.start)?;
            }
            is_first = false;
            let end = self.start + self.bytes.len() as u64;
            if end.saturating_sub(self.position) >= self.size as u64 {
                break;
            }
            match row.get_ref(1).map_err(io_error)? {
                ValueRef::Text(line) | ValueRef::Blob(line) => self.bytes.extend_from_slice(line),
                ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => {}
            }
            self.bytes.push(b'\n');
        }
        self.size = (self.size * 4).min(MAX_READ);
        Ok(())
    }
}

/// The rows from that on which has an offset in it.
const FROM: &str = "
SELECT start, line FROM journal
WHERE start >= ifnull((SELECT max(start) FROM journal WHERE start <= ?1), 0)
ORDER BY start";

/// Makes the bytes before a row as many as its start says.
fn fit(bytes: &mut Vec<u8>, length: u64) -> io::Result<()> {
    let missing = length.saturating_sub(bytes.len() as u64);
    if missing > MAX_GAP {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("{missing} bytes are missing in the table `journal`"),
        ));
    }
    match missing {
        0 => bytes.truncate(length as usize),
        missing => {
            bytes.resize(bytes.len() + missing as usize - 1, b' ');
            bytes.push(b'\n');
        }
    }
    Ok(())
}

impl Read for Rows {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let end = |rows: &Self| rows.start + rows.bytes.len() as u64;
        if self.position < self.start || self.position >= end(self) {
            self.fill()?;
        }
        if self.position < self.start || self.position >= end(self) {
            return Ok(0);
        }
        let bytes = &self.bytes[(self.position - self.start) as usize..];
        let length = bytes.len().min(into.len());
        into[..length].copy_from_slice(&bytes[..length]);
        self.position += length as u64;
        Ok(length)
    }
}

impl Seek for Rows {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let outside = || io::Error::new(io::ErrorKind::InvalidInput, "before the start of the journal");
        let position = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::Current(by) => self.position.checked_add_signed(by),
            SeekFrom::End(by) => self.length()?.checked_add_signed(by),
        };
        let position = position.ok_or_else(outside)?;
        if position < self.start || position > self.start + self.bytes.len() as u64 {
            self.size = FIRST_READ;
        }
        self.position = position;
        Ok(position)
    }
}
