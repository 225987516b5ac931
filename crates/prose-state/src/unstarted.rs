//! Runs whose process was killed before their first event: there is nothing to resume.

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use crate::database::DATABASE_FILE;
use crate::folder::PROGRAM_FILE;
use crate::postgres::MARKER_FILE;
use crate::reader::MAX_BYTES_OF_LINE;
use crate::runs::{RunState, RunSummary};
use crate::source::{JOURNAL_FILE, JournalSource, journal_of};

impl RunSummary {
    /// Whether its process was killed before it recorded that the run has started.
    pub fn never_started(&self) -> bool {
        self.status == RunState::Damaged && is_unstarted(&self.folder)
    }
}

/// Whether a folder has only what is there before the first event of a run.
pub(crate) fn is_unstarted(folder: &Path) -> bool {
    let Ok(mut entries) = fs::read_dir(folder) else { return false };
    let is_from_before = |path: &Path| {
        let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
        match name {
            "bindings" => fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none()),
            // The lock and files that are being written.
            _ if name.starts_with('.') => true,
            // The address of the process for other ones, which is known before the first event.
            "control.json" => true,
            _ => [PROGRAM_FILE, JOURNAL_FILE, MARKER_FILE].contains(&name) || name.starts_with(DATABASE_FILE),
        }
    };
    entries.all(|entry| entry.is_ok_and(|entry| is_from_before(&entry.path()))) && !has_line(folder)
}

/// Whether the journal has a line that was written to its end; also if that cannot be found out.
fn has_line(folder: &Path) -> bool {
    let path = journal_of(folder);
    match JournalSource::is_there(&path) {
        Ok(false) => return false,
        Ok(true) => {}
        Err(_) => return true,
    }
    let mut line = Vec::new();
    let read = JournalSource::open(&path).and_then(|journal| {
        let mut start = BufReader::new(journal.take(MAX_BYTES_OF_LINE));
        start.read_until(b'\n', &mut line).map_err(crate::error::StateError::io("read", &path))
    });
    read.is_err() || line.ends_with(b"\n")
}
