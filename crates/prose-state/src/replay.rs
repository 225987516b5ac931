//! The recorded outcomes of another run, for replays and forks: a new run takes them instead of asking again.
//!
//! Resuming continues the journal of a run ([`crate::recall`]). Here the journal of the earlier run is only read, and the new run has its own.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use prose_vm::activity::Work;
use prose_vm::call_order::CallOrder;
use prose_vm::earlier::ChangedVariable;
use prose_vm::effect::{Effect, Outcome, Reply, Request, RequestId, fingerprint};
use prose_vm::event::{Event, EventKind, RunHead};
use prose_vm::place::Place;
use prose_vm::questions::{Attribution, QuestionKind, RecordedAnswer};
use prose_vm::store::{PendingRequests, Recording};
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;

use crate::error::{Damage, StateError};
use crate::reader::{INCOMPLETE, JournalReader, Lines, Places, read_length};
use crate::recall::{key_of_place, later_than};
use crate::source::journal_of;

/// A recorded run: a journal, or the journal in an exported file.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedRun {
    /// The file.
    pub path: PathBuf,
    /// The bytes of the journal in it.
    pub part: Range<u64>,
    /// The first event: with what the run was started.
    pub head: RunHead,
    /// The text of its program.
    pub program: Option<Arc<str>>,
    /// Whether texts of the events were redacted, so that fingerprints do not match what they were made of.
    pub is_redacted: bool,
}

impl RecordedRun {
    /// The run in a folder. What its process writes from now on is not part of it.
    pub fn in_folder(folder: &Path) -> Result<Self, StateError> {
        let path = journal_of(folder);
        let (_, head) = crate::reader::read_head(&path)?;
        let end = read_length(&path)?;
        let text = folder.join(crate::folder::PROGRAM_FILE);
        let program = prose_files::read_text(&text, prose_files::Limit::PROGRAM).ok().map(Arc::from);
        let is_redacted = head.redacted;
        Ok(Self { path, part: 0..end, head, program, is_redacted })
    }

    /// Whether it is a file of `prose runs export` and not the folder of a run.
    pub fn is_exported(&self) -> bool {
        self.part.start > 0
    }

