//! Remembers from the journal what came of the requests of an earlier execution (decision 10).

mod earlier_trees;
mod keys;

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;
use std::path::{Path, PathBuf};

use prose_vm::activity::Work;
use prose_vm::earlier::ChangedVariable;
use prose_vm::effect::{
    Effect, Memory, MemoryPlace, MemoryUse, Outcome, Request, RequestId, Usage, fingerprint,
};
use prose_vm::event::{Event, EventKind, Expense, RunEnd, RunStatus};
use prose_vm::store::{PendingRequests, Recording};
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::{SmolStr, format_smolstr};

use self::earlier_trees::EarlierTrees;
pub(crate) use self::keys::key_of_place;
use self::keys::{MEMORY_STEP, first_attempt, key_in_tree, key_of_both};
use crate::at_work::Unsettled;
use crate::error::{Damage, StateError};
use crate::expenses::Expenses;
use crate::reader::{EventHeader, JournalReader, Lines, Places};
use crate::repair::truncate;
use crate::scan::{Scan, StartedSession};

/// By what a request is known again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Matching {
    /// By its place and its kind: the program is the same, and every event has to be.
    Exact,
    /// By what it asks for: the program has changed, and what still matches is kept.
    Asked,
    /// By its place and by what it asks for: the journal has lost lines, and what still matches is kept.
    PlaceAndAsked,
}

/// What the journal of a run remembers.
#[derive(Debug)]
pub struct JournalRecording {
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
    /// Results that are lost, by their places and kinds, with the order in which they came.
    lost: FxHashMap<SmolStr, u32>,
    /// Requests that wait for a result that is lost. What came after it is recalled when it has come again, so that the program goes the way it went.
    awaited: BTreeMap<u32, RequestId>,
    /// The last request that has been looked up.
    seen: Option<RequestId>,
    reused: u32,
    /// The events of the earlier execution, read as they are asked for.
    events: Option<JournalReader>,
    next_event: Option<Event>,
    /// Memories that were looked up for sessions of which the journal does not say that they are over, by the places of these.
    open: FxHashMap<SmolStr, OpenMemory>,
    trees: EarlierTrees,
    /// Where the lines start that say that a person has set a variable.
    changes: Vec<u64>,
    sound: ReadablePart,
    /// The times of the event that was taken off the end.
    stopped: Option<(u64, u64)>,
    /// What the run had used when it stopped.
    used: Option<Usage>,
    /// What was used for events that are not executed again.
    expenses: Vec<Expense>,
    /// What was reported for the outcome that was returned last.
    last_work: Work,
    problem: Option<StateError>,
}

/// Where a journal mentions a memory and its session.
#[derive(Debug, Default)]
struct OpenMemory {
    looked_up: u64,
    started: Option<u64>,
    is_over: bool,
}

/// A memory that was looked up for a session that is not over.
#[derive(Debug)]
pub(crate) struct LookedUp {
    /// The number of the event that records it, and where its line starts.
    pub(crate) seq: u64,
    pub(crate) offset: u64,
    pub(crate) request: RequestId,
    /// Where it lies; none if the session has not started, which says so.
    pub(crate) place: Option<MemoryPlace>,
    pub(crate) memory: Memory,
}

/// The part of a journal that can be read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReadablePart {
    /// Its bytes.
    pub length: u64,
    /// The number of its last event.
    pub last_seq: u64,
    /// What the checksums of its lines start from.
    pub(crate) seed: u32,
    /// What is wrong with the line after it, if there is one.
    pub damage: Option<Damage>,
    /// Where the line of the last event starts, if that one says that the run has ended.
    pub end: Option<u64>,
}

impl JournalRecording {
    /// Reads which effects a journal has recorded. Outcomes are read when they are asked for.
    pub fn open(path: &Path, matching: Matching) -> Result<Self, StateError> {
        let mut recall = Self::empty(path, matching)?;
        recall.index()?;
        Ok(recall)
    }

