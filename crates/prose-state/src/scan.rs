//! Finds every whole line of a journal that may be damaged, wherever it stands in the file.

use std::borrow::Cow;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use prose_vm::effect::RequestId;
use prose_vm::event::{Event, EventKind, JOURNAL_VERSION};
use prose_vm::place::Site;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Deserialize;
use serde::de::IgnoredAny;
use smol_str::SmolStr;

use crate::error::{Damage, StateError};
use crate::line::{LINE_START, seed_of_run};
use crate::reader::{CHANGED, HeadFormat, MAX_BYTES_OF_LINE, Places, check_line};
use crate::source::JournalSource;

/// What some editors put in front of a text.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A whole line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Record {
    /// The number of its event.
    pub(crate) seq: u64,
    pub(crate) offset: u64,
    /// Its bytes, without the line break.
    pub(crate) length: u64,
}

/// An effect that a journal has recorded.
#[derive(Debug)]
pub(crate) struct RecordedEffect {
    pub(crate) seq: u64,
    pub(crate) offset: u64,
    pub(crate) place: SmolStr,
    pub(crate) kind: SmolStr,
    pub(crate) fingerprint: SmolStr,
}

/// A session that a journal says has started.
#[derive(Debug)]
pub(crate) struct StartedSession {
    pub(crate) offset: u64,
    pub(crate) place: SmolStr,
}

/// A result whose record is lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LostResult {
    pub(crate) kind: SmolStr,
    /// The line of the program that asked for it, if that is known.
    pub(crate) line: Option<u32>,
    /// Where it was asked for.
    pub(crate) place: SmolStr,
    /// The number of the event that recorded it, or of one that followed from it at once.
    pub(crate) seq: u64,
}

/// What there is in a journal.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    /// The whole lines in the order of their numbers, each number once.
    pub(crate) records: Vec<Record>,
    /// The effects among them, in the same order.
    pub(crate) effects: Vec<RecordedEffect>,
    /// The sessions with a memory among them.
    pub(crate) with_memory: Vec<StartedSession>,
    /// The folders in working trees in which sessions have started, by the places of the sessions.
    pub(crate) in_trees: FxHashMap<SmolStr, SmolStr>,
    /// The same folders, with the lines that say which sessions have started.
    pub(crate) started_in_trees: Vec<(SmolStr, u64)>,
    /// What is wrong, in the order of the file.
    pub(crate) faults: Vec<Damage>,
    /// What the checksums of the lines after the head start from.
    pub(crate) seed: u32,
    /// Whether the first line of the run is whole.
    pub(crate) has_head: bool,
    /// The lines that say what sessions have left of the memories of their agents.
    pub(crate) memories: Vec<u64>,
    /// The line with the inputs that the program was started with, if it is whole.
    pub(crate) inputs: Option<u64>,
    /// Where the last event starts, if it says that the run has ended.
    pub(crate) end: Option<u64>,
    /// Results that are known to be lost.
    pub(crate) lost: Vec<LostResult>,
    /// How many events are missing of which nothing is known.
    pub(crate) unknown: u64,
    /// The first number that two different lines have.
    conflict: Option<u64>,
}

/// The parts of a line that say what it is about.
#[derive(Deserialize)]
struct Seen<'a> {
    seq: u64,
    #[serde(borrow)]
    place: Cow<'a, str>,
    #[serde(borrow)]
    event: Cow<'a, str>,
    #[serde(default, borrow)]
    effect: Option<Cow<'a, str>>,
    #[serde(default, borrow)]
    fingerprint: Option<Cow<'a, str>>,
    #[serde(default)]
    request: Option<RequestId>,
    /// The request whose reply is bound.
    #[serde(default)]
    reply: Option<RequestId>,
    #[serde(default)]
    site: Option<Site>,
    #[serde(default)]
    task: Option<SeenTask>,
}

#[derive(Deserialize)]
struct SeenTask {
    #[serde(default)]
    memory: Option<IgnoredAny>,
    #[serde(default)]
    folder: Option<SmolStr>,
}

impl Seen<'_> {
    /// What is lost where the outcome of a request at this place is.
    fn lost(&self, kind: &str) -> LostResult {
        let line = self.site.map(|site| site.line);
        LostResult { kind: kind.into(), line, place: self.place.as_ref().into(), seq: self.seq }
    }
}

