//! Reads journals, one line after the other.

use std::borrow::Cow;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

use prose_vm::earlier::ChangedVariable;
use prose_vm::effect::{Outcome, RequestId};
use prose_vm::event::{Event, EventKind, JOURNAL_VERSION, RunHead};
use prose_vm::value::Value;
use rustc_hash::FxHashMap;
use serde::Deserialize;
use smol_str::SmolStr;

use crate::error::{Damage, StateError};
use crate::line::{BEHIND_CHECKSUM, LINE_START, PREFIX, SEAL_START, checksum_of, seed_of_run};
use crate::source::JournalSource;

/// The longest line that is taken for one: far longer than any reply, and short enough not to fill the memory with the rest of a file that has lost
/// its line breaks.
pub(crate) const MAX_BYTES_OF_LINE: u64 = 1 << 28;

/// How many bytes of a journal are read at once.
const READ_SIZE: usize = 1 << 16;

/// What is wrong with a last line that was just being written.
pub(crate) const INCOMPLETE: &str = "is not complete";

/// What is wrong with a line whose checksum is not that of its content.
pub(crate) const CHANGED: &str = "was changed or belongs to another run: its checksum does not match";

/// The part of an event that states what it is, read without the rest of the line being kept.
#[derive(Debug, Deserialize)]
pub(crate) struct EventHeader<'a> {
    /// The number of the event.
    pub(crate) seq: u64,
    /// Where it was.
    #[serde(borrow)]
    pub(crate) place: Cow<'a, str>,
    /// What it was, as it is named in journals.
    #[serde(borrow)]
    pub(crate) event: Cow<'a, str>,
    /// What kind of effect it was.
    #[serde(default, borrow)]
    pub(crate) effect: Option<Cow<'a, str>>,
    /// The hash of its request.
    #[serde(default, borrow)]
    pub(crate) fingerprint: Option<Cow<'a, str>>,
}

/// The lines of a journal, each of which is checked.
#[derive(Debug)]
pub(crate) struct Lines {
    path: PathBuf,
    reader: BufReader<JournalSource>,
    line: Vec<u8>,
    /// How many lines have been read.
    count: u64,
    /// Where the last line starts.
    start: u64,
    /// The byte after the last sound line.
    end: u64,
    /// The byte at which the journal ends; a file with a journal in it may have more.
    limit: u64,
    last_seq: u64,
    /// What the checksums of the lines after the head start from.
    seed: u32,
}

impl Lines {
    pub(crate) fn open(path: &Path) -> Result<Self, StateError> {
        let reader = BufReader::with_capacity(READ_SIZE, JournalSource::open(path)?);
        let path = path.to_owned();
        let limit = u64::MAX;
        Ok(Self { path, reader, line: Vec::new(), count: 0, start: 0, end: 0, limit, last_seq: 0, seed: 0 })
    }

    /// The lines of a journal that is a part of a file.
    pub(crate) fn open_in(path: &Path, part: Range<u64>) -> Result<Self, StateError> {
        let mut lines = Self::open(path)?;
        lines.reader.seek(SeekFrom::Start(part.start)).map_err(StateError::io("read the journal", path))?;
        Ok(Self { start: part.start, end: part.start, limit: part.end, ..lines })
    }

    /// What the checksums of the lines after the head start from.
    pub(crate) fn seed(&self) -> u32 {
        self.seed
    }

    /// Where the last line starts.
    pub(crate) fn start(&self) -> u64 {
        self.start
    }

    /// The byte after the last sound line.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// The number of the last event.
    pub(crate) fn last_seq(&self) -> u64 {
        self.last_seq
    }

