//! Remembers from the journal what came of the requests of an earlier execution (decision 10).

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;
use std::path::{Path, PathBuf};

use prose_vm::effect::{Outcome, Request, RequestId, fingerprint};
use prose_vm::event::{Event, RunEnd, RunStatus, What};
use prose_vm::store::{Recall, Waiting};
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::{SmolStr, format_smolstr};

use crate::error::{Damage, StateError};
use crate::filesystem::truncate;
use crate::reader::{JournalReader, Lines, Places};

/// By what a request is known again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Matching {
    /// By its place and its kind: the program is the same, and every event has to be.
    Exact,
    /// By what it asks for: the program has changed, and what still matches is kept.
    Asked,
}

/// What the journal of a run remembers.
#[derive(Debug)]
pub struct JournalRecall {
    path: PathBuf,
    places: Places,
    matching: Matching,
    /// Where the effects stand, in the order in which they were recorded.
    offsets: Vec<u64>,
    /// Effects that nothing has asked for yet, by what they are known again.
    unused: FxHashMap<SmolStr, VecDeque<u32>>,
    /// How many these are.
    left: usize,
    /// Requests that wait and whose effect is known, in the order in which the effects were recorded.
    known: BTreeMap<u32, (RequestId, SmolStr)>,
    /// The last request that has been looked up.
    seen: Option<RequestId>,
    reused: u32,
    /// The events of the earlier execution, read as they are asked for.
    events: Option<JournalReader>,
    next_event: Option<Event>,
    sound: Sound,
    problem: Option<StateError>,
}

/// The part of a journal that can be read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sound {
    /// Its bytes.
    pub length: u64,
    /// The number of its last event.
    pub last_seq: u64,
    /// What is wrong with the line behind it, if there is one.
    pub damage: Option<Damage>,
    /// Where the line of the last event starts, if that one says that the run has ended.
    pub end: Option<u64>,
}

impl JournalRecall {
    /// Reads which effects a journal has recorded. Outcomes are read when they are asked for.
    pub fn open(path: &Path, matching: Matching) -> Result<Self, StateError> {
        let mut recall = Self {
            path: path.to_owned(),
            places: Places::open(path)?,
            matching,
            offsets: Vec::new(),
            unused: FxHashMap::default(),
            left: 0,
            known: BTreeMap::new(),
            seen: None,
            reused: 0,
            events: None,
            next_event: None,
            sound: Sound::default(),
            problem: None,
        };
        recall.index()?;
        Ok(recall)
    }

    fn index(&mut self) -> Result<(), StateError> {
        let mut lines = Lines::open(&self.path)?;
        let mut kinds: FxHashSet<SmolStr> = FxHashSet::default();
        loop {
            let glance = match lines.next() {
                Ok(Some(glance)) => glance,
                Ok(None) => break,
                Err(StateError::Damaged(damage)) => {
                    self.sound.damage = Some(damage);
                    break;
                }
                Err(error) => return Err(error),
            };
            let is_end = glance.event == "run-ended";
            let is_new_kind = !kinds.contains(glance.event.as_ref());
            let is_effect = glance.event == "effect";
            if is_effect && self.matching == Matching::Exact {
                let kind = glance.effect.as_deref().unwrap_or_default();
                let key = format_smolstr!("{} {kind}", glance.place);
                self.add(key, lines.start());
            } else if is_new_kind || is_effect {
                kinds.insert(glance.event.as_ref().into());
                // The first event of each kind is read whole, so that one of a later version is found out before the program starts.
                match lines.event()?.what {
                    // A program is changed so that it does not fail again: what failed is asked for once more.
                    What::Effect { outcome: Outcome::Failed(_), .. } => {}
                    What::Effect { fingerprint, .. } => self.add(fingerprint, lines.start()),
                    _ => {}
                }
            }
            self.sound.end = is_end.then(|| lines.start());
        }
        self.sound.length = lines.end();
        self.sound.last_seq = lines.last_seq();
        Ok(())
    }

    fn add(&mut self, key: SmolStr, offset: u64) {
        let order = self.offsets.len() as u32;
        self.offsets.push(offset);
        self.left += 1;
        self.unused.entry(key).or_default().push_back(order);
    }

