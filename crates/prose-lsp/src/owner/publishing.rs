//! What the client is told unasked, and when.

use std::sync::Arc;

use super::{Notification, Owner};
use crate::documents::document::{Document, Published};
use crate::features::diagnostics;
use crate::protocol::uri::DocumentUri;
use crate::reads::views::View;

/// How many messages are sent together.
pub(super) const IN_ONE_PIECE: usize = 64;

impl Owner {
    pub(super) fn mark_unpublished(&mut self, uri: &DocumentUri) {
        let uri = &self.document_of(uri);
        if !self.session.pulls_diagnostics && !self.unpublished.contains(uri) {
            self.unpublished.push_back(Arc::clone(uri));
        }
    }

    /// Whether the analysis and the client know all that they have to.
    pub(super) fn is_up_to_date(&self) -> bool {
        self.unpublished.is_empty()
            && self.edited.is_empty()
            && !self.must_refresh
            && !self.project_files_outdated
            && self.workspace.is_up_to_date(self.state)
    }

    /// Takes one step towards being up to date: between two steps a message may come that makes the second worthless.
    pub(super) fn catch_up(&mut self) {
        if !self.edited.is_empty() {
            self.sync_all();
        } else if std::mem::take(&mut self.must_refresh) {
            if self.session.pulls_diagnostics && self.session.refreshes_diagnostics {
                self.notify(diagnostics::refresh());
            }
            // What an import takes and gives is shown, too.
            if self.session.refreshes_hints {
                let method = "workspace/inlayHint/refresh";
                self.notify(Notification::request(method, &()));
            }
        } else if let Some(uri) = self.unpublished.pop_front() {
            self.publish(&uri);
            if self.unpublished.is_empty() {
                self.send_waiting();
            }
        } else if std::mem::take(&mut self.project_files_outdated) {
            self.publish_project_files();
        } else if !self.publish_next_closed() {
            self.retry_polls_soon();
        }
    }

    pub(super) fn publish(&mut self, uri: &DocumentUri) {
        // A document that cannot be analysed keeps its last diagnostics; the log has the reason.
        let Ok(snapshots) = self.snapshots(uri) else { return };
        let db = self.host.db();
        let found = snapshots.iter().map(|it| prose_analysis::diagnostics::diagnostics(db, it.file));
        let found: Vec<_> = found.map(Arc::clone).collect();
        let markdown = self.markdown.get_mut(uri).map(|markdown| &mut markdown.document);
        let Some(document) = markdown.or_else(|| self.documents.get_mut(uri)) else { return };
        let (version, before) = (document.version(), document.published.as_ref());
        let is_same = match before {
            Some(before) => before.is_of(version, &snapshots, &found),
            // A document without programs has nothing to tell, and most Markdown documents are such.
            None => snapshots.is_empty(),
        };
        if is_same {
            return;
        }
        let is_edited = before.is_none_or(|before| before.version != version);
        let (programs, cache, runs) = (&self.programs, &self.fetcher.cache(), &self.runs);
        let views = snapshots.iter().map(|snapshot| View { snapshot, db, programs, cache, runs });
        let (publication, digest) = diagnostics::publication(uri, Some(version), views, &self.session);
        let is_news = before.is_none_or(|before| before.digest != digest);
        let configs = snapshots.iter().map(|snapshot| Arc::clone(&snapshot.config)).collect();
        document.published = Some(Published { digest, version, found, configs, is_outdated: false });
        if is_news {
            self.waiting.push(publication);
        }
        // What a person types is answered at once. What that means for many other programs goes out in few pieces, since each wakes up
        // a thread here and the client.
        if is_edited || self.waiting.len() >= IN_ONE_PIECE {
            self.send_waiting();
        }
    }

    pub(super) fn publish_project_files(&mut self) {
        let programs = self.documents.values().map(|document| &*document.path);
        let is_project_file = |document: &Document| document.path.ends_with(prose_config::FILE_NAME);
        let open = self.others.iter().filter(|(_, document)| is_project_file(document));
        for notification in self.project_files.news(&mut self.settings, programs, open, &self.session) {
            self.notify(notification);
        }
    }

    pub(super) fn notify(&mut self, notification: Notification) {
        self.waiting.push(notification);
        self.send_waiting();
    }

    pub(super) fn send_waiting(&mut self) {
        if !self.waiting.is_empty() {
            self.client.notify(std::mem::take(&mut self.waiting));
        }
    }
}