    /// Reads the next line. None at the end of the journal.
    pub(crate) fn next(&mut self) -> Result<Option<EventHeader<'_>>, StateError> {
        self.line.clear();
        if self.end >= self.limit {
            return Ok(None);
        }
        let mut limited = (&mut self.reader).take(MAX_BYTES_OF_LINE);
        let read = limited
            .read_until(b'\n', &mut self.line)
            .map_err(StateError::io("read the journal", &self.path))?;
        if read == 0 {
            return Ok(None);
        }
        self.start = self.end;
        self.count += 1;
        let damaged = |what| {
            let path = self.path.clone();
            StateError::Damaged(Damage { path, line: self.count, offset: self.start, what })
        };
        if self.count == 1 {
            // A later version may have lines of another form, so this comes before everything else is looked at.
            check_version(&self.line, &self.path)?;
        }
        let Some(body) = self.line.strip_suffix(b"\n") else { return Err(damaged(INCOMPLETE)) };
        check_line(body, self.seed).map_err(damaged)?;
        let glance: EventHeader<'_> =
            serde_json::from_slice(&self.line).map_err(|_| damaged("is not an event"))?;
        if glance.seq <= self.last_seq {
            return Err(damaged("does not follow the previous line"));
        }
        if self.count == 1 && glance.event != "run-started" {
            return Err(damaged("must be the start of a run"));
        }
        if glance.seq > self.last_seq + 1 {
            return Err(damaged("does not follow the previous line: events are missing"));
        }
        if self.count == 1 {
            self.seed = seed_of_head(&self.line).unwrap_or(0);
        }
        self.last_seq = glance.seq;
        self.end += read as u64;
        Ok(Some(glance))
    }

    /// The last line as an event. The value of a reply that is bound is missing in it.
    pub(crate) fn event(&self) -> Result<Event, StateError> {
        parse(&self.line, &self.path, self.count)
    }
}

fn parse(line: &[u8], path: &Path, count: u64) -> Result<Event, StateError> {
    // The checksum fits, so the line is as it was written: by a newer version.
    serde_json::from_slice(line).map_err(|_| StateError::Version {
        path: path.to_owned(),
        version: None,
        line: count,
    })
}

/// What is wrong with a line without its end, if something is. Checksums start from a number that is made of the run's id, so that a line of another
/// run is not taken for one of this run.
pub(crate) fn check_line(body: &[u8], seed: u32) -> Result<(), &'static str> {
    let has_form = body.len() > PREFIX
        && body.starts_with(LINE_START)
        && &body[PREFIX - BEHIND_CHECKSUM.len()..PREFIX] == BEHIND_CHECKSUM;
    if !has_form {
        return Err("is not a line of a journal");
    }
    let checksum = std::str::from_utf8(&body[LINE_START.len()..LINE_START.len() + 8])
        .ok()
        .and_then(|digits| u32::from_str_radix(digits, 16).ok());
    if checksum != Some(checksum_of(&body[PREFIX..], seed)) {
        return Err(CHANGED);
    }
    Ok(())
}

/// The part of a head that says how the other lines are checked.
#[derive(Deserialize)]
pub(crate) struct HeadFormat {
    pub(crate) version: u32,
    #[serde(default)]
    pub(crate) run: SmolStr,
}

/// What the checksums of the lines after a head start from; none if the line is no head.
pub(crate) fn seed_of_head(line: &[u8]) -> Option<u32> {
    serde_json::from_slice(line).ok().map(|HeadFormat { version, run }| seed_of_run(version, &run))
}

fn check_version(line: &[u8], path: &Path) -> Result<(), StateError> {
    match serde_json::from_slice(line) {
        Ok(HeadFormat { version, .. }) if version > JOURNAL_VERSION => {
            // A head in the form of this version whose checksum does not fit is a damaged one.
            if check_line(line.trim_ascii_end(), 0) == Err(CHANGED) {
                return Ok(());
            }
            Err(StateError::Version { path: path.to_owned(), version: Some(version), line: 1 })
        }
        _ => Ok(()),
    }
}

/// The head of a journal: its first event, with the time.
pub fn read_head(path: &Path) -> Result<(u64, RunHead), StateError> {
    head_of(path, Lines::open(path)?)
}

/// The head of a journal that is a part of a file.
pub(crate) fn read_head_in(path: &Path, part: Range<u64>) -> Result<(u64, RunHead), StateError> {
    head_of(path, Lines::open_in(path, part)?)
}

fn head_of(path: &Path, mut lines: Lines) -> Result<(u64, RunHead), StateError> {
    let damaged = |what| StateError::Damaged(Damage { path: path.to_owned(), line: 1, offset: 0, what });
    if lines.next()?.is_none() {
        return Err(damaged("is missing: the journal is empty"));
    }
    let event = lines.event()?;
    match event.kind {
        EventKind::RunStarted(head) => Ok((event.at, *head)),
        _ => Err(damaged("must be the start of a run")),
    }
}

