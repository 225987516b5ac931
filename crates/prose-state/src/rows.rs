//! The rows of a journal, read as the file that they would be.

use std::fmt;
use std::io::{self, Read, Seek, SeekFrom};

/// How many bytes are read at once in the middle of a journal, and at least after a jump: often only one line is wanted then.
const MAX_READ: usize = 1 << 16;
const FIRST_READ: usize = 1 << 10;

/// How many bytes somebody may have removed in one place: a line cannot be longer.
const MAX_GAP: u64 = 1 << 28;

/// A table with a journal.
pub(crate) trait RowSource: fmt::Debug + Send {
    /// How many bytes the journal has: where its last row ends.
    fn length(&self) -> io::Result<u64>;

    /// Hands over the rows from that one on which has the byte at a position, each with its start and its line, as long as they are wanted. Somewhat more
    /// than `size` bytes will be.
    fn each_from(
        &mut self,
        position: u64,
        size: usize,
        take: &mut dyn FnMut(u64, &[u8]) -> io::Result<Wanted>,
    ) -> io::Result<()>;
}

/// Whether the next row is wanted too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    More,
    Enough,
}

/// The rows of a journal from their first byte to the last.
///
/// Each row is the bytes from its start to that of the next one. Where somebody has changed a line, it is cut off there, or a line of blanks follows it, so that
/// everything after it stays at its offset.
#[derive(Debug)]
pub(crate) struct Rows {
    source: Box<dyn RowSource>,
    /// Bytes that were read, and where they start.
    bytes: Vec<u8>,
    start: u64,
    position: u64,
    /// How many bytes are read next.
    size: usize,
}

impl Rows {
    pub(crate) fn new(source: impl RowSource + 'static) -> Self {
        Self { source: Box::new(source), bytes: Vec::new(), start: 0, position: 0, size: FIRST_READ }
    }

    /// How many bytes there are.
    pub(crate) fn length(&self) -> io::Result<u64> {
        self.source.length()
    }

    /// Reads the bytes from the position on.
    fn fill(&mut self) -> io::Result<()> {
        let Self { source, bytes, start, position, size } = self;
        let (position, wanted) = (*position, *size);
        // A large line must not keep its room.
        bytes.clear();
        bytes.shrink_to(2 * MAX_READ);
        *start = position;
        let mut is_first = true;
        source.each_from(position, wanted, &mut |at, line| {
            if is_first {
                *start = at.min(position);
            }
            if !is_first || at > position {
                fit(bytes, at - *start)?;
            }
            is_first = false;
            let end = *start + bytes.len() as u64;
            if end.saturating_sub(position) >= wanted as u64 {
                return Ok(Wanted::Enough);
            }
            bytes.extend_from_slice(line);
            bytes.push(b'\n');
            Ok(Wanted::More)
        })?;
        self.size = (self.size * 4).min(MAX_READ);
        Ok(())
    }
}

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