    /// The first damaged line, after which its events are not read. A last line that its process had only begun is none.
    pub fn damage(&self) -> Result<Option<Damage>, StateError> {
        let mut lines = Lines::open_in(&self.path, self.part.clone())?;
        loop {
            match lines.next() {
                Ok(Some(_)) => {}
                Ok(None) => return Ok(None),
                Err(StateError::Damaged(damage)) => {
                    return Ok(Some(damage).filter(|it| it.what != INCOMPLETE));
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Its events, up to the first damaged line.
    pub fn events(&self) -> Result<JournalReader, StateError> {
        JournalReader::open_in(&self.path, self.part.clone())
    }
}

/// Which outcomes of a recorded run another run takes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Taken {
    /// The number of the event before which they are taken; `None` for all.
    pub before: Option<u64>,
    /// Whether the program, its inputs and its settings are the same, so that a place alone identifies a request.
    pub is_same_program: bool,
    /// Whether working trees are opened and merged again, since those of the recorded run are not used: what sessions did in them and was not merged is
    /// asked again.
    pub has_own_trees: bool,
    /// The replies of sessions that a person changed.
    pub replies: Vec<ChangedReply>,
    /// Who changed them.
    pub by: Option<Attribution>,
}

/// The reply of a session that a person changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedReply {
    /// The place of the session in the recorded run.
    pub recorded: Place,
    /// Its place in the new run, whose program may have been edited.
    pub place: Place,
    /// What it replies instead.
    pub text: Arc<str>,
}

/// An outcome that the journal has.
#[derive(Debug)]
struct Recorded {
    offset: u64,
    fingerprint: SmolStr,
    is_used: bool,
}

/// The outcomes of a recorded run for a new one.
#[derive(Debug)]
pub struct ReplayedRecording {
    places: Places,
    taken: Taken,
    /// In the order in which they were recorded, which is that in which the program gets them.
    recorded: Vec<Recorded>,
    by_place: FxHashMap<SmolStr, u32>,
    by_fingerprint: FxHashMap<SmolStr, VecDeque<u32>>,
    /// The number of outcomes that no request has taken.
    left: usize,
    /// The pending requests with a recorded outcome.
    known: BTreeMap<u32, RequestId>,
    /// The calls of the new run.
    call_order: CallOrder,
    /// The last request that was looked up.
    seen: Option<RequestId>,
    last_work: Work,
    /// Where the lines start that say that a person has set a variable.
    changes: Vec<u64>,
    /// Where the lines start that say that a person has answered a question.
    answers: Vec<u64>,
    damage: Option<Damage>,
    problem: Option<StateError>,
}

impl ReplayedRecording {
    /// Reads which outcomes a run has. The outcomes themselves are read when they are asked for.
    pub fn open(run: &RecordedRun, taken: Taken) -> Result<Self, StateError> {
        let mut recording = Self {
            places: Places::open(&run.path)?,
            taken,
            recorded: Vec::new(),
            by_place: FxHashMap::default(),
            by_fingerprint: FxHashMap::default(),
            left: 0,
            known: BTreeMap::new(),
            call_order: CallOrder::default(),
            seen: None,
            last_work: Work::default(),
            changes: Vec::new(),
            answers: Vec::new(),
            damage: None,
            problem: None,
        };
        recording.index(run)?;
        Ok(recording)
    }

    fn index(&mut self, run: &RecordedRun) -> Result<(), StateError> {
        let has_trees = self.taken.has_own_trees
            && (run.head.isolates || run.head.routes.iter().any(|route| route.isolates));
        let unmerged = if has_trees { self.unmerged(run)? } else { FxHashSet::default() };
        let before = self.taken.before.unwrap_or(u64::MAX);
        let mut lines = Lines::open_in(&run.path, run.part.clone())?;
        loop {
            let header = match lines.next() {
                Ok(Some(header)) => header,
                Ok(None) => return Ok(()),
                Err(StateError::Damaged(damage)) => {
                    self.damage = Some(damage);
                    return Ok(());
                }
                Err(error) => return Err(error),
            };
            if header.seq >= before {
                return Ok(());
            }
            if header.event == EventKind::VARIABLE_SET {
                self.changes.push(lines.start());
                continue;
            }
            if header.event == "answered" {
                self.answers.push(lines.start());
                continue;
            }
            if header.event != "effect" {
                continue;
            }
            let kind = header.effect.as_deref().unwrap_or_default();
            if self.taken.has_own_trees && (kind == "tree" || unmerged.contains(header.place.as_ref())) {
                continue;
            }
            let place = key_of_place(&header.place, kind);
            // Only the head of the line is parsed: a journal may have thousands of long replies.
            let fingerprint: SmolStr = header.fingerprint.as_deref().unwrap_or_default().into();
            self.add(place, fingerprint, lines.start());
        }
    }

    /// The places of sessions in working trees whose work was not merged before the point.
    fn unmerged(&self, run: &RecordedRun) -> Result<FxHashSet<SmolStr>, StateError> {
        let before = self.taken.before.unwrap_or(u64::MAX);
        let mut in_trees: FxHashSet<SmolStr> = FxHashSet::default();
        for event in run.events()? {
            let Ok(event) = event else { break };
            if event.seq >= before {
                break;
            }
            match &event.kind {
                EventKind::SessionStarted { task, .. } if task.folder.is_some() => {
                    in_trees.insert(event.place.as_str().into());
                }
                EventKind::Effect { outcome: Outcome::Tree(_), .. } => {
                    // The trees of the branches below this place are merged.
                    if let Some(parallel) = event.place.as_str().strip_suffix("/trees") {
                        in_trees.retain(|place| !is_below(place, parallel));
                    }
                }
                _ => {}
            }
        }
        Ok(in_trees)
    }

    fn add(&mut self, place: SmolStr, fingerprint: SmolStr, offset: u64) {
        let order = self.recorded.len() as u32;
        self.by_place.insert(place, order);
        self.by_fingerprint.entry(fingerprint.clone()).or_default().push_back(order);
        self.recorded.push(Recorded { offset, fingerprint, is_used: false });
        self.left += 1;
    }

    /// Sets the replies of sessions that a person changed.
    pub fn change_replies(&mut self, replies: Vec<ChangedReply>) {
        self.taken.replies = replies;
    }

    /// The number of recorded outcomes that may be taken.
    pub fn recorded(&self) -> usize {
        self.recorded.len()
    }

    /// The variables that a person has set in the run before the point, in the order in which they did.
    pub fn changed_variables(&mut self) -> Result<Vec<ChangedVariable>, StateError> {
        self.places.changed_variables(&self.changes)
    }

    /// The answers to inputs before the point. Those that were given while the run was stopped are in no outcome until it is resumed.
    pub fn answered_inputs(&mut self) -> Result<Vec<(Place, RecordedAnswer)>, StateError> {
        let mut answers = Vec::new();
        for offset in &self.answers {
            let event = self.places.event_at(*offset)?;
            if let EventKind::Answered(answer) = event.kind
                && let QuestionKind::Input { .. } = answer.kind
            {
                answers.push((event.place, answer));
            }
        }
        Ok(answers)
    }

    /// The damaged line at which the journal could not be read any further.
    pub fn damage(&self) -> Option<&Damage> {
        self.damage.as_ref()
    }

    /// What went wrong while outcomes were read, if something did.
    pub fn take_problem(&mut self) -> Option<StateError> {
        self.problem.take()
    }

    /// The outcome for a request: the one of its place if it was asked the same there, else the first one of the same request elsewhere.
    fn find(&mut self, request: &Request) -> Option<u32> {
        // A changed reply is that of its session, whatever the session asks in an edited program.
        let changed = self.changed(request);
        let place = changed.map_or(&request.place, |changed| &changed.recorded);
        let (is_changed, place) = (changed.is_some(), key_of_place(place.as_str(), request.effect.kind()));
        let at_place = self.by_place.get(&place).copied();
        let at_place = at_place.filter(|order| !self.recorded[*order as usize].is_used);
        if (self.taken.is_same_program || is_changed) && at_place.is_some() {
            return at_place;
        }
        let fingerprint = fingerprint(&request.effect);
        if let Some(order) = at_place
            && self.recorded[order as usize].fingerprint == fingerprint
        {
            return Some(order);
        }
        let orders = self.by_fingerprint.get_mut(&fingerprint)?;
        while let Some(order) = orders.pop_front() {
            if !self.recorded[order as usize].is_used {
                return Some(order);
            }
        }
        None
    }

    fn look_up(&mut self, waiting: &PendingRequests) {
        let seen = self.seen;
        for request in later_than(seen, waiting) {
            self.seen = Some(request.id);
            if let Some(order) = self.find(request) {
                self.recorded[order as usize].is_used = true;
                self.left -= 1;
                self.known.insert(order, request.id);
            }
        }
    }

    /// Gives an outcome back whose request was cancelled.
    fn give_back(&mut self, order: u32) {
        let recorded = &mut self.recorded[order as usize];
        recorded.is_used = false;
        let fingerprint = recorded.fingerprint.clone();
        self.by_fingerprint.entry(fingerprint).or_default().push_front(order);
        self.left += 1;
    }

    /// The reply that a person wrote for a session instead of the recorded one.
    fn changed(&self, request: &Request) -> Option<&ChangedReply> {
        let Effect::Session(_) = &request.effect else { return None };
        self.taken.replies.iter().find(|changed| self.call_order.is_same(&changed.place, &request.place))
    }
}

impl Recording for ReplayedRecording {
    fn recall(&mut self, waiting: &PendingRequests) -> Option<(RequestId, Outcome)> {
        self.look_up(waiting);
        while let Some((order, id)) = self.known.pop_first() {
            let Some(request) = waiting.get(&id) else {
                self.give_back(order);
                continue;
            };
            if let Some(changed) = self.changed(request) {
                let text = Arc::clone(&changed.text);
                self.last_work = Work { given_by: self.taken.by.clone(), is_reused: true, ..Work::default() };
                let warnings = self.taken.by.iter().map(Attribution::reply_warning).collect();
                return Some((id, Outcome::Reply(Reply { text, warnings, ..Reply::default() })));
            }
            match self.places.event_at(self.recorded[order as usize].offset).map(|event| event.kind) {
                Ok(EventKind::Effect { outcome, work, .. }) => {
                    // The own sessions of agents belong to the earlier run, and continuing them would change it.
                    self.last_work = Work { is_reused: true, harness: None, continues: None, ..*work };
                    return Some((id, outcome));
                }
                Ok(_) => {}
                Err(error) => self.problem = Some(error),
            }
        }
        None
    }

    fn happened(&mut self, event: &Event) {
        if !self.taken.replies.is_empty() {
            self.call_order.apply(event);
        }
    }

    fn last_work(&mut self) -> Work {
        std::mem::take(&mut self.last_work)
    }

    fn may_know_more(&self) -> bool {
        self.left > 0 || !self.known.is_empty()
    }
}

/// Whether a place is another one or below it.
fn is_below(place: &str, other: &str) -> bool {
    place.strip_prefix(other).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
