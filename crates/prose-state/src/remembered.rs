//! What is known of an earlier execution of a run, wherever it is written down.

use std::fs;
use std::path::{Path, PathBuf};

use prose_vm::activity::Work;
use prose_vm::effect::{Effect, Outcome, Request, RequestId, Usage, fingerprint};
use prose_vm::event::{Event, EventKind, Expense};
use prose_vm::store::{PendingRequests, Recording};
use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use crate::at_work;
use crate::error::StateError;
use crate::foreign::ForeignRecording;
use crate::reader::Places;
use crate::recall::{JournalRecording, Matching};
use crate::repair::{JournalCopies, copy_journal, truncate};
use crate::row_writer::is_database;
use crate::scan::Scan;
use crate::source::journal_of;

/// What is known of an earlier execution: from its journals, or from the files that another machine has left.
#[derive(Debug, Default)]
pub struct Remembered {
    /// The journal that the execution continues with, or the last one of the program before it changed, and those from before that, the latest first.
    pub(crate) journals: Vec<JournalRecording>,
    /// What another machine has left (R104).
    pub(crate) foreign: Option<Box<ForeignRecording>>,
}

impl Remembered {
    /// How many outcomes have been reused.
    pub fn reused(&self) -> u32 {
        let foreign = self.foreign.as_ref().map_or(0, |foreign| foreign.reused());
        self.journals.iter().map(JournalRecording::reused).sum::<u32>() + foreign
    }
}

impl Recording for Remembered {
    fn recall(&mut self, waiting: &PendingRequests) -> Option<(RequestId, Outcome)> {
        let known = self.journals.iter_mut().find_map(|journal| journal.recall(waiting));
        known.or_else(|| self.foreign.as_mut()?.recall(waiting))
    }

    fn last_work(&mut self) -> Work {
        // The others have returned nothing since.
        let mut work = self.journals.iter_mut().map(Recording::last_work);
        work.find(|work| !work.is_empty()).unwrap_or_default()
    }

    fn expenses(&mut self) -> Vec<Expense> {
        self.journals.first_mut().map_or_else(Vec::new, Recording::expenses)
    }

    fn may_know_more(&self) -> bool {
        self.journals.iter().any(Recording::may_know_more) || self.foreign.is_some()
    }

    fn is_known(&self, request: RequestId) -> bool {
        self.journals.iter().any(|journal| journal.is_known(request))
    }

    fn happened(&mut self, event: &Event) {
        if let Some(foreign) = &mut self.foreign {
            foreign.happened(event);
        }
    }

    fn stopped(&self) -> Option<(u64, u64)> {
        self.journals.first()?.stopped()
    }

    fn used(&self) -> Option<Usage> {
        self.journals.first()?.used()
    }

    fn abandons_tree(&mut self, request: &Request) -> bool {
        let Effect::Session(task) = &request.effect else { return false };
        let Some(folder) = task.folder.as_deref() else { return false };
        let asked = fingerprint(&request.effect);
        let known: Vec<bool> =
            self.journals.iter().filter_map(|journal| journal.is_own_tree(folder, &asked)).collect();
        let is_own = known.is_empty() || known.contains(&true);
        self.journals.iter_mut().for_each(|journal| journal.take_tree(folder, is_own));
        !is_own
    }

    fn expected(&mut self, seq: u64) -> Option<Event> {
        self.journals.first_mut()?.expected(seq)
    }
}

/// What sessions have left of the memories of their agents before.
#[derive(Debug, Default)]
pub(crate) struct SessionMemories(FxHashMap<SmolStr, SessionMemory>);

#[derive(Debug)]
struct SessionMemory {
    at: u64,
    /// Whether something happened after it, so that it is known to have been written.
    is_written: bool,
}

impl SessionMemories {
    fn add(&mut self, event: &Event, is_last: bool) {
        if let Some(key) = Self::key(event) {
            let left = self.0.entry(key).or_insert(SessionMemory { at: event.at, is_written: false });
            left.is_written |= !is_last;
        }
    }

    /// When a session left a memory before, and whether that is known to have been written.
    pub(crate) fn find(&self, event: &Event) -> Option<(u64, bool)> {
        if self.0.is_empty() {
            return None;
        }
        let left = self.0.get(&Self::key(event)?)?;
        Some((left.at, left.is_written))
    }

    fn key(event: &Event) -> Option<SmolStr> {
        let EventKind::MemoryWritten { place, memory, prompt, record, .. } = &event.kind else { return None };
        let parts = [place.folder.as_ref(), place.agent.as_str(), memory, prompt, record];
        Some(prose_vm::effect::digest(&serde_json::json!([place.scope, parts]).to_string()))
    }
}