    fn empty(path: &Path, matching: Matching) -> Result<Self, StateError> {
        Ok(Self {
            path: path.to_owned(),
            places: Places::open(path)?,
            matching,
            offsets: Vec::new(),
            unused: FxHashMap::default(),
            left: 0,
            known: BTreeMap::new(),
            lost: FxHashMap::default(),
            awaited: BTreeMap::new(),
            seen: None,
            reused: 0,
            events: None,
            next_event: None,
            open: FxHashMap::default(),
            trees: EarlierTrees::default(),
            changes: Vec::new(),
            sound: ReadablePart::default(),
            stopped: None,
            used: None,
            expenses: Vec::new(),
            last_work: Work::default(),
            problem: None,
        })
    }

    /// The same for a journal of a run that may be damaged: every line that is whole is used.
    pub(crate) fn open_damaged(path: &Path, run: &str, matching: Matching) -> Result<Self, StateError> {
        let mut recall = Self::empty(path, matching)?;
        let scan = Scan::read(path, run)?;
        recall.sound.damage = scan.faults.first().cloned();
        recall.index_scan(&scan)?;
        Ok(recall)
    }

    fn index_scan(&mut self, scan: &Scan) -> Result<(), StateError> {
        if self.matching == Matching::Asked {
            for (folder, offset) in &scan.started_in_trees {
                if self.has_tree(folder)
                    && let EventKind::SessionStarted { task, .. } = self.places.event_at(*offset)?.kind
                {
                    self.trees.add(folder, fingerprint(&Effect::Session(task)));
                }
            }
        }
        // What happened after the outcome that the run failed by followed from it.
        let mut over = u64::MAX;
        if self.matching == Matching::PlaceAndAsked
            && let Some(end) = scan.end
            && let EventKind::RunEnded(RunEnd { status: RunStatus::Failed, error, .. }) =
                self.places.event_at(end)?.kind
        {
            // What the run failed by is asked again.
            let message = error.as_ref().map_or("", |error| &error.message);
            let offsets: Vec<u64> = scan.effects.iter().map(|effect| effect.offset).collect();
            let failed = self.failed_by(&offsets, message)?;
            let failed = scan.effects.iter().find(|effect| Some(effect.offset) == failed);
            over = failed.map_or(u64::MAX, |effect| effect.seq);
        }
        let answered: FxHashSet<&str> = scan
            .effects
            .iter()
            .filter(|effect| effect.seq < over && effect.kind == "session")
            .map(|effect| first_attempt(&effect.place))
            .collect();
        let mut known: FxHashSet<&str> = FxHashSet::default();
        let mut lost = scan.lost.iter().peekable();
        for effect in scan.effects.iter().filter(|effect| effect.seq < over) {
            while let Some(lost) = lost.next_if(|lost| lost.seq < effect.seq) {
                // It has an order of its own, between what came before and after.
                let order = self.offsets.len() as u32;
                self.offsets.push(u64::MAX);
                self.lost.insert(key_of_both(&lost.place, &lost.kind, ""), order);
            }
            match self.matching {
                Matching::Exact => self.add(key_of_place(&effect.place, &effect.kind), effect.offset),
                // What was done with working trees is looked at again: other sessions may have changed them.
                Matching::Asked if effect.kind == "tree" => {}
                Matching::Asked => match self.places.event_at(effect.offset)?.kind {
                    EventKind::Effect { outcome: Outcome::Failed(_), .. } => {}
                    _ => {
                        let tree = scan.in_trees.get(&effect.place).filter(|tree| self.has_tree(tree));
                        let fingerprint = &effect.fingerprint;
                        let key = tree.map_or(fingerprint.clone(), |tree| key_in_tree(fingerprint, tree));
                        self.add(key, effect.offset);
                    }
                },
                Matching::PlaceAndAsked => {
                    if effect.kind == "memory" {
                        // A session that is asked again receives what its agent remembers now.
                        let session = effect.place.strip_suffix(MEMORY_STEP).unwrap_or(&effect.place);
                        if !answered.contains(session) {
                            continue;
                        }
                        known.insert(session);
                    }
                    let key = key_of_both(&effect.place, &effect.kind, &effect.fingerprint);
                    self.add(key, effect.offset);
                }
            }
        }
        if self.matching == Matching::PlaceAndAsked {
            // What an agent remembered is in the task of its session, too.
            for session in &scan.with_memory {
                let place = first_attempt(&session.place);
                if answered.contains(place) && known.insert(place) {
                    self.add_memory_of(session)?;
                }
            }
        }
        Ok(())
    }

