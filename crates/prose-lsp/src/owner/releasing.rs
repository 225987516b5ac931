//! Releasing the trees of programs that are not open: of thousands of programs in a folder, most are never looked at.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use prose_analysis::SourceFile;
use prose_analysis::imports::imported_programs;
use prose_analysis::location::Origin;

use crate::background::Background;
use crate::mailbox::Mailbox;
use crate::owner::state::Owner;
use crate::workspace::message::WorkspaceMessage;

/// The time after the last need of trees of closed programs. Requests for symbols come with every letter that the user types.
const AFTER: Duration = Duration::from_secs(3);
/// How many programs are released between two messages.
const BATCH: usize = 8;

/// Which trees are to be released, and when.
pub(super) struct Releases {
    /// When trees of closed programs were last needed, if some have not been released since.
    needed: Option<Instant>,
    /// Whether trees of released programs may have been needed again, too.
    of_released: bool,
    /// Whether a message is on its way that says that it is time.
    is_due: bool,
    /// The programs that are released next.
    next: Vec<SourceFile>,
    background: Background,
    owner: Mailbox<WorkspaceMessage>,
}

impl Releases {
    pub(super) fn new(owner: Mailbox<WorkspaceMessage>) -> Self {
        Self {
            needed: None,
            of_released: false,
            is_due: false,
            next: Vec::new(),
            background: Background::default(),
            owner,
        }
    }

    /// Whether there is nothing to release at once.
    pub(super) fn are_done(&self) -> bool {
        self.next.is_empty()
    }

    /// Notes that trees of closed programs are needed now, and perhaps those of released ones.
    pub(super) fn need(&mut self, of_released: bool) {
        self.needed = Some(Instant::now());
        self.of_released |= of_released;
        self.wait();
    }

    fn wait(&mut self) {
        if !self.is_due {
            self.is_due = true;
            self.background.send_after(AFTER, &self.owner, WorkspaceMessage::ReleaseDue);
        }
    }
}

impl Owner {
    /// Collects the programs whose trees can be released, if they have not been needed for some time.
    pub(super) fn release_due(&mut self) {
        self.releases.is_due = false;
        let Some(needed) = self.releases.needed else { return };
        // A change of the analysis cancels what is being computed.
        if needed.elapsed() < AFTER || self.requests.is_reading() {
            return self.releases.wait();
        }
        self.releases.needed = None;
        self.releases.next = match std::mem::take(&mut self.releases.of_released) {
            true => self.analysis.host.files().collect(),
            false => self.analysis.host.unreleased().collect(),
        };
    }

    /// Releases the trees of some programs. Returns whether there were some.
    pub(super) fn release_next(&mut self) -> bool {
        if self.releases.next.is_empty() {
            return false;
        }
        if self.requests.is_reading() {
            self.releases.next.clear();
            self.releases.need(true);
            return true;
        }
        let rest = self.releases.next.len().saturating_sub(BATCH);
        let files = self.releases.next.split_off(rest);
        self.release(files);
        true
    }

    /// Releases the trees of programs that a scan has found, and of those that they import.
    pub(super) fn release_found(&mut self) {
        self.release(self.analysis.host.unreleased().collect());
    }

    fn release(&mut self, mut files: Vec<SourceFile>) {
        files.retain(|file| self.can_be_released(*file));
        if !files.is_empty() {
            self.requests.reads.recall_views();
            self.analysis.host.release_trees(&files);
        }
    }

    /// Whether nobody reads or edits a program, nor one that it imports: their edits would outdate what is kept of it.
    fn can_be_released(&self, file: SourceFile) -> bool {
        let db = self.analysis.host.db();
        if *file.origin(db) != Origin::Local {
            return false;
        }
        let mut known = HashSet::from([file]);
        let mut waiting = vec![file];
        while let Some(file) = waiting.pop() {
            if self.analysis.programs.is_open(file) {
                return false;
            }
            waiting.extend(imported_programs(db, file).iter().filter(|imported| known.insert(**imported)));
        }
        true
    }
}
