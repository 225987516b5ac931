//! The one owner of the server's state.
//!
//! Every message of the client that touches state arrives here, in the order of the wire, and is dealt with before the next one
//! is looked at. Nothing here waits for the client or for a read.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError};

use futures_channel::mpsc::UnboundedSender;
use serde_json::Value;

use crate::convert::{ContentChange, Session};
use crate::diagnostics;
use crate::documents::{Document, DocumentUri, Snapshot, TooLong};
use crate::json::json;
use crate::panics::guard;
use crate::reads::{Answer, Failure, Read, Reads, RequestId, send};

/// What the client wants, in the words of the server.
pub(crate) enum Message {
    /// The session begins.
    Start(Session),
    /// The client is going to edit a document.
    Open { uri: DocumentUri, version: i32, text: String },
    /// The client has edited a document. The changes follow one another.
    Change { uri: DocumentUri, version: i32, changes: Vec<ContentChange> },
    /// The client is done with a document.
    Close { uri: DocumentUri },
    /// The client wants to know something.
    Read(Read),
    /// The client no longer wants to know it.
    Cancel(RequestId),
    /// The client is about to say `exit`.
    Shutdown(Answer),
}

/// What the server tells the client unasked.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Notification {
    pub(crate) method: &'static str,
    pub(crate) params: Value,
}

/// The state of the server.
pub(crate) struct Owner {
    session: Arc<Session>,
    documents: HashMap<DocumentUri, Document>,
    reads: Reads,
    to_client: UnboundedSender<Notification>,
    /// The documents whose diagnostics the client does not have yet, in the order in which they were first changed.
    unpublished: Vec<DocumentUri>,
    /// Memory for the text that is being parsed, kept because a new large block for every edit is slow.
    scratch: String,
}

impl Owner {
    pub(crate) fn new(reads: Reads, to_client: UnboundedSender<Notification>) -> Self {
        Self {
            session: Arc::default(),
            documents: HashMap::new(),
            reads,
            to_client,
            unpublished: Vec::new(),
            scratch: String::new(),
        }
    }

    /// Deals with messages until there can be no more.
    pub(crate) fn run(mut self, messages: &Receiver<Message>) {
        loop {
            // Diagnostics wait until no message does: of several edits in a row only the last one's are worth sending.
            let message = if self.unpublished.is_empty() {
                messages.recv().map_err(|_| TryRecvError::Disconnected)
            } else {
                messages.try_recv()
            };
            match message {
                Ok(message) => {
                    // A message that panics is lost, but not the state; `receive` leaves that in order at every step.
                    let _ = guard("handling a message", || self.receive(message));
                }
                Err(TryRecvError::Empty) => {
                    let _ = guard("publishing diagnostics", || self.publish());
                }
                Err(TryRecvError::Disconnected) => return,
            }
        }
    }

    fn receive(&mut self, message: Message) {
        match message {
            Message::Start(session) => self.session = Arc::new(session),
            Message::Open { uri, version, text } => self.open(uri, version, &text),
            Message::Change { uri, version, changes } => self.change(&uri, version, &changes),
            Message::Close { uri } => self.close(&uri),
            Message::Read(read) => self.read(read),
            Message::Cancel(id) => self.reads.cancel(&id),
            Message::Shutdown(answer) => send(answer, Ok(json(&()))),
        }
    }

    fn open(&mut self, uri: DocumentUri, version: i32, text: &str) {
        self.reads.edited(&uri);
        match Document::new(version, text) {
            Ok(document) => {
                if self.documents.insert(Arc::clone(&uri), document).is_some() {
                    tracing::warn!("{uri} was opened twice; the text of the second time counts");
                }
                self.mark_unpublished(&uri);
            }
            Err(TooLong) => tracing::error!("{uri} is not served: {TOO_LONG}"),
        }
    }

    fn change(&mut self, uri: &DocumentUri, version: i32, changes: &[ContentChange]) {
        let encoding = self.session.encoding;
        let Some(document) = self.documents.get_mut(uri) else {
            tracing::warn!(
                "a change of {uri} is ignored because the document is not open; `textDocument/didOpen` has to come first"
            );
            return;
        };
        self.reads.edited(uri);
        if version <= document.version() {
            // Leaving out the edit would put all later ones in wrong places, so the number is what is not believed.
            tracing::warn!(
                "{uri} went from version {} to {version}; versions have to grow",
                document.version()
            );
        }
        document.set_version(version);
        for change in changes {
            let edit = guard("applying an edit", || match change.range_in(document.text(), encoding) {
                Some(range) => document.edit(range, &change.text),
                None => document.replace(&change.text),
            });
            match edit {
                Ok(Ok(())) => {}
                Ok(Err(TooLong)) => tracing::error!("a change of {uri} is ignored: {TOO_LONG}"),
                Err(_) => document.forget_parse(),
            }
        }
        self.mark_unpublished(uri);
    }

    fn close(&mut self, uri: &DocumentUri) {
        if self.documents.remove(uri).is_none() {
            tracing::warn!("{uri} was closed but is not open");
            return;
        }
        self.unpublished.retain(|unpublished| unpublished != uri);
        if !self.session.pulls_diagnostics {
            self.notify(diagnostics::withdrawal(uri));
        }
    }

    fn read(&mut self, read: Read) {
        match self.snapshot(&read.uri) {
            Ok(snapshot) => self.reads.start(read, snapshot, Arc::clone(&self.session)),
            Err(failure) => send(read.answer, Err(failure)),
        }
    }

    fn snapshot(&mut self, uri: &DocumentUri) -> Result<Snapshot, Failure> {
        let document = self.documents.get_mut(uri).ok_or_else(|| Failure::NotOpen(Arc::clone(uri)))?;
        document.snapshot(uri, &mut self.scratch).map_err(Failure::Panicked)
    }

    fn mark_unpublished(&mut self, uri: &DocumentUri) {
        if !self.session.pulls_diagnostics && !self.unpublished.contains(uri) {
            self.unpublished.push(Arc::clone(uri));
        }
    }

    fn publish(&mut self) {
        for uri in std::mem::take(&mut self.unpublished) {
            // A document that cannot be parsed keeps its last diagnostics; the log has the reason.
            if let Ok(snapshot) = self.snapshot(&uri) {
                self.notify(diagnostics::publication(&snapshot, &self.session));
            }
        }
    }

    fn notify(&self, notification: Notification) {
        // The channel closes when the connection does, and then there is nobody to tell.
        let _ = self.to_client.unbounded_send(notification);
    }
}

const TOO_LONG: &str = "a text of 4 GiB or more cannot be served";