    /// Adds what an agent remembered, from the task of a session.
    fn add_memory_of(&mut self, session: &StartedSession) -> Result<(), StateError> {
        let EventKind::SessionStarted { task, .. } = self.places.event_at(session.offset)?.kind else {
            return Ok(());
        };
        if let Some(memory) = &task.memory {
            let place = format_smolstr!("{}{MEMORY_STEP}", first_attempt(&session.place));
            let effect = Effect::Memory(memory.place.clone());
            self.add(key_of_both(&place, effect.kind(), &fingerprint(&effect)), session.offset);
        }
        Ok(())
    }

    fn index(&mut self) -> Result<(), StateError> {
        let mut lines = Lines::open(&self.path)?;
        let mut kinds: FxHashSet<SmolStr> = FxHashSet::default();
        loop {
            let lines_start = lines.end();
            let glance = match lines.next() {
                Ok(Some(glance)) => glance,
                Ok(None) => break,
                Err(StateError::Damaged(damage)) => {
                    self.sound.damage = Some(damage);
                    break;
                }
                Err(error) => return Err(error),
            };
            if self.matching == Matching::Exact {
                note_memory(&mut self.open, &glance, lines_start);
            }
            if glance.event == EventKind::VARIABLE_SET {
                self.changes.push(lines_start);
            }
            let is_end = glance.event == "run-ended";
            let is_new_kind = !kinds.contains(glance.event.as_ref());
            let is_effect = glance.event == "effect";
            if is_effect && self.matching == Matching::Exact {
                let kind = glance.effect.as_deref().unwrap_or_default();
                self.add(key_of_place(&glance.place, kind), lines.start());
            } else if is_new_kind || is_effect {
                kinds.insert(glance.event.as_ref().into());
                // The first event of each kind is read whole, so that one of a later version is found out before the program starts.
                match lines.event()?.kind {
                    // A program is changed so that it does not fail again: what failed is asked for once more.
                    EventKind::Effect { outcome: Outcome::Failed(_) | Outcome::Tree(_), .. } => {}
                    EventKind::Effect { fingerprint, .. } => self.add(fingerprint, lines.start()),
                    _ => {}
                }
            }
            self.sound.end = is_end.then(|| lines.start());
        }
        self.sound.length = lines.end();
        self.sound.last_seq = lines.last_seq();
        self.sound.seed = lines.seed();
        Ok(())
    }

    fn add(&mut self, key: SmolStr, offset: u64) {
        let order = self.offsets.len() as u32;
        self.offsets.push(offset);
        self.left += 1;
        self.unused.entry(key).or_default().push_back(order);
    }

    /// The variables that a person has set in the run, in the order in which they did.
    pub(crate) fn changed_variables(&mut self) -> Result<Vec<ChangedVariable>, StateError> {
        self.places.changed_variables(&self.changes)
    }

    /// The part of the journal that could be read.
    pub fn sound(&self) -> &ReadablePart {
        &self.sound
    }

    /// Takes the end off the journal of a resumed run: the event that says that it was interrupted, or the outcome by which it failed and all
    /// after it. An outcome that was caught, or that a later one replaced, stays. A run that failed by its own program has nothing to
    /// try again.
    pub(crate) fn take_off_end(&mut self, run: &str) -> Result<(), StateError> {
        let Some(end) = self.sound.end else { return Ok(()) };
        let Event { at, paused, kind, .. } = self.places.event_at(end)?;
        let EventKind::RunEnded(RunEnd { status, error, usage, .. }) = kind else { return Ok(()) };
        let offset = match status {
            RunStatus::Interrupted | RunStatus::Waiting => Some(end),
            RunStatus::Completed => None,
            RunStatus::Failed => {
                let offsets = self.offsets.clone();
                self.failed_by(&offsets, error.as_ref().map_or("", |error| &error.message))?
            }
        };
        let Some(offset) = offset else {
            let error = error.map(|error| (error.line, error.to_string()));
            return Err(StateError::Ended { run: run.to_owned(), error });
        };
        let expenses = match offset == end {
            true => Vec::new(),
            false => {
                let seq = self.places.event_at(offset)?.seq;
                Expenses::since(&self.path, seq)?.each
            }
        };
        truncate(&self.path, offset)?;
        *self = Self::open(&self.path, self.matching)?;
        self.stopped = Some((at, paused));
        self.used = usage;
        self.expenses = expenses;
        Ok(())
    }

