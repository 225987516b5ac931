//! The requests that look at documents and have no answer yet.

use std::time::Duration;

use crate::background::Background;
use crate::mailbox::Mailbox;
use crate::protocol::answer::send;
use crate::protocol::request::{Failure, RequestId};
use crate::protocol::uri::DocumentUri;
use crate::reads::queue::Reads;
use crate::reads::read::{Attempt, Read, ReadMessage};

/// The requests without an answer: those that run, those that wait for the first scan, and those that wait for news.
pub(crate) struct Requests {
    pub(crate) reads: Reads,
    /// The requests that wait for the first scan of the folders.
    pub(crate) waiting: Vec<Read>,
    /// The requests for news of all programs that had none, with the state of the server then.
    pub(crate) polls: Vec<(Attempt, u64)>,
    /// Whether they are tried again in a moment.
    pub(crate) is_poll_due: bool,
    /// Whether there will be no news any more, so that no request waits for some.
    pub(crate) is_leaving: bool,
    /// How often the client has asked for news of all programs.
    pub(crate) poll_count: u64,
    /// How often there was a message that may change the diagnostics of programs.
    pub(crate) state: u64,
    background: Background,
    owner: Mailbox<ReadMessage>,
}

/// How often requests for news are tried again, at most.
const BETWEEN_POLLS: Duration = Duration::from_millis(500);

impl Requests {
    pub(crate) fn new(owner: Mailbox<ReadMessage>) -> Self {
        Self {
            reads: Reads::new(owner.clone()),
            waiting: Vec::new(),
            polls: Vec::new(),
            is_poll_due: false,
            is_leaving: false,
            poll_count: 0,
            state: 0,
            background: Background::default(),
            owner,
        }
    }

    /// How many requests have no answer.
    pub(crate) fn count(&self) -> usize {
        self.reads.pending() + self.waiting.len()
    }

    /// Whether requests are being answered.
    pub(crate) fn is_reading(&self) -> bool {
        self.reads.pending() > self.polls.len()
    }

    /// Cancels a request.
    pub(crate) fn cancel(&mut self, id: &RequestId) {
        self.answer_waiting(|read| read.id == *id, &Failure::Cancelled);
        self.reads.cancel(id);
    }

    /// Ends the reads that an edit of a document makes worthless.
    pub(crate) fn edited(&mut self, uri: &DocumentUri) {
        self.reads.edited(uri);
        self.answer_waiting(|read| read.outdated_by_edits && read.uri == *uri, &Failure::ContentModified);
    }

    fn answer_waiting(&mut self, which: impl Fn(&Read) -> bool, failure: &Failure) {
        for read in self.waiting.extract_if(.., |read| which(read)) {
            send(read.answer, Err(failure.clone()));
        }
    }

    /// Whether the requests for news have been tried in the present state of the server.
    pub(crate) fn is_up_to_date(&self) -> bool {
        self.is_poll_due || self.polls.iter().all(|(_, as_of)| *as_of == self.state)
    }

    /// Keeps a request for news that found none in the state of the server with a number until there are some.
    pub(crate) fn hold(&mut self, attempt: Attempt, as_of: u64) {
        if self.is_leaving {
            self.reads.fail(&attempt, Failure::Cancelled);
        } else {
            self.polls.push((attempt, as_of));
        }
    }

    /// Has the requests for news tried again in a moment: who types changes much that is soon changed again.
    pub(crate) fn retry_polls_soon(&mut self) {
        self.is_poll_due = true;
        self.background.send_after(BETWEEN_POLLS, &self.owner, ReadMessage::NewsDue);
    }

    /// Cancels all requests that wait: no answer is waited for any more.
    pub(crate) fn leave(&mut self) {
        self.answer_waiting(|_| true, &Failure::Cancelled);
        self.end_polls();
    }

    /// Cancels the requests for news: there will be none any more.
    pub(crate) fn end_polls(&mut self) {
        self.is_leaving = true;
        for (attempt, _) in std::mem::take(&mut self.polls) {
            self.reads.fail(&attempt, Failure::Cancelled);
        }
    }
}