impl Scan {
    /// Reads a journal of that run.
    pub(crate) fn read(path: &Path, run: &str) -> Result<Self, StateError> {
        let head = find_head(path, run)?;
        let mut seeds: Vec<u32> = Vec::new();
        // Without a sound head, the folder says which run it is.
        let of_head = head.as_ref().map(|head| seed_of_run(head.version, &head.run));
        for seed in of_head.into_iter().chain([seed_of_run(u32::MAX, run), 0]) {
            if !seeds.contains(&seed) {
                seeds.push(seed);
            }
        }
        let mut best = Self::default();
        for seed in seeds {
            let is_of_head = of_head == Some(seed);
            let own_head = head.as_ref().filter(|_| is_of_head).map_or(run, |head| head.run.as_str());
            let scan = Scanner::new(path, seed, own_head)?.run()?;
            let is_first = best.faults.is_empty() && best.records.is_empty();
            if is_first || scan.records.len() > best.records.len() {
                best = scan;
            }
            // A head alone says little: it may be that of another run.
            if best.records.len() > usize::from(best.has_head) {
                break;
            }
        }
        Ok(best)
    }

    /// How many of the lines follow each other without a gap, from the head on.
    pub(crate) fn unbroken(&self) -> usize {
        let follows = |(nth, record): &(usize, &Record)| record.seq == *nth as u64 + 1;
        let no_conflict =
            |(_, record): &(usize, &Record)| self.conflict.is_none_or(|conflict| record.seq < conflict);
        if !self.has_head {
            return 0;
        }
        self.records.iter().enumerate().take_while(|found| follows(found) && no_conflict(found)).count()
    }
}

/// The head of the run among the lines of a journal, or that of another run where its own is not there.
fn find_head(path: &Path, run: &str) -> Result<Option<HeadFormat>, StateError> {
    let mut found: Option<HeadFormat> = None;
    let mut lines = RawLines::open(path)?;
    while let Some(line) = lines.next()? {
        for (_, part) in parts(line.bytes) {
            if check_line(part, 0).is_err() {
                continue;
            }
            let is_head =
                serde_json::from_slice(part).is_ok_and(|seen: Seen<'_>| seen.event == "run-started");
            let Some(head) = is_head.then(|| serde_json::from_slice::<HeadFormat>(part).ok()).flatten()
            else {
                continue;
            };
            if head.version > JOURNAL_VERSION {
                let path = path.to_owned();
                return Err(StateError::Version { path, version: Some(head.version), line: line.number });
            }
            if head.run == run {
                return Ok(Some(head));
            }
            found.get_or_insert(head);
        }
    }
    Ok(found)
}

/// What a scan gathers.
struct Scanner<'a> {
    path: PathBuf,
    run: &'a str,
    scan: Scan,
    kinds: FxHashSet<SmolStr>,
    /// Where the lines start, by the numbers of their events.
    by_seq: FxHashMap<u64, u64>,
    /// Requests that were made, with what they are about.
    asked: FxHashMap<RequestId, LostResult>,
    recorded: FxHashSet<RequestId>,
    /// Requests that came to an end, as other lines than those of their outcomes say.
    ended: Vec<(RequestId, LostResult)>,
    /// The damaged lines that can still be read.
    torn: Vec<Torn>,
    places: Places,
}

/// A damaged line that can still be read. Nothing in it is trusted; it says what may be lost.
struct Torn {
    seq: u64,
    effect: Option<(Option<RequestId>, LostResult)>,
}

impl<'a> Scanner<'a> {
    fn new(path: &Path, seed: u32, run: &'a str) -> Result<Self, StateError> {
        Ok(Self {
            path: path.to_owned(),
            run,
            scan: Scan { seed, ..Scan::default() },
            kinds: FxHashSet::default(),
            by_seq: FxHashMap::default(),
            asked: FxHashMap::default(),
            recorded: FxHashSet::default(),
            ended: Vec::new(),
            torn: Vec::new(),
            places: Places::open(path)?,
        })
    }

    fn run(mut self) -> Result<Scan, StateError> {
        let mut lines = RawLines::open(&self.path)?;
        let mut last = 0;
        while let Some(line) = lines.next()? {
            if let Some(what) = line.oddity {
                self.fault(line.number, line.start, what);
            }
            for (at, part) in parts(line.bytes) {
                let offset = line.start + at;
                match self.take(part, offset, line.number)? {
                    Ok(seq) if seq < last => self.fault(line.number, offset, "is out of order"),
                    Ok(seq) => last = seq,
                    Err(what) => {
                        self.fault(line.number, offset, what);
                        self.torn.extend(torn(part));
                    }
                }
            }
        }
        self.finish()
    }

    fn fault(&mut self, line: u64, offset: u64, what: &'static str) {
        // One thing about a line is enough to say.
        if self.scan.faults.last().is_some_and(|fault| fault.line == line) {
            return;
        }
        self.scan.faults.push(Damage { path: self.path.clone(), line, offset, what });
    }

