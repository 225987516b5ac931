//! When the trees of programs that are not open are released.

use std::time::{Duration, Instant};

use prose_analysis::SourceFile;

use crate::background::Background;
use crate::mailbox::Mailbox;
use crate::workspace::message::WorkspaceMessage;

/// The time after the last need of trees of closed programs. Requests for symbols come with every letter that the user types.
pub(super) const AFTER: Duration = Duration::from_secs(3);

/// Which trees are to be released, and when.
pub(super) struct Releases {
    /// When trees of closed programs were last needed, if some have not been released since.
    pub(super) needed: Option<Instant>,
    /// Whether trees of released programs may have been needed again, too.
    pub(super) of_released: bool,
    /// Whether a message is on its way that says that it is time.
    pub(super) is_due: bool,
    /// The programs that are released next.
    pub(super) next: Vec<SourceFile>,
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

    /// Has a message sent when it is time.
    pub(super) fn wait(&mut self) {
        if !self.is_due {
            self.is_due = true;
            self.background.send_after(AFTER, &self.owner, WorkspaceMessage::ReleaseDue);
        }
    }
}
