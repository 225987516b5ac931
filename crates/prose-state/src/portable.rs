//! A run in one file: its program and its journal, which has all values.
//!
//! The file has a line of JSON for each part: what it is, the program with what the journal does not have, the lines of the journal as they are, and how many
//! there are. A reader passes over keys of these parts that it does not know. Texts can be redacted on the way. A run that was imported from such a file was not started by this user on this machine, so nothing in it is trusted.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use prose_vm::event::{Event, EventKind, StateMode};
use prose_vm::store::Store;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::at_work::{self, AtWork, Unsettled};
use crate::disk::OwnFile;
use crate::error::StateError;
use crate::filesystem::{FilesystemStore, ReplayMode};
use crate::folder::Project;
use crate::journal::write_line;
use crate::line::{LINE_START, seed_of_run};
use crate::reader::{MAX_BYTES_OF_LINE, read_head_in};
use crate::repair::JournalCopies;
use crate::replay::RecordedRun;

/// How the names of exported files end, without the dot.
pub const EXTENSION: &str = "prose-run";

/// The version of the format that this version writes and the latest that it reads.
pub const VERSION: u32 = 1;

/// The longest first line, and the longest one with a program.
const MAX_HEADER: u64 = 1 << 16;
const MAX_PROGRAM: u64 = 1 << 27;

/// The first line.
#[derive(Serialize, Deserialize)]
struct Header {
    #[serde(rename = "prose-run")]
    version: u32,
    run: SmolStr,
}

/// The text of the program, and what its journal does not have.
#[derive(Serialize, Deserialize)]
struct Program<'a> {
    program: Cow<'a, str>,
    /// What the requests have used that were at work when the process of the run ended.
    #[serde(default, rename = "at-work", skip_serializing_if = "Vec::is_empty")]
    at_work: Vec<AtWork>,
}

/// The last line.
#[derive(Serialize, Deserialize)]
struct End {
    events: u64,
    /// The checksum of everything before this line.
    checksum: u32,
}

/// Replaces what must not leave the machine in a text.
pub type Redact<'a> = &'a dyn Fn(&str) -> Option<String>;

/// What was exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exported {
    /// The number of events.
    pub events: u64,
    /// The number of events with redacted texts; the program counts as one, and so does each request at work.
    pub redacted: u64,
}

/// Writes a run. A journal that grows meanwhile is written up to where it was.
pub fn export(run: &RecordedRun, redact: Redact<'_>, out: &mut dyn Write) -> Result<Exported, StateError> {
    let failed = |error| StateError::io("write the export of", &run.path)(error);
    let program = run.program.as_deref().unwrap_or_default();
    let redacted_program = redact(program);
    let mut exported = Exported { events: 0, redacted: u64::from(redacted_program.is_some()) };
    let mut at_work = at_work_of(run)?;
    for request in &mut at_work {
        if let Some(masked) = redacted(request, redact) {
            *request = masked?;
            exported.redacted += 1;
        }
    }
    // The first event says whether any of the others is redacted.
    for event in run.events()? {
        let Some(event) = sound(event)? else { break };
        exported.events += 1;
        exported.redacted += u64::from(redacted(&event, redact).is_some());
    }
    let mut out = Checked { out, checksum: crc32fast::Hasher::new() };
    let mut line = |bytes: &[u8]| out.write_all(bytes);
    let header = Header { version: VERSION, run: run.head.run.clone() };
    line(json_line(&header).as_bytes()).map_err(failed)?;
    let program = Program { program: redacted_program.as_deref().unwrap_or(program).into(), at_work };
    line(json_line(&program).as_bytes()).map_err(failed)?;
    let mut seed = 0;
    let events = run.events()?.take(exported.events as usize);
    for event in events {
        let Some(mut event) = sound(event)? else { break };
        if let Some(masked) = redacted(&event, redact) {
            event = masked?;
        }
        let mut bytes = Vec::new();
        if let EventKind::RunStarted(head) = &mut event.kind {
            head.redacted |= exported.redacted > 0;
        }
        write_line(&mut bytes, &event, seed, None).map_err(failed)?;
        if let EventKind::RunStarted(head) = &event.kind {
            seed = seed_of_run(head.version, &head.run);
        }
        line(&bytes).map_err(failed)?;
    }
    let end = End { events: exported.events, checksum: out.checksum.clone().finalize() };
    out.out.write_all(json_line(&end).as_bytes()).and_then(|()| out.out.flush()).map_err(failed)?;
    Ok(exported)
}

