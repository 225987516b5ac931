//! What the requests at work have used, for the execution after a process that was killed.
//!
//! A journal records what a request has used when it gets an outcome or is cancelled. A process that is killed, or loses its power, records neither, so the
//! file `at-work.jsonl` next to the journal has a line for each request that has started, and one for each report of its usage. When the run is resumed, those
//! that the journal has not settled are expenses of the run. The file is removed at the end of an execution, since nothing is at work any more.

use std::collections::hash_map::Entry;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use prose_files::Limit;
use prose_vm::effect::RequestId;
use prose_vm::event::{Event, EventKind, Expense};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use crate::disk::OwnFile;
use crate::error::StateError;
use crate::reader::Places;
use crate::scan::Scan;

/// The name of the file.
const AT_WORK_FILE: &str = "at-work.jsonl";

/// What a request at work comes to if the process ends now.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct AtWork {
    /// The number of the last event before an agent started with it. With the request, it identifies the attempt.
    after: u64,
    expense: Expense,
}

/// The length in bytes from which the file is emptied when nothing is at work.
const MAX_SETTLED: u64 = 1 << 16;

/// Writes the file.
#[derive(Debug)]
pub(crate) struct AtWorkFile {
    path: PathBuf,
    /// Stays open: agents may take all other descriptors.
    file: Option<File>,
    /// What is written after the events before it.
    lines: Vec<u8>,
    /// The requests that are not settled.
    requests: FxHashSet<RequestId>,
}

impl AtWorkFile {
    /// The file in the folder of a run.
    pub(crate) fn new(folder: &Path) -> Self {
        Self {
            path: folder.join(AT_WORK_FILE),
            file: None,
            lines: Vec::new(),
            requests: FxHashSet::default(),
        }
    }

    /// Adds what an attempt at a request comes to, in place of what it came to before.
    pub(crate) fn add(&mut self, after: u64, expense: &Expense) -> io::Result<()> {
        serde_json::to_writer(&mut self.lines, &AtWork { after, expense: expense.clone() })?;
        self.lines.push(b'\n');
        self.requests.extend(expense.request);
        Ok(())
    }

    /// Takes note of an event of the journal.
    pub(crate) fn happened(&mut self, event: &EventKind) {
        if let Some(request) = settled_by(event) {
            self.requests.remove(&request);
        }
    }

    /// Hands over to the system what was added, after the events of the journal.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        if self.lines.is_empty() {
            return Ok(());
        }
        let mut file = match self.file.take() {
            Some(file) => file,
            None => OwnFile(&self.path).appender_or_create()?,
        };
        let is_settled = self.requests.is_empty() && file.metadata()?.len() > MAX_SETTLED;
        let written = if is_settled { file.set_len(0) } else { file.write_all(&self.lines) };
        written.map_err(StateError::io("write", &self.path))?;
        self.lines.clear();
        self.file = Some(file);
        Ok(())
    }

    /// Nothing is at work any more.
    pub(crate) fn remove(&mut self) {
        self.lines.clear();
        self.file = None;
        // What stays is settled by the journal.
        let _ = fs::remove_file(&self.path);
    }
}

/// The expenses of the requests that were at work when the process of an execution ended.
pub(crate) struct Unsettled<'a> {
    /// The id of the run.
    pub(crate) run: &'a str,
    /// Its journal.
    pub(crate) journal: &'a Path,
    /// Copies of it that have lines which it has lost.
    pub(crate) copies: &'a [PathBuf],
}