/// What the seal in the first line of a journal was made of, and the seal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sealed {
    /// The bytes that the seal is of. Nothing else of the line says anything about the run.
    pub text: Vec<u8>,
    /// The seal.
    pub seal: String,
}

/// The seal in the first line of a journal; none if the line is damaged or has none.
pub fn read_seal(path: &Path) -> Result<Option<Sealed>, StateError> {
    let mut lines = Lines::open(path)?;
    if !matches!(lines.next(), Ok(Some(_))) {
        return Ok(None);
    }
    let body = lines.line[PREFIX..].strip_suffix(b"\n").unwrap_or_default();
    let Some(sealed) = body.strip_prefix(SEAL_START) else { return Ok(None) };
    let Some(end) = sealed.iter().position(|byte| *byte == b'"') else { return Ok(None) };
    let (seal, rest) = sealed.split_at(end);
    let Some(text) = rest.strip_prefix(BEHIND_CHECKSUM) else { return Ok(None) };
    Ok(String::from_utf8(seal.to_owned()).ok().map(|seal| Sealed { text: text.to_owned(), seal }))
}

/// The last event of a journal, read from its end, if its line is sound.
pub fn read_last(path: &Path) -> Result<Option<Event>, StateError> {
    let io = || StateError::io("read the journal", path);
    let mut file = JournalSource::open(path)?;
    let length = file.length().map_err(io())?;
    let mut size: u64 = 1 << 14;
    loop {
        let start = length.saturating_sub(size);
        let mut end = Vec::new();
        file.seek(SeekFrom::Start(start)).and_then(|_| file.read_to_end(&mut end)).map_err(io())?;
        let body = end.strip_suffix(b"\n").unwrap_or(&end);
        let line_start = body.iter().rposition(|byte| *byte == b'\n').map(|at| at + 1);
        if let Some(line) = line_start.or((start == 0).then_some(0)).map(|at| &end[at..]) {
            let Some(body) = line.strip_suffix(b"\n") else { return Ok(None) };
            let is_sound = check_line(body, 0).is_ok() || check_line(body, read_seed(path)).is_ok();
            return if is_sound { parse(line, path, 0).map(Some) } else { Ok(None) };
        }
        if size > MAX_BYTES_OF_LINE {
            return Ok(None);
        }
        size = size.saturating_mul(8);
    }
}

/// How many bytes a journal has.
pub fn read_length(path: &Path) -> Result<u64, StateError> {
    JournalSource::open(path)?.length().map_err(StateError::io("read the journal", path))
}

/// What the checksums of a journal start from, as its first line says.
fn read_seed(path: &Path) -> u32 {
    let Ok(mut lines) = Lines::open(path) else { return 0 };
    if matches!(lines.next(), Ok(Some(_))) { lines.seed() } else { 0 }
}

/// Events of a journal that are read at known places.
#[derive(Debug)]
pub(crate) struct Places {
    path: PathBuf,
    source: JournalSource,
}

impl Places {
    pub(crate) fn open(path: &Path) -> Result<Self, StateError> {
        Ok(Self { path: path.to_owned(), source: JournalSource::open(path)? })
    }

    /// The bytes that stand there.
    pub(crate) fn bytes_at(&mut self, offset: u64, length: usize) -> Result<Vec<u8>, StateError> {
        let mut bytes = Vec::new();
        self.source
            .seek(SeekFrom::Start(offset))
            .and_then(|_| (&mut self.source).take(length as u64).read_to_end(&mut bytes))
            .map_err(StateError::io("read the journal", &self.path))?;
        Ok(bytes)
    }

    /// The event whose line starts there.
    pub(crate) fn event_at(&mut self, offset: u64) -> Result<Event, StateError> {
        let mut line = Vec::new();
        self.source
            .seek(SeekFrom::Start(offset))
            .and_then(|_| {
                BufReader::new(&mut self.source).take(MAX_BYTES_OF_LINE).read_until(b'\n', &mut line)
            })
            .map_err(StateError::io("read the journal", &self.path))?;
        // Where a line break is lost, another line follows in the same one.
        let mut events = serde_json::Deserializer::from_slice(&line).into_iter();
        let event = events.next().and_then(Result::ok);
        event.ok_or_else(|| StateError::Version { path: self.path.clone(), version: None, line: 0 })
    }

