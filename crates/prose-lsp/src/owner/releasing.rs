//! Releasing the trees of programs that are not open: of thousands of programs in a folder, most are never looked at.

use std::collections::HashSet;

use prose_analysis::SourceFile;
use prose_analysis::imports::imported_programs;
use prose_analysis::location::Origin;

use crate::owner::releases::AFTER;
use crate::owner::state::Owner;

/// How many programs are released between two messages.
const BATCH: usize = 8;

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
