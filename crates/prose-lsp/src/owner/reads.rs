//! Requests that look at documents.

use std::sync::Arc;

use crate::documents::snapshot::Snapshot;
use crate::owner::state::Owner;
use crate::protocol::answer::send;
use crate::protocol::request::{Failure, WORKSPACE_DIAGNOSTIC};
use crate::protocol::uri::DocumentUri;
use crate::reads::read::{Attempt, Read, ReadMessage};
use crate::reads::views::Views;

impl Owner {
    pub(super) fn read_message(&mut self, message: ReadMessage) {
        match message {
            ReadMessage::Start(read) => self.read(read),
            ReadMessage::Cancel(id) => self.requests.cancel(&id),
            ReadMessage::Retry(attempt) => self.retry(attempt),
            ReadMessage::NothingNew(attempt, state) => self.requests.hold(attempt, state),
            ReadMessage::NewsDue => self.retry_polls(),
        }
    }

    pub(super) fn read(&mut self, mut read: Read) {
        if self.is_too_early(read.method) {
            return self.wait(read);
        }
        if crate::owner::workspace::READS_CLOSED.contains(&read.method) {
            self.releases.need(true);
        }
        self.requests.poll_count += u64::from(read.method == WORKSPACE_DIAGNOSTIC);
        read.uri = self.documents.known_name(&read.uri);
        if self.documents.others.contains_key(&read.uri) {
            let answer = self.test_read(&read).unwrap_or_else(read.nothing);
            return send(read.answer, Ok(answer));
        }
        match self.snapshots(&read.uri) {
            Ok(snapshots) => {
                let views = self.views(read.method, &read.uri);
                self.requests.reads.start(read, snapshots, Arc::clone(&self.session), views);
            }
            // Clients show errors to people, who have only closed a document.
            Err(Failure::NotOpen(name)) if self.documents.closed.contains(&name) => {
                let nothing = read.nothing;
                send(read.answer, Ok(nothing()));
            }
            Err(failure) => send(read.answer, Err(failure)),
        }
    }

    pub(super) fn retry(&mut self, attempt: Attempt) {
        if !self.requests.reads.is_wanted(&attempt) {
            return;
        }
        match self.snapshots(&attempt.uri) {
            Ok(snapshots) => {
                let view = self.views(attempt.method(), &attempt.uri)(snapshots);
                self.requests.reads.try_on(attempt, view);
            }
            // It was open when it was asked about.
            Err(Failure::NotOpen(_)) => self.requests.reads.fail(&attempt, Failure::ContentModified),
            Err(failure) => self.requests.reads.fail(&attempt, failure),
        }
    }

    /// Returns a function that makes the views for a request.
    pub(super) fn views(
        &mut self,
        method: &str,
        uri: &DocumentUri,
    ) -> impl FnOnce(Vec<Snapshot>) -> Views + use<> {
        let typing = self.documents.with_programs(uri).and_then(|document| document.typing.clone());
        let closed = if method == WORKSPACE_DIAGNOSTIC { self.closed_programs() } else { Arc::default() };
        let is_first_poll = self.requests.poll_count <= 1;
        let (db, state, cache) = (self.analysis.host.snapshot(), self.requests.state, self.fetcher.cache());
        let (programs, runs, tokens) =
            (Arc::clone(&self.analysis.programs), Arc::clone(&self.runs), Arc::clone(&self.documents.tokens));
        let (reports, session) = (Arc::clone(&self.documents.reports), Arc::clone(&self.session));
        move |snapshots| Views {
            snapshots,
            db,
            programs,
            cache,
            runs,
            tokens,
            reports,
            closed,
            typing,
            is_first_poll,
            state,
            session,
        }
    }
}