    /// Adds what was used for requests of which the journal has nothing, unless that was taken off its end.
    pub(crate) fn add_expenses(&mut self, expenses: Vec<Expense>) {
        let new = |expense: &Expense| self.expenses.iter().all(|other| other.request != expense.request);
        let new: Vec<Expense> = expenses.into_iter().filter(new).collect();
        self.expenses.extend(new);
    }

    /// Takes over what all executions have used that the journal tells of.
    pub(crate) fn carry_expenses(&mut self, run: &str) -> Result<(), StateError> {
        let mut expenses = Expenses::since(&self.path, 0)?;
        expenses.each.extend(Unsettled { run, journal: &self.path, copies: &[] }.of_earlier()?);
        self.expenses = expenses.total();
        Ok(())
    }

    /// The memories that were looked up for sessions that are not over, in the order in which they were.
    pub(crate) fn open_memories(&mut self) -> Result<Vec<LookedUp>, StateError> {
        let mut found = Vec::new();
        for OpenMemory { looked_up, started, .. } in self.open.values().filter(|open| !open.is_over) {
            let Event { seq, kind, .. } = self.places.event_at(*looked_up)?;
            let EventKind::Effect { request, outcome: Outcome::Memory(memory), .. } = kind else { continue };
            let place = match started.map(|started| self.places.event_at(started)).transpose()? {
                Some(Event { kind: EventKind::SessionStarted { task, .. }, .. }) => {
                    task.memory.as_ref().map(|MemoryUse { place, .. }| place.clone())
                }
                _ => None,
            };
            found.push(LookedUp { seq, offset: *looked_up, request, place, memory });
        }
        found.sort_by_key(|found| found.seq);
        Ok(found)
    }

    /// Where the one of some outcomes stands that an error came from.
    fn failed_by(&mut self, offsets: &[u64], message: &str) -> Result<Option<u64>, StateError> {
        for &offset in offsets.iter().rev() {
            let EventKind::Effect { outcome: Outcome::Failed(failure), .. } =
                self.places.event_at(offset)?.kind
            else {
                continue;
            };
            // What an imported program failed by is reported by its caller in other words around it.
            if !failure.message.is_empty() && message.contains(&failure.message) {
                return Ok(Some(offset));
            }
        }
        Ok(None)
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

    /// Whether the journal has recorded an outcome after a line.
    pub(crate) fn has_outcome_after(&self, offset: u64) -> bool {
        self.offsets.last().is_some_and(|last| *last > offset)
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
            Matching::Exact => key_of_place(request.place.as_str(), request.effect.kind()),
            Matching::Asked => {
                let fingerprint = fingerprint(&request.effect);
                let in_tree = match &request.effect {
                    Effect::Session(task) => {
                        task.folder.as_deref().map(|folder| key_in_tree(&fingerprint, folder))
                    }
                    _ => None,
                };
                let is_left = |key: &SmolStr| self.unused.get(key).is_some_and(|orders| !orders.is_empty());
                in_tree.filter(is_left).unwrap_or(fingerprint)
            }
            Matching::PlaceAndAsked => {
                let fingerprint = fingerprint(&request.effect);
                key_of_both(request.place.as_str(), request.effect.kind(), &fingerprint)
            }
        }
    }

    /// Whether the folder of a session in a working tree exists, so that its work is not merged.
    fn has_tree(&self, folder: &str) -> bool {
        self.path.parent().is_some_and(|run| run.join(folder).exists())
    }

    /// Whether the work in a working tree is that of a session: `None` if the tree has none of this execution.
    pub(crate) fn is_own_tree(&self, folder: &str, fingerprint: &str) -> Option<bool> {
        self.trees.is_own(folder, fingerprint)
    }

    /// The tree is that of the session that starts in it. Unless it `is_own`, the results of others in it are lost.
    pub(crate) fn take_tree(&mut self, folder: &str, is_own: bool) {
        self.trees.keep(folder);
        if !is_own {
            let in_tree = key_in_tree("", folder);
            let left = &mut self.left;
            self.unused.retain(|key, orders| {
                let is_lost = key.ends_with(in_tree.as_str());
                *left -= if is_lost { orders.len() } else { 0 };
                !is_lost
            });
        }
    }

