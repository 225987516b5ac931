//! Publishing diagnostics.

use std::sync::Arc;

use crate::documents::document::{Document, Published};
use crate::features::diagnostics;
use crate::owner::state::Owner;
use crate::protocol::notification::Notification;
use crate::protocol::uri::DocumentUri;
use crate::reads::views::View;

/// How many messages are sent together.
pub(super) const MAX_BATCH: usize = 64;

impl Owner {
    pub(super) fn mark_unpublished(&mut self, uri: &DocumentUri) {
        let uri = self.documents.document_of(uri);
        self.publisher.mark(uri);
    }

    /// Whether the analysis and the client are up to date.
    pub(super) fn is_up_to_date(&self) -> bool {
        self.publisher.is_up_to_date()
            && self.documents.edited.is_empty()
            && self.requests.is_up_to_date()
            && !self.tests.is_outdated
            && self.releases.are_done()
    }

    /// Takes one step towards being up to date: between two steps a message may come that makes the second worthless.
    pub(super) fn catch_up(&mut self) {
        if !self.documents.edited.is_empty() {
            self.sync_all();
        } else if std::mem::take(&mut self.publisher.must_refresh) {
            if self.session.pulls_diagnostics && self.session.refreshes_diagnostics {
                self.publisher.notify(diagnostics::refresh());
            }
            // Hints show the contracts of imports.
            if self.session.refreshes_hints {
                let method = "workspace/inlayHint/refresh";
                self.publisher.notify(Notification::request(method, &()));
            }
        } else if let Some(uri) = self.publisher.unpublished.pop_front() {
            self.publish(&uri);
            if self.publisher.unpublished.is_empty() {
                self.publisher.send_waiting();
            }
        } else if std::mem::take(&mut self.publisher.settings_files_outdated) {
            self.publish_project_files();
        } else if std::mem::take(&mut self.tests.is_outdated) {
            self.publish_test_files();
        } else if !self.publish_next_closed() && !self.release_next() {
            self.requests.retry_polls_soon();
        }
    }

    pub(super) fn publish(&mut self, uri: &DocumentUri) {
        // A document that cannot be analysed keeps its last diagnostics; the log has the reason.
        let Ok(snapshots) = self.snapshots(uri) else { return };
        let db = self.analysis.host.db();
        let found = snapshots.iter().map(|it| prose_analysis::diagnostics::diagnostics(db, it.file));
        let found: Vec<_> = found.map(Arc::clone).collect();
        let Some(document) = self.documents.with_programs(uri) else { return };
        let (version, before) = (document.version(), document.published.as_ref());
        let is_same = match before {
            Some(before) => before.is_of(version, &snapshots, &found),
            // Most Markdown documents have no programs, and nothing is published for them.
            None => snapshots.is_empty(),
        };
        if is_same {
            return;
        }
        let is_edited = before.is_none_or(|before| before.version != version);
        let (programs, cache, runs) = (&self.analysis.programs, &self.fetcher.cache(), &self.runs);
        let session = &self.session;
        let views = snapshots.iter().map(|snapshot| View { snapshot, db, programs, cache, runs, session });
        let (publication, digest) =
            diagnostics::publication(uri, Some(version), views, document.typing.as_ref());
        let is_news = before.is_none_or(|before| before.digest != digest);
        let configs = snapshots.iter().map(|snapshot| Arc::clone(&snapshot.config)).collect();
        document.published = Some(Published { digest, version, found, configs, is_outdated: false });
        if is_news {
            self.publisher.waiting.push(publication);
        }
        // Diagnostics of the edited program are sent at once. Those of many other programs are sent in few batches, since each wakes up
        // a thread here and the client.
        if is_edited || self.publisher.waiting.len() >= MAX_BATCH {
            self.publisher.send_waiting();
        }
    }

    pub(super) fn publish_project_files(&mut self) {
        let programs = self.documents.programs.values().map(|document| &*document.path);
        let is_project_file = |document: &Document| document.path.ends_with(prose_config::FILE_NAME);
        let open = self.documents.others.iter().filter(|(_, document)| is_project_file(document));
        for notification in
            self.publisher.settings_files.news(&mut self.analysis.settings, programs, open, &self.session)
        {
            self.publisher.notify(notification);
        }
    }
}
