//! The messages that the client gets without a request, and the diagnostics that it has.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::path::{Path, PathBuf};

use crate::owner::settings_files::SettingsFiles;
use crate::protocol::client::Client;
use crate::protocol::json::Digest;
use crate::protocol::notification::Notification;
use crate::protocol::uri::DocumentUri;

/// What the client gets without a request.
pub(super) struct Publisher {
    client: Client,
    /// What is sent next.
    pub(super) waiting: Vec<Notification>,
    /// Whether the client asks for diagnostics itself, so that those of documents are not sent.
    pub(super) is_pulled: bool,
    /// The documents whose diagnostics the client does not have yet, in the order in which they were first changed.
    pub(super) unpublished: VecDeque<DocumentUri>,
    /// The closed programs whose diagnostics the client may not have.
    pub(super) unpublished_closed: BTreeSet<PathBuf>,
    /// The closed programs whose diagnostics the client has, by their paths.
    pub(super) reported_closed: HashMap<PathBuf, (DocumentUri, Digest)>,
    /// Whether a client that asks for diagnostics itself has to ask again.
    pub(super) must_refresh: bool,
    pub(super) settings_files: SettingsFiles,
    /// Whether other files of settings may be in use, or have other problems, than the client was sent.
    pub(super) settings_files_outdated: bool,
}

impl Publisher {
    pub(super) fn new(client: Client) -> Self {
        Self {
            client,
            waiting: Vec::new(),
            is_pulled: false,
            unpublished: VecDeque::new(),
            unpublished_closed: BTreeSet::new(),
            reported_closed: HashMap::new(),
            must_refresh: false,
            settings_files: SettingsFiles::default(),
            settings_files_outdated: false,
        }
    }

    /// Sends a message after those that wait.
    pub(super) fn notify(&mut self, notification: Notification) {
        self.waiting.push(notification);
        self.send_waiting();
    }

    pub(super) fn send_waiting(&mut self) {
        if !self.waiting.is_empty() {
            self.client.notify(std::mem::take(&mut self.waiting));
        }
    }

    /// Marks a document whose diagnostics may be different.
    pub(super) fn mark(&mut self, uri: DocumentUri) {
        if !self.is_pulled && !self.unpublished.contains(&uri) {
            self.unpublished.push_back(uri);
        }
    }

    /// Whether there is nothing to publish.
    pub(super) fn is_up_to_date(&self) -> bool {
        self.unpublished.is_empty()
            && self.unpublished_closed.is_empty()
            && !self.must_refresh
            && !self.settings_files_outdated
    }

    /// Notes that a program was opened. Returns the name under which the client has its diagnostics, if the document has another one.
    pub(super) fn opened(&mut self, path: &Path, uri: &DocumentUri) -> Option<DocumentUri> {
        let (reported, _) = self.reported_closed.remove(path)?;
        (reported != *uri).then_some(reported)
    }
}