    /// Looks up those of the requests that have come since the last time.
    fn look_up(&mut self, waiting: &PendingRequests) {
        for request in later_than(self.seen, waiting) {
            let key = self.key(request);
            if let Some(order) = self.unused.get_mut(&key).and_then(VecDeque::pop_front) {
                self.left -= 1;
                if let Effect::Session(task) = &request.effect
                    && let Some(folder) = &task.folder
                {
                    self.trees.keep(folder);
                }
                self.known.insert(order, (request.id, key));
            } else if !self.lost.is_empty()
                && let Some(order) =
                    self.lost.remove(&key_of_both(request.place.as_str(), request.effect.kind(), ""))
            {
                self.awaited.insert(order, request.id);
            }
            self.seen = Some(request.id);
        }
    }
}

/// Notes which memories have been looked up, and which of their sessions have started and are over.
fn note_memory(open: &mut FxHashMap<SmolStr, OpenMemory>, glance: &EventHeader<'_>, offset: u64) {
    match glance.event.as_ref() {
        "effect" if glance.effect.as_deref() == Some("memory") => {
            if let Some(session) = glance.place.strip_suffix(MEMORY_STEP) {
                let looked_up = OpenMemory { looked_up: offset, ..OpenMemory::default() };
                open.insert(session.into(), looked_up);
            }
        }
        _ if open.is_empty() => {}
        "session-started" => {
            if let Some(open) = open.get_mut(first_attempt(&glance.place)) {
                open.started = Some(offset);
                open.is_over = false;
            }
        }
        // What an agent has answered is not asked again, even if nothing mentions the end of its session.
        "effect" if glance.effect.as_deref() == Some("session") => {
            if let Some(open) = open.get_mut(first_attempt(&glance.place)) {
                open.is_over = true;
            }
        }
        _ => {}
    }
}

/// Those of the requests that have come since one that was seen.
pub(crate) fn later_than(
    seen: Option<RequestId>,
    waiting: &PendingRequests,
) -> impl Iterator<Item = &Request> {
    let start = seen.map_or(Bound::Unbounded, Bound::Excluded);
    waiting.range((start, Bound::Unbounded)).map(|(_, request)| request)
}

impl Recording for JournalRecording {
    fn recall(&mut self, waiting: &PendingRequests) -> Option<(RequestId, Outcome)> {
        self.look_up(waiting);
        self.awaited.retain(|_, id| waiting.contains_key(id));
        let first_awaited = self.awaited.first_key_value().map(|(order, _)| *order);
        while let Some((order, (id, key))) = self.known.pop_first() {
            if first_awaited.is_some_and(|awaited| awaited < order) {
                self.known.insert(order, (id, key));
                return None;
            }
            if !waiting.contains_key(&id) {
                // The request was given up. What it would have got may serve another one.
                self.unused.entry(key).or_default().push_front(order);
                self.left += 1;
                continue;
            }
            match self.places.event_at(self.offsets[order as usize]).map(|event| event.kind) {
                Ok(EventKind::Effect { outcome, work, .. }) => {
                    self.reused += 1;
                    self.last_work = Work { is_reused: self.matching == Matching::Asked, ..*work };
                    return Some((id, outcome));
                }
                Ok(EventKind::SessionStarted { task, .. }) => {
                    if let Some(memory) = &task.memory {
                        self.reused += 1;
                        let segments = memory.segment.saturating_sub(1);
                        return Some((id, Outcome::Memory(Memory { text: memory.text.clone(), segments })));
                    }
                }
                Ok(_) => {}
                Err(error) => self.problem = Some(error),
            }
        }
        None
    }

    fn last_work(&mut self) -> Work {
        std::mem::take(&mut self.last_work)
    }

    fn expenses(&mut self) -> Vec<Expense> {
        std::mem::take(&mut self.expenses)
    }

    fn may_know_more(&self) -> bool {
        self.matching != Matching::Exact && (self.left > 0 || !self.known.is_empty())
    }

    fn is_known(&self, request: RequestId) -> bool {
        !self.awaited.is_empty() && self.known.values().any(|(id, _)| *id == request)
    }

    fn stopped(&self) -> Option<(u64, u64)> {
        self.stopped
    }

    fn used(&self) -> Option<Usage> {
        self.used
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
