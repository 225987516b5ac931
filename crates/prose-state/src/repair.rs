//! Repairs a damaged journal: what follows from its head without a gap stays in it, and everything else is used from a copy, where it still fits.

use std::fs;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use prose_vm::event::EventKind;
use prose_vm::value::Value;
use smol_str::SmolStr;

use crate::disk::OwnFile;
use crate::error::StateError;
use crate::reader::{Places, read_length};
use crate::row_writer::{RowWriter, database_of};
use crate::scan::{Record, Scan};
use crate::source::JournalSource;

/// What a copy is called while it is written. It starts as the other temporary files of a run do.
const TEMPORARY_COPY: &str = ".prose-tmp-journal";

/// Keeps a journal as it is in a file of its own, and leaves in it what follows from its head without a gap, up to an event that must not be used any
/// more. What else the journal had is recalled from the copy. Gives what is wrong, what it costs and where the journal is kept, for the person.
pub(crate) fn repair(path: &Path, run: &str, before: Option<u64>) -> Result<Option<String>, StateError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let scan = Scan::read(path, run)?;
    let unbroken = scan.unbroken();
    let stays = scan.records[..unbroken].iter().filter(|record| before.is_none_or(|seq| record.seq < seq));
    let stays: Vec<Record> = stays.copied().collect();
    let kept = JournalCopies(folder).keep(path)?;
    leave(path, &stays)?;
    if scan.faults.is_empty() && scan.unknown == 0 && scan.lost.is_empty() {
        return Ok(None);
    }
    let kept = kept.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(Some(note(&scan, path, &kept)))
}

/// The inputs that the program of a run was started with, from the copies of a journal whose head is lost.
pub(crate) fn inputs(folder: &Path, run: &str) -> Result<Option<Vec<(SmolStr, Value)>>, StateError> {
    for path in JournalCopies(folder).all().iter().rev() {
        if let Some(offset) = Scan::read(path, run)?.inputs
            && let EventKind::InputsReceived { inputs } = Places::open(path)?.event_at(offset)?.kind
        {
            return Ok(Some(inputs));
        }
    }
    Ok(None)
}

/// What is wrong with a journal and what it costs.
fn note(scan: &Scan, path: &Path, kept: &str) -> String {
    let mut note = match &scan.faults[..] {
        [] => format!("lines of {} are missing", path.display()),
        [fault] => fault.to_string(),
        [first, _] => format!("{first}, and 1 more line is damaged"),
        [first, rest @ ..] => format!("{first}, and {} more lines are damaged", rest.len()),
    };
    note.push_str(". ");
    note.push_str(&cost(scan));
    if !scan.has_head {
        note.push_str(
            ". The settings of the run are lost; those of the project and of the command line are used",
        );
    }
    note.push_str(&format!(". The other lines are used; the old journal is kept in {kept}"));
    note
}

fn cost(scan: &Scan) -> String {
    let end_is_torn = scan.records.last().is_none_or(|last| {
        scan.faults.last().is_some_and(|fault| fault.offset > last.offset && fault.what == "is not complete")
    });
    match &scan.lost[..] {
        [] if scan.unknown > 0 || end_is_torn => "Missing results are requested again".to_owned(),
        [] => "No result is lost".to_owned(),
        [lost] => {
            let line = lost.line.map_or(String::new(), |line| format!(" (line {line})"));
            format!("1 result is lost: {}{line} is requested again", called(&lost.kind))
        }
        lost => {
            let lines: Vec<String> =
                lost.iter().filter_map(|lost| lost.line).take(10).map(|line| line.to_string()).collect();
            let lines =
                if lines.is_empty() { String::new() } else { format!(" (lines {})", lines.join(", ")) };
            format!("{} results are lost and requested again{lines}", lost.len())
        }
    }
}

/// What is asked for, in words.
fn called(kind: &str) -> &'static str {
    match kind {
        "session" => "1 session",
        "judge" => "1 condition",
        "choose" => "1 choice",
        "input" => "1 input",
        "summarise" => "1 summary",
        "memory" => "the memory of an agent",
        "file" | "file-check" => "1 file",
        "sleep" => "1 pause",
        _ => "1 value",
    }
}