    /// Takes up a line. Gives the number of its event, or what is wrong with it.
    fn take(
        &mut self,
        part: &[u8],
        offset: u64,
        number: u64,
    ) -> Result<Result<u64, &'static str>, StateError> {
        let seen: Option<Seen<'_>> = serde_json::from_slice(part).ok();
        let is_head = seen.as_ref().is_some_and(|seen| seen.event == "run-started");
        if let Err(what) = check_line(part, if is_head { 0 } else { self.scan.seed }) {
            let is_foreign = what == CHANGED && check_line(part, 0).is_ok();
            return Ok(Err(if is_foreign { "belongs to another run" } else { what }));
        }
        let Some(seen) = seen else { return Ok(Err("is not an event")) };
        if is_head && serde_json::from_slice(part).is_ok_and(|head: HeadFormat| head.run != self.run) {
            return Ok(Err("belongs to another run"));
        }
        if !self.kinds.contains(seen.event.as_ref()) {
            // One of a later version is found out before anything is changed.
            if serde_json::from_slice::<Event>(part).is_err() {
                let path = self.path.clone();
                return Err(StateError::Version { path, version: None, line: number });
            }
            self.kinds.insert(seen.event.as_ref().into());
        }
        if let Some(&first) = self.by_seq.get(&seen.seq) {
            let is_same = self.places.bytes_at(first, part.len())? == part;
            if !is_same {
                let conflict = self.scan.conflict.map_or(seen.seq, |known| known.min(seen.seq));
                self.scan.conflict = Some(conflict);
                // Which of the two happened is unknown, but what either has recorded was an answer.
                self.note(&seen, offset);
            }
            return Ok(Err(if is_same { "is duplicated" } else { "has the number of another event" }));
        }
        self.by_seq.insert(seen.seq, offset);
        self.scan.records.push(Record { seq: seen.seq, offset, length: part.len() as u64 });
        self.scan.has_head |= is_head && seen.seq == 1;
        self.note(&seen, offset);
        Ok(Ok(seen.seq))
    }

    fn note(&mut self, seen: &Seen<'_>, offset: u64) {
        let lost = |kind: &str| seen.lost(kind);
        match seen.event.as_ref() {
            "effect" => {
                self.recorded.extend(seen.request);
                self.scan.effects.push(RecordedEffect {
                    seq: seen.seq,
                    offset,
                    place: seen.place.as_ref().into(),
                    kind: seen.effect.as_deref().unwrap_or_default().into(),
                    fingerprint: seen.fingerprint.as_deref().unwrap_or_default().into(),
                });
            }
            "session-started" => {
                if let Some(request) = seen.request {
                    self.asked.insert(request, lost("session"));
                }
                if let Some(folder) = seen.task.as_ref().and_then(|task| task.folder.clone()) {
                    self.scan.started_in_trees.push((folder.clone(), offset));
                    self.scan.in_trees.insert(seen.place.as_ref().into(), folder);
                }
                if seen.task.as_ref().is_some_and(|task| task.memory.is_some()) {
                    let place = seen.place.as_ref().into();
                    self.scan.with_memory.push(StartedSession { offset, place });
                }
            }
            "condition-asked" => {
                if let Some(request) = seen.request {
                    self.asked.insert(request, lost("judge"));
                }
            }
            "memory-written" => self.scan.memories.push(offset),
            "session-ended" => self.ended.extend(seen.request.map(|request| (request, seen.lost("session")))),
            "bound" => self.ended.extend(seen.reply.map(|request| (request, seen.lost("session")))),
            "inputs-received" if seen.place.is_empty() && self.scan.inputs.is_none() => {
                self.scan.inputs = Some(offset);
            }
            _ => {}
        }
    }

    fn finish(self) -> Result<Scan, StateError> {
        let Self { mut scan, asked, recorded, ended, torn, mut places, .. } = self;
        scan.records.sort_by_key(|record| record.seq);
        scan.effects.sort_by_key(|effect| effect.seq);
        let last = scan.records.last().copied();
        let present: FxHashSet<u64> = scan.records.iter().map(|record| record.seq).collect();
        let missing = last.map_or(0, |last| last.seq) - present.len() as u64;
        let mut named: FxHashSet<RequestId> = FxHashSet::default();
        let mut explained: FxHashSet<u64> = FxHashSet::default();
        for torn in torn {
            if present.contains(&torn.seq) {
                continue;
            }
            if last.is_some_and(|last| torn.seq < last.seq) {
                explained.insert(torn.seq);
            }
            if let Some((request, lost)) = torn.effect
                && request.is_none_or(|request| !recorded.contains(&request) && named.insert(request))
            {
                scan.lost.push(lost);
            }
        }
        let mut evident = 0;
        for (request, end) in ended {
            if !recorded.contains(&request) && named.insert(request) {
                let seq = end.seq;
                let lost = asked.get(&request).cloned().unwrap_or(end);
                scan.lost.push(LostResult { seq, ..lost });
                evident += 1;
            }
        }
        scan.lost.sort_by_key(|lost| lost.seq);
        scan.unknown = missing.saturating_sub(explained.len() as u64 + evident);
        // A line that says that the run has ended counts only as the last one.
        if let Some(last) = last {
            let is_end = matches!(places.event_at(last.offset)?.kind, EventKind::RunEnded(_));
            scan.end = is_end.then_some(last.offset);
        }
        Ok(scan)
    }
}

