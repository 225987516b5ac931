//! Pauses between edits.

use std::sync::Arc;
use std::time::Duration;

use crate::background::Background;
use crate::documents::message::DocumentMessage;
use crate::mailbox::Mailbox;
use crate::protocol::uri::DocumentUri;

/// How long no key comes while the user looks at what was typed. Letters of a word follow each other in less than half of it.
const PAUSE: Duration = Duration::from_millis(500);

/// Sends messages about pauses between edits.
pub(crate) struct Pauses {
    background: Background,
    owner: Mailbox<DocumentMessage>,
    /// How many edits there were.
    pub(crate) edits: u64,
}

impl Pauses {
    pub(crate) fn new(owner: Mailbox<DocumentMessage>) -> Self {
        Self { background: Background::default(), owner, edits: 0 }
    }

    /// Sends a message when the time of a pause has passed after an edit. Returns the number of the edit: if a later one has followed, there was no
    /// pause.
    pub(crate) fn wait_after_edit(&mut self, uri: &DocumentUri) -> u64 {
        self.edits += 1;
        let message = DocumentMessage::Pause { uri: Arc::clone(uri), edit: self.edits };
        self.background.send_after(PAUSE, &self.owner, message);
        self.edits
    }
}