    /// The part of the journal that could be read.
    pub fn sound(&self) -> &Sound {
        &self.sound
    }

    /// Takes the event off the journal that says that the run was interrupted: it goes on, and the next event has that number.
    pub(crate) fn take_off_interruption(&mut self) -> Result<(), StateError> {
        let Some(offset) = self.sound.end else { return Ok(()) };
        let event = self.places.event_at(offset)?;
        if let What::RunEnded(RunEnd { status: RunStatus::Interrupted, .. }) = event.what {
            truncate(&self.path, offset)?;
            self.sound.length = offset;
            self.sound.last_seq = event.seq - 1;
            self.sound.end = None;
        }
        Ok(())
    }

    /// How many outcomes there are of each thing that was asked for.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (&SmolStr, usize)> {
        self.unused.iter().map(|(key, orders)| (key, orders.len()))
    }

    /// Leaves out as many outcomes as a later journal has taken over, which are those that came first.
    pub(crate) fn leave_out(&mut self, taken: &FxHashMap<SmolStr, usize>) {
        for (key, orders) in &mut self.unused {
            let count = taken.get(key).map_or(0, |count| orders.len().min(*count));
            orders.drain(..count);
            self.left -= count;
        }
    }

    /// How many outcomes have been taken from the journal.
    pub fn reused(&self) -> u32 {
        self.reused
    }

    /// How many outcomes the journal has.
    pub fn recorded(&self) -> usize {
        self.offsets.len()
    }

    /// What went wrong while outcomes were read again, if something did.
    pub fn take_problem(&mut self) -> Option<StateError> {
        self.problem.take()
    }

    fn key(&self, request: &Request) -> SmolStr {
        match self.matching {
            Matching::Exact => format_smolstr!("{} {}", request.place, request.effect.kind()),
            Matching::Asked => fingerprint(&request.effect),
        }
    }

    /// Looks up those of the requests that have come since the last time.
    fn look_up(&mut self, waiting: &Waiting) {
        for request in later_than(self.seen, waiting) {
            let key = self.key(request);
            if let Some(order) = self.unused.get_mut(&key).and_then(VecDeque::pop_front) {
                self.left -= 1;
                self.known.insert(order, (request.id, key));
            }
            self.seen = Some(request.id);
        }
    }
}

/// Those of the requests that have come since one that was seen.
pub(crate) fn later_than(seen: Option<RequestId>, waiting: &Waiting) -> impl Iterator<Item = &Request> {
    let start = seen.map_or(Bound::Unbounded, Bound::Excluded);
    waiting.range((start, Bound::Unbounded)).map(|(_, request)| request)
}

impl Recall for JournalRecall {
    fn recall(&mut self, waiting: &Waiting) -> Option<(RequestId, Outcome)> {
        self.look_up(waiting);
        while let Some((order, (id, key))) = self.known.pop_first() {
            if !waiting.contains_key(&id) {
                // The request was given up. What it would have got may serve another one.
                self.unused.entry(key).or_default().push_front(order);
                self.left += 1;
                continue;
            }
            match self.places.event_at(self.offsets[order as usize]).map(|event| event.what) {
                Ok(What::Effect { outcome, .. }) => {
                    self.reused += 1;
                    return Some((id, outcome));
                }
                Ok(_) => {}
                Err(error) => self.problem = Some(error),
            }
        }
        None
    }

    fn may_know_more(&self) -> bool {
        self.matching != Matching::Exact && self.left > 0
    }

    fn expected(&mut self, seq: u64) -> Option<Event> {
        if self.matching != Matching::Exact || seq > self.sound.last_seq {
            return None;
        }
        if self.events.is_none() || self.next_event.as_ref().is_some_and(|event| event.seq > seq) {
            self.events = JournalReader::open(&self.path).map_err(|error| self.problem = Some(error)).ok();
            self.next_event = None;
        }
        loop {
            if let Some(event) = self.next_event.as_ref().filter(|event| event.seq >= seq) {
                return (event.seq == seq).then(|| event.clone());
            }
            match self.events.as_mut()?.next()? {
                Ok(event) => self.next_event = Some(event),
                Err(error) => {
                    self.problem = Some(error);
                    return None;
                }
            }
        }
    }
}