/// Rewrites a journal with some of its lines, in this order.
fn leave(path: &Path, records: &[Record]) -> Result<(), StateError> {
    let mut end = 0;
    let is_beginning = records.iter().all(|record| {
        let starts_there = record.offset == end;
        end = record.offset + record.length + 1;
        starts_there
    });
    let length = read_length(path)?;
    if is_beginning && end <= length && ends_with_line_breaks(path, records)? {
        return truncate(path, end);
    }
    if let Some(kind) = database_of(path) {
        // They are read as they were before the transaction that replaces them.
        let mut from = JournalSource::open(path)?;
        return RowWriter::open(kind, path)?.replace_lines(records.iter().map(|record| {
            let mut line = Vec::new();
            from.seek(SeekFrom::Start(record.offset))?;
            (&mut from).take(record.length).read_to_end(&mut line)?;
            line.push(b'\n');
            Ok(line)
        }));
    }
    let temporary = path.with_file_name(TEMPORARY_COPY);
    let write = || -> io::Result<()> {
        let mut from = OwnFile(path).reader()?;
        let mut to = BufWriter::new(OwnFile(&temporary).create()?);
        for record in records {
            from.seek(SeekFrom::Start(record.offset))?;
            io::copy(&mut (&mut from).take(record.length), &mut to)?;
            to.write_all(b"\n")?;
        }
        to.into_inner()?.sync_all()
    };
    write().map_err(StateError::io("repair the journal", path))?;
    fs::rename(&temporary, path).map_err(StateError::io("repair the journal", path))
}

/// Whether each of the lines ends as a line of a journal does, and not with another byte in the place of its line break.
fn ends_with_line_breaks(path: &Path, records: &[Record]) -> Result<bool, StateError> {
    let io = || StateError::io("read the journal", path);
    let mut file = BufReader::new(JournalSource::open(path)?);
    let mut at = 0;
    for record in records {
        let end = record.offset + record.length;
        file.seek_relative((end - at) as i64).map_err(io())?;
        let mut byte = [0];
        file.read_exact(&mut byte).map_err(io())?;
        at = end + 1;
        if byte != *b"\n" {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Cuts a journal.
pub(crate) fn truncate(path: &Path, length: u64) -> Result<(), StateError> {
    if let Some(kind) = database_of(path) {
        return RowWriter::open(kind, path)?.truncate(length);
    }
    let file = OwnFile(path).writer()?;
    file.set_len(length).and_then(|()| file.sync_data()).map_err(StateError::io("cut the journal", path))
}

/// The copies of journals in the folder of a run, each as it was before it was repaired.
pub(crate) struct JournalCopies<'a>(pub(crate) &'a Path);

impl JournalCopies<'_> {
    fn path(&self, number: u32) -> PathBuf {
        self.0.join(format!("journal.kept-{number}.jsonl"))
    }

    /// Those of the program as it is now.
    pub(crate) fn all(&self) -> Vec<PathBuf> {
        (1..).map(|number| self.path(number)).take_while(|path| path.exists()).collect()
    }

    /// Those of the program before a change.
    pub(crate) fn of_earlier(&self, change: u32) -> Vec<PathBuf> {
        let path = |number: u32| self.0.join(format!("journal-{change}.kept-{number}.jsonl"));
        (1..).map(path).take_while(|path| path.exists()).collect()
    }

    /// Puts them with the journal of the program before a change.
    pub(crate) fn put_away(&self, change: u32) -> Result<(), StateError> {
        let mut next = self.of_earlier(change).len();
        // The last one first: those that are left when the process is killed are still found.
        for path in self.all().into_iter().rev() {
            next += 1;
            let earlier = self.0.join(format!("journal-{change}.kept-{next}.jsonl"));
            fs::rename(&path, &earlier).map_err(StateError::io("rename", &path))?;
        }
        Ok(())
    }

    /// Copies a journal as it is.
    pub(crate) fn keep(&self, path: &Path) -> Result<PathBuf, StateError> {
        let copy = self.path(self.all().len() as u32 + 1);
        copy_journal(path, &copy)?;
        Ok(copy)
    }
}

/// Copies a journal to a file.
pub(crate) fn copy_journal(path: &Path, copy: &Path) -> Result<(), StateError> {
    let temporary = copy.with_file_name(TEMPORARY_COPY);
    let write = || -> io::Result<()> {
        let mut to = OwnFile(&temporary).create()?;
        match JournalSource::open(path)? {
            // A file is copied by the system.
            JournalSource::File(mut file) => io::copy(&mut file, &mut to)?,
            mut source => io::copy(&mut source, &mut to)?,
        };
        to.sync_all()?;
        fs::rename(&temporary, copy)
    };
    write().map_err(StateError::io("write", copy))
}