    /// The variables that the events at these places set.
    pub(crate) fn changed_variables(&mut self, offsets: &[u64]) -> Result<Vec<ChangedVariable>, StateError> {
        let mut changed = Vec::new();
        for offset in offsets {
            let Event { place, kind, .. } = self.event_at(*offset)?;
            if let EventKind::VariableSet { name, value, .. } = kind {
                changed.push(ChangedVariable { place, name, value });
            }
        }
        Ok(changed)
    }
}

/// The events of a journal in their order, with the values that the journal leaves out. Ends after the last event, or with an error.
#[derive(Debug)]
pub struct JournalReader {
    lines: Lines,
    places: Places,
    /// Where the outcomes of requests stand. Values are read again where they are needed, since a journal may be larger than the memory.
    outcomes: FxHashMap<RequestId, u64>,
    /// The last outcome, which nearly always is the one that is bound next.
    last: Option<(RequestId, Value)>,
    failed: bool,
}

impl JournalReader {
    /// Reads the journal at that path.
    pub fn open(path: &Path) -> Result<Self, StateError> {
        Self::on(path, Lines::open(path)?)
    }

    /// Reads a journal that is a part of a file.
    pub fn open_in(path: &Path, part: Range<u64>) -> Result<Self, StateError> {
        Self::on(path, Lines::open_in(path, part)?)
    }

    fn on(path: &Path, lines: Lines) -> Result<Self, StateError> {
        Ok(Self {
            lines,
            places: Places::open(path)?,
            outcomes: FxHashMap::default(),
            last: None,
            failed: false,
        })
    }

    /// Continues after the last event that was read, if the journal still has that in its place. Otherwise it has to be read from its start.
    pub fn reopen(&mut self) -> Result<bool, StateError> {
        let Lines { path, start, end, last_seq, seed, .. } = &self.lines;
        let mut places = Places::open(path)?;
        let line = places.bytes_at(*start, (*end - *start) as usize)?;
        let seed = if *last_seq == 1 { 0 } else { *seed };
        let is_sound = line.strip_suffix(b"\n").is_some_and(|body| check_line(body, seed).is_ok());
        let is_last = |header: EventHeader<'_>| header.seq == *last_seq;
        if self.failed || !is_sound || !serde_json::from_slice(&line).is_ok_and(is_last) {
            return Ok(false);
        }
        let mut source = JournalSource::open(path)?;
        source.seek(SeekFrom::Start(*end)).map_err(StateError::io("read the journal", path))?;
        self.lines.reader = BufReader::with_capacity(READ_SIZE, source);
        self.places = places;
        Ok(true)
    }

    fn read(&mut self) -> Result<Option<Event>, StateError> {
        if self.lines.next()?.is_none() {
            return Ok(None);
        }
        let mut event = self.lines.event()?;
        match &mut event.kind {
            EventKind::Effect { request, outcome, .. } => {
                self.outcomes.insert(*request, self.lines.start());
                self.last = Some((*request, value_of(outcome)));
            }
            EventKind::Bound { reply: Some(request), value, .. } => *value = self.reply(*request)?,
            _ => {}
        }
        Ok(Some(event))
    }

    fn reply(&mut self, request: RequestId) -> Result<Value, StateError> {
        if let Some((last, value)) = &self.last
            && *last == request
        {
            return Ok(value.clone());
        }
        let Some(&offset) = self.outcomes.get(&request) else { return Ok(Value::Null) };
        match self.places.event_at(offset)?.kind {
            EventKind::Effect { outcome, .. } => Ok(value_of(&outcome)),
            _ => Ok(Value::Null),
        }
    }
}

impl Iterator for JournalReader {
    type Item = Result<Event, StateError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let event = self.read().transpose();
        self.failed = matches!(event, Some(Err(_)));
        event
    }
}

/// What a program gets of an outcome.
fn value_of(outcome: &Outcome) -> Value {
    match outcome {
        Outcome::Reply(reply) => Value::Text(reply.text.clone()),
        Outcome::Value(value) => value.clone(),
        Outcome::Verdict(verdict) => Value::Bool(verdict.met),
        Outcome::Choice(_) | Outcome::Memory(_) | Outcome::Tree(_) | Outcome::Slept | Outcome::Failed(_) => {
            Value::Null
        }
    }
}