/// The folder of a run, in which its journals lie.
pub(crate) struct Journals<'a> {
    pub(crate) folder: &'a Path,
    /// The id of the run.
    pub(crate) run: &'a str,
}

impl Journals<'_> {
    fn path(&self, number: u32) -> PathBuf {
        self.folder.join(format!("journal-{number}.jsonl"))
    }

    /// How many journals there are of the program before it changed.
    pub(crate) fn count(&self) -> u32 {
        (1u32..).take_while(|number| self.path(*number).exists()).last().unwrap_or(0)
    }

    /// All journals, the oldest first.
    pub(crate) fn all(&self) -> Vec<PathBuf> {
        let earlier = (1..=self.count()).map(|number| self.path(number));
        let latest = Some(journal_of(self.folder)).filter(|path| path.exists());
        earlier.chain(latest).collect()
    }

    /// Puts the journal with those of the program before it changed.
    pub(crate) fn put_away(&self, journal: &Path) -> Result<(), StateError> {
        let change = self.count() + 1;
        JournalCopies(self.folder).put_away(change)?;
        let earlier = self.path(change);
        if is_database(journal) {
            // A process that is killed in between leaves it in both places, where each result still serves once.
            copy_journal(journal, &earlier)?;
            return truncate(journal, 0);
        }
        fs::rename(journal, &earlier).map_err(StateError::io("rename", journal))
    }

    /// Puts what was at work with the last one of these.
    pub(crate) fn put_away_at_work(&self) -> Result<(), StateError> {
        at_work::put_away(self.folder, &self.path(self.count()))
    }

    /// What the copies of damaged journals and the journals of the program before it changed remember, the latest first. What a later journal has is
    /// left out of those before it: it was taken over from there, and must not serve a second time.
    pub(crate) fn recall(&self, latest: Option<&Path>) -> Result<Vec<JournalRecording>, StateError> {
        let mut recalls = Vec::new();
        let mut later: Vec<PathBuf> = latest.map(Path::to_owned).into_iter().collect();
        let mut copies = if latest.is_some() { JournalCopies(self.folder).all() } else { Vec::new() };
        copies.reverse();
        self.recall_each(&copies, &later, Matching::PlaceAndAsked, &mut recalls)?;
        later.append(&mut copies);
        let changes = (1..=self.count()).rev();
        let earlier = changes.flat_map(|change| {
            let copies = JournalCopies(self.folder).of_earlier(change).into_iter().rev();
            std::iter::once(self.path(change)).chain(copies)
        });
        let earlier: Vec<PathBuf> = earlier.collect();
        self.recall_each(&earlier, &later, Matching::Asked, &mut recalls)?;
        Ok(recalls)
    }

    /// What sessions have left of the memories of their agents, as the journals tell that are not written to any more.
    pub(crate) fn left_memories(&self) -> Result<SessionMemories, StateError> {
        let mut left = SessionMemories::default();
        let earlier = (1..=self.count()).flat_map(|change| {
            std::iter::once(self.path(change)).chain(JournalCopies(self.folder).of_earlier(change))
        });
        for path in earlier.chain(JournalCopies(self.folder).all()) {
            let scan = Scan::read(&path, self.run)?;
            let last = scan.records.last().map(|record| record.offset);
            let mut places = Places::open(&path)?;
            for offset in scan.memories {
                left.add(&places.event_at(offset)?, Some(offset) == last);
            }
        }
        Ok(left)
    }

    fn recall_each(
        &self,
        paths: &[PathBuf],
        later: &[PathBuf],
        matching: Matching,
        recalls: &mut Vec<JournalRecording>,
    ) -> Result<(), StateError> {
        if paths.is_empty() {
            return Ok(());
        }
        let mut taken: FxHashMap<SmolStr, usize> = FxHashMap::default();
        let count_in = |taken: &mut FxHashMap<SmolStr, usize>, recall: &JournalRecording| {
            for (key, count) in recall.counts() {
                let most = taken.entry(key.clone()).or_default();
                *most = count.max(*most);
            }
        };
        for path in later {
            count_in(&mut taken, &JournalRecording::open_damaged(path, self.run, matching)?);
        }
        for path in paths {
            let mut recall = JournalRecording::open_damaged(path, self.run, matching)?;
            let before = taken.clone();
            count_in(&mut taken, &recall);
            recall.leave_out(&before);
            recalls.push(recall);
        }
        Ok(())
    }
}
