//! The state of the scan of the workspace.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::documents::closed::ClosedProgram;
use crate::mailbox::Mailbox;
use crate::protocol::progress::Progress;
use crate::workspace::message::WorkspaceMessage;
use crate::workspace::scan::Stamps;

/// The programs in the folders of the session, as the last scan found them.
pub(crate) struct Scanner {
    /// The programs of the last scan, whether they are open or not.
    pub(crate) found: Stamps,
    pub(crate) scan: ScanState,
    /// The files that were read since the running scan began.
    pub(crate) read_since: HashSet<PathBuf>,
    /// Whether a request has needed the programs in the folders, so that they are scanned even if they are not checked.
    pub(crate) is_wanted: bool,
    /// Whether the folders have been scanned once.
    pub(crate) is_known: bool,
    /// The programs that are not open, in order; none if they have to be collected again.
    pub(crate) closed: Option<Arc<[ClosedProgram]>>,
    pub(crate) progress: Progress,
    pub(crate) owner: Mailbox<WorkspaceMessage>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScanState {
    Idle,
    Running,
    /// Something may have changed where the scan under way has been already.
    Outdated,
}

impl Scanner {
    pub(crate) fn new(owner: Mailbox<WorkspaceMessage>) -> Self {
        Self {
            found: Stamps::new(),
            scan: ScanState::Idle,
            read_since: HashSet::new(),
            is_wanted: false,
            is_known: false,
            closed: None,
            progress: Progress::new("Looking for programs", "scan"),
            owner,
        }
    }

    /// Whether a scan has found a program, so that the next scan notices changes of it.
    pub(crate) fn has_found(&self, path: &Path) -> bool {
        self.found.contains_key(path)
    }

    /// Notes that the owner reads a file itself.
    pub(crate) fn reads(&mut self, path: &Path) {
        if self.scan != ScanState::Idle {
            self.read_since.insert(path.to_owned());
        }
    }

    /// Notes that there is no program at a path any more. One that comes back may have the stamp that this one had.
    pub(crate) fn forget(&mut self, path: &Path) {
        self.found.remove(path);
        self.forget_closed();
    }

    /// Notes that other programs are closed now, or under other settings.
    pub(crate) fn forget_closed(&mut self) {
        self.closed = None;
    }

    /// How many programs the folders have, and whether they are being scanned.
    pub(crate) fn status(&self) -> (usize, bool) {
        (self.found.len(), self.scan != ScanState::Idle)
    }
}