fn torn(part: &[u8]) -> Option<Torn> {
    let seen: Seen<'_> = serde_json::from_slice(part).ok()?;
    let is_effect = seen.event == "effect";
    let kind = seen.effect.as_deref().unwrap_or("session");
    let effect = is_effect.then(|| (seen.request, seen.lost(kind)));
    Some(Torn { seq: seen.seq, effect })
}

/// A line of a file as it stands there.
struct RawLine<'a> {
    number: u64,
    /// Where its first byte stands that may belong to an event.
    start: u64,
    /// Its bytes, without its line break and without what stands in front of the first line.
    bytes: &'a [u8],
    /// What is unusual about its ends.
    oddity: Option<&'static str>,
}

/// The lines of a file, of which none is read beyond what a line may have.
struct RawLines {
    path: PathBuf,
    reader: BufReader<JournalSource>,
    line: Vec<u8>,
    number: u64,
    next: u64,
}

impl RawLines {
    fn open(path: &Path) -> Result<Self, StateError> {
        let reader = BufReader::with_capacity(1 << 16, JournalSource::open(path)?);
        Ok(Self { path: path.to_owned(), reader, line: Vec::new(), number: 0, next: 0 })
    }

    fn next(&mut self) -> Result<Option<RawLine<'_>>, StateError> {
        self.line.clear();
        let io = || StateError::io("read the journal", &self.path);
        let mut limited = (&mut self.reader).take(MAX_BYTES_OF_LINE);
        let read = limited.read_until(b'\n', &mut self.line).map_err(io())? as u64;
        if read == 0 {
            return Ok(None);
        }
        let start = self.next;
        self.next += read;
        self.number += 1;
        if read == MAX_BYTES_OF_LINE && !self.line.ends_with(b"\n") {
            self.next += skip_line(&mut self.reader).map_err(io())?;
            self.line = Vec::new();
            return Ok(Some(RawLine { number: self.number, start, bytes: &[], oddity: Some("is too long") }));
        }
        let mut bytes = self.line.as_slice();
        let mut oddity = None;
        match bytes.strip_suffix(b"\n") {
            Some(body) => bytes = body,
            None => oddity = Some("is not complete"),
        }
        if let Some(body) = bytes.strip_suffix(b"\r") {
            bytes = body;
            oddity = Some("ends with a carriage return");
        }
        let mut front = 0;
        if let Some(body) = bytes.strip_prefix(BYTE_ORDER_MARK).filter(|_| start == 0) {
            bytes = body;
            front = BYTE_ORDER_MARK.len() as u64;
            oddity = Some("starts with a byte order mark");
        }
        Ok(Some(RawLine { number: self.number, start: start + front, bytes, oddity }))
    }
}

/// Skips to the end of a line; gives the bytes up to there.
fn skip_line(reader: &mut impl BufRead) -> std::io::Result<u64> {
    let mut skipped = 0;
    loop {
        let bytes = reader.fill_buf()?;
        let end = bytes.iter().position(|byte| *byte == b'\n').map(|at| at + 1);
        let (length, is_over) = (end.unwrap_or(bytes.len()), end.is_some() || bytes.is_empty());
        reader.consume(length);
        skipped += length as u64;
        if is_over {
            return Ok(skipped);
        }
    }
}

/// The parts of a line that may be lines of their own, with where they start: where a line break is lost, or a line that was torn continues with the
/// next one, two are in one. Quotes inside of texts are escaped, so that the start of a line cannot stand in one.
fn parts(line: &[u8]) -> Vec<(u64, &[u8])> {
    let mut starts: Vec<usize> = Vec::new();
    let mut at = 0;
    while let Some(found) = find(&line[at..], LINE_START) {
        starts.push(at + found);
        at += found + LINE_START.len();
    }
    if starts.first() != Some(&0) {
        // What stands in front of the first one is damaged.
        starts.insert(0, 0);
    }
    starts.push(line.len());
    starts.windows(2).map(|ends| (ends[0] as u64, &line[ends[0]..ends[1]])).collect()
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    let first = *what.first()?;
    let mut at = 0;
    loop {
        at += bytes[at..].iter().position(|byte| *byte == first)?;
        if bytes[at..].starts_with(what) {
            return Some(at);
        }
        at += 1;
    }
}