/// An event of a journal; `None` where it ends, also in the middle of a line that is being written.
fn sound(event: Result<Event, StateError>) -> Result<Option<Event>, StateError> {
    match event {
        Ok(event) => Ok(Some(event)),
        Err(StateError::Damaged(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Writes and computes a checksum.
struct Checked<'a> {
    out: &'a mut dyn Write,
    checksum: crc32fast::Hasher,
}

impl Checked<'_> {
    fn write_all(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.checksum.update(bytes);
        self.out.write_all(bytes)
    }
}

fn json_line(value: &impl Serialize) -> String {
    let mut line = serde_json::to_string(value).unwrap_or_default();
    line.push('\n');
    line
}

/// What the requests have used that were at work when the process of a run ended.
fn at_work_of(run: &RecordedRun) -> Result<Vec<AtWork>, StateError> {
    let path = &run.path;
    if !run.is_exported() {
        let copies = JournalCopies(path.parent().unwrap_or(Path::new(""))).all();
        return Unsettled { run: &run.head.run, journal: path, copies: &copies }.at_work();
    }
    let io = |error| StateError::io("read", path)(error);
    let mut lines =
        PartLines { reader: BufReader::new(OwnFile(path).reader()?), offset: 0, line: Vec::new() };
    lines.next(MAX_HEADER).map_err(io)?;
    let program: Result<Program<'_>, _> = serde_json::from_slice(lines.next(MAX_PROGRAM).map_err(io)?);
    // It was read before.
    Ok(program.map(|program| program.at_work).unwrap_or_default())
}

/// An event, or what a request has used, with redacted texts, or why it cannot be redacted; `None` if nothing is.
fn redacted<T: Serialize + DeserializeOwned>(
    recorded: &T,
    redact: Redact<'_>,
) -> Option<Result<T, StateError>> {
    let mut json = serde_json::to_value(recorded).ok()?;
    if !redact_json(&mut json, false, redact) {
        return None;
    }
    Some(serde_json::from_value(json).map_err(|_| StateError::RedactedFormat { names: Vec::new() }))
}

/// The fields of events that have values of the program, in which also a number may be what is redacted.
const VALUES: [&str; 7] = ["answer", "arguments", "inputs", "item", "outputs", "value", "was"];

fn redact_json(json: &mut serde_json::Value, is_value: bool, redact: Redact<'_>) -> bool {
    match json {
        serde_json::Value::Number(number) if is_value => match redact(&number.to_string()) {
            Some(redacted) => {
                *json = redacted.into();
                true
            }
            None => false,
        },
        serde_json::Value::String(text) => match redact(text) {
            Some(redacted) => {
                *text = redacted;
                true
            }
            None => false,
        },
        serde_json::Value::Array(items) => {
            items.iter_mut().fold(false, |changed, item| redact_json(item, is_value, redact) | changed)
        }
        serde_json::Value::Object(entries) => {
            let keys: Vec<String> = entries.keys().filter(|key| redact(key).is_some()).cloned().collect();
            let mut changed = !keys.is_empty();
            for key in keys {
                if let (Some(value), Some(redacted)) = (entries.remove(&key), redact(&key)) {
                    entries.insert(redacted, value);
                }
            }
            for (key, value) in entries.iter_mut() {
                changed |= redact_json(value, is_value || VALUES.contains(&key.as_str()), redact);
            }
            changed
        }
        _ => false,
    }
}

/// Opens an exported file, after all of it was checked.
pub fn open(path: &Path) -> Result<RecordedRun, StateError> {
    // Messages show the path as the user gave it.
    let given = path;
    let refuse = |why: String| StateError::refused(given.display().to_string(), why);
    std::fs::metadata(given).map_err(StateError::io("read", given))?;
    let path = &std::path::absolute(given).map_err(StateError::io("read", given))?;
    let io = |error| StateError::io("read", path)(error);
    let file = OwnFile(path).reader()?;
    let length = file.metadata().map_err(io)?.len();
    let mut lines = PartLines { reader: BufReader::new(file), offset: 0, line: Vec::new() };
    let not_exported = || refuse("it is not a run that `prose runs export` wrote".to_owned());
    let header = lines.next(MAX_HEADER).map_err(io)?;
    // A later version may have lines of another form.
    let header: Header = serde_json::from_slice(header).map_err(|_| not_exported())?;
    if header.version > VERSION {
        return Err(refuse(format!(
            "it has version {} of the format, but this `prose` supports versions up to {VERSION}; use a newer `prose`",
            header.version
        )));
    }
    let mut checksum = crc32fast::Hasher::new();
    checksum.update(&lines.line);
    let program: Program<'_> =
        serde_json::from_slice(lines.next(MAX_PROGRAM).map_err(io)?).map_err(|_| not_exported())?;
    let program: Arc<str> = program.program.into();
    checksum.update(&lines.line);
    let start = lines.offset;
    let mut events = 0;
    let damaged = |what: &str| refuse(format!("it {what}; export the run again"));
    loop {
        let end = lines.offset;
        let line = lines.next(MAX_BYTES_OF_LINE).map_err(io)?;
        if line.is_empty() {
            return Err(damaged("is not complete"));
        }
        if line.starts_with(LINE_START) {
            events += 1;
            checksum.update(line);
            continue;
        }
        let is_whole = serde_json::from_slice(line)
            .is_ok_and(|found: End| found.events == events && found.checksum == checksum.finalize());
        if !is_whole || lines.offset != length {
            return Err(damaged("is damaged: its checksum does not match its content"));
        }
        let (_, head) = read_head_in(path, start..end)?;
        if head.run != header.run {
            return Err(damaged("is damaged: its journal belongs to another run"));
        }
        let is_redacted = head.redacted;
        return Ok(RecordedRun {
            path: path.to_owned(),
            part: start..end,
            head,
            program: Some(program),
            is_redacted,
        });
    }
}

/// Lines of a file with bounded lengths.
struct PartLines {
    reader: BufReader<File>,
    /// The byte after the last line.
    offset: u64,
    line: Vec<u8>,
}

impl PartLines {
    /// The next line with its end, cut off at a length; empty at the end of the file.
    fn next(&mut self, max: u64) -> std::io::Result<&[u8]> {
        self.line.clear();
        self.offset += (&mut self.reader).take(max).read_until(b'\n', &mut self.line)? as u64;
        Ok(&self.line)
    }
}

/// Adds an exported run to a project, with its id. Its state is in files or in a database; `None` for where it was. Memories of agents are not changed.
pub fn import(project: &Project, path: &Path, state: Option<StateMode>) -> Result<SmolStr, StateError> {
    add(project, &open(path)?, path, state, None)
}

/// Adds a run of another project to a project, with its id, as a run of the program at another path.
pub fn adopt(project: &Project, run: &RecordedRun, program: &Path) -> Result<SmolStr, StateError> {
    add(project, run, &run.path, None, Some(program))
}

/// Adds a run; `path` is how the user names its file.
fn add(
    project: &Project,
    run: &RecordedRun,
    path: &Path,
    state: Option<StateMode>,
    program: Option<&Path>,
) -> Result<SmolStr, StateError> {
    let id = run.head.run.clone();
    let taken = || StateError::Taken { path: path.to_owned(), run: id.to_string(), folder: project.runs() };
    if project.existing_run(&id).is_ok() {
        return Err(taken());
    }
    let at = run.events()?.next().transpose()?.map_or(0, |event| event.at);
    let text = run.program.as_deref().unwrap_or_default();
    let at = UNIX_EPOCH + Duration::from_millis(at);
    let state = state.unwrap_or(run.head.state);
    let mut store = FilesystemStore::create_as(Some(&id), project, text, at, state)?;
    let made = SmolStr::new(store.run());
    store.replays(ReplayMode::Offline);
    let imported = match made == id {
        true => record(run, state, program, &mut store),
        false => Err(taken()),
    };
    drop(store);
    match imported {
        Ok(()) => Ok(id),
        Err(error) => {
            // A part of a run is of no use. The reason matters more than a folder that cannot be removed.
            let _ = project.remove_run(&made);
            Err(error)
        }
    }
}

/// Records the events of a run, and names another path of its program if there is one.
fn record(
    run: &RecordedRun,
    state: StateMode,
    program: Option<&Path>,
    store: &mut FilesystemStore,
) -> Result<(), StateError> {
    let failed = |error| StateError::io("import", &run.path)(error);
    for event in run.events()? {
        let mut event = event?;
        if let EventKind::RunStarted(head) = &mut event.kind {
            head.state = state;
        }
        if let (EventKind::RunStarted(head), Some(program)) = (&mut event.kind, program) {
            // The run of a block is named after its program and the block.
            let block = head.from.rsplit_once('#').map_or_else(String::new, |(_, block)| format!("#{block}"));
            let name = program.file_name().unwrap_or_default().to_string_lossy();
            head.program = format!("{name}{block}").into();
            head.from = format!("{}{block}", program.to_string_lossy());
        }
        store.record(&event, true).map_err(failed)?;
    }
    store.commit().map_err(failed)?;
    at_work::leave(store.folder(), &at_work_of(run)?)
}