impl Unsettled<'_> {
    /// Those of the journal that the run continues with after an event. From then on, they are settled by what the journal records after that event.
    pub(crate) fn of_latest(&self, last_seq: u64) -> Result<Vec<Expense>, StateError> {
        let path = file_of(self.journal);
        let mut unsettled = self.read(&path)?;
        for AtWork { after, .. } in &mut unsettled {
            // A journal that was repaired continues with lower numbers.
            *after = last_seq.min(*after);
        }
        replace(&path, &unsettled)?;
        Ok(unsettled.into_iter().map(|AtWork { expense, .. }| expense).collect())
    }

    /// Those of the journal of the program before it changed.
    pub(crate) fn of_earlier(&self) -> Result<Vec<Expense>, StateError> {
        Ok(self.read(&file_of(self.journal))?.into_iter().map(|AtWork { expense, .. }| expense).collect())
    }

    /// Those of the journal as it is. Nothing is written.
    pub(crate) fn at_work(&self) -> Result<Vec<AtWork>, StateError> {
        self.read(&file_of(self.journal))
    }

    fn read(&self, path: &Path) -> Result<Vec<AtWork>, StateError> {
        let file = OwnFile(path);
        if !file.is_there()? {
            return Ok(Vec::new());
        }
        let bytes = file.read(Limit::STATE)?;
        let mut each: Vec<AtWork> = Vec::new();
        let mut known = FxHashMap::default();
        // A line that is not whole was being written when the power failed.
        for line in bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()) {
            let line: AtWork = line;
            match known.entry((line.expense.request, line.after)) {
                Entry::Occupied(before) => each[*before.get()] = line,
                Entry::Vacant(attempt) => {
                    attempt.insert(each.len());
                    each.push(line);
                }
            }
        }
        let mut settled = FxHashMap::default();
        for journal in std::iter::once(self.journal).chain(self.copies.iter().map(PathBuf::as_path)) {
            self.add_settled(journal, &mut settled)?;
        }
        // A request that was put off has started none.
        each.retain(|AtWork { after, expense }| {
            let settled = expense.request.and_then(|request| settled.get(&request));
            expense.requests > 0 && settled.is_none_or(|seq| seq <= after)
        });
        Ok(each)
    }

    /// The last event that settles each request of a journal, which may be damaged.
    fn add_settled(&self, journal: &Path, settled: &mut FxHashMap<RequestId, u64>) -> Result<(), StateError> {
        let mut places = Places::open(journal)?;
        for record in Scan::read(journal, self.run)?.records {
            let Event { seq, kind, .. } = places.event_at(record.offset)?;
            if let Some(request) = settled_by(&kind) {
                let last = settled.entry(request).or_default();
                *last = seq.max(*last);
            }
        }
        Ok(())
    }
}

/// Leaves those of a run in a folder that was written from its events, for its next execution.
pub(crate) fn leave(folder: &Path, at_work: &[AtWork]) -> Result<(), StateError> {
    replace(&folder.join(AT_WORK_FILE), at_work)
}

fn replace(path: &Path, at_work: &[AtWork]) -> Result<(), StateError> {
    let mut lines = Vec::new();
    for request in at_work {
        serde_json::to_writer(&mut lines, request)
            .map_err(|error| StateError::io("write", path)(error.into()))?;
        lines.push(b'\n');
    }
    if lines.is_empty() { Ok(()) } else { OwnFile(path).replace(&lines) }
}

/// The request of which an event has recorded what an attempt at it has used.
fn settled_by(event: &EventKind) -> Option<RequestId> {
    match event {
        EventKind::Effect { request, .. } => Some(*request),
        EventKind::Expense(expense) if expense.requests > 0 => expense.request,
        _ => None,
    }
}

/// Puts the file with the journal of the program before it changed.
pub(crate) fn put_away(folder: &Path, journal: &Path) -> Result<(), StateError> {
    let path = folder.join(AT_WORK_FILE);
    match fs::rename(&path, file_of(journal)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(StateError::io("rename", &path)(error)),
        _ => Ok(()),
    }
}

/// The file of a journal: `at-work-1.jsonl` for `journal-1.jsonl`, and the one of the run for its latest journal.
fn file_of(journal: &Path) -> PathBuf {
    let name = journal.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    match name.strip_prefix("journal-") {
        Some(number) => journal.with_file_name(format!("at-work-{number}")),
        None => journal.with_file_name(AT_WORK_FILE),
    }
}
