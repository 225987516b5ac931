//! Reads under way: each runs on a snapshot, in a bounded pool, and is answered exactly once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::runtime::Handle;
use tokio::sync::Semaphore;

use crate::convert::Session;
use crate::documents::{DocumentUri, Snapshot};
use crate::jsonrpc::{
    Answer, CONTENT_MODIFIED, Error, INTERNAL_ERROR, INVALID_REQUEST, Json, REQUEST_CANCELLED, RequestId,
};
use crate::panics::guard;

/// The work that answers a request.
pub(crate) type Work = Box<dyn FnOnce(&Snapshot, &Session) -> Json + Send>;

/// A request that only looks at one document.
pub(crate) struct Read {
    pub(crate) method: &'static str,
    pub(crate) uri: DocumentUri,
    /// Whether an edit of the document makes the answer worthless.
    pub(crate) outdated_by_edits: bool,
    pub(crate) work: Work,
    pub(crate) answer: Answer,
}

/// The reads that have no answer yet, and the pool that they run in.
pub(crate) struct Reads {
    runtime: Handle,
    seats: Arc<Semaphore>,
    pending: Pending,
    next_ticket: u64,
}

struct PendingRead {
    uri: DocumentUri,
    outdated_by_edits: bool,
    answer: Answer,
}

/// Whoever takes a read out of here answers it, so there is one answer, be it the result or the news of a cancellation.
///
/// The keys are the server's own: a client may use the id of a cancelled request again while the old work still runs.
#[derive(Clone, Default)]
struct Pending(Arc<Mutex<HashMap<u64, PendingRead>>>);

impl Pending {
    fn lock(&self) -> MutexGuard<'_, HashMap<u64, PendingRead>> {
        // The map is whole after each of the operations below, even if a thread panicked between them.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, ticket: u64, result: Result<Json, Error>) {
        let read = self.lock().remove(&ticket);
        if let Some(read) = read {
            read.answer.give(result);
        }
    }
}

impl Reads {
    pub(crate) fn new(runtime: Handle) -> Self {
        let threads = std::thread::available_parallelism().map_or(2, usize::from).clamp(2, 8);
        Self {
            runtime,
            seats: Arc::new(Semaphore::new(threads)),
            pending: Pending::default(),
            next_ticket: 0,
        }
    }

    /// Starts `read` on `snapshot` as soon as the pool has room.
    pub(crate) fn start(&mut self, read: Read, snapshot: Snapshot, session: Arc<Session>) {
        let Read { method, uri, outdated_by_edits, work, answer } = read;
        let ticket = self.next_ticket;
        self.next_ticket += 1;
        {
            let mut pending = self.pending.lock();
            if pending.values().any(|other| other.answer.id() == answer.id()) {
                drop(pending);
                let message = "another request with this id has not been answered yet";
                return answer.give(Err(Error::new(INVALID_REQUEST, message)));
            }
            pending.insert(ticket, PendingRead { uri, outdated_by_edits, answer });
        }
        let pending = self.pending.clone();
        let seats = Arc::clone(&self.seats);
        self.runtime.spawn(async move {
            // The semaphore is never closed; should it be, a read without a seat is better than none.
            let _seat = seats.acquire_owned().await.ok();
            let job = move || {
                if pending.lock().contains_key(&ticket) {
                    let result = guard(format!("answering {method}"), || work(&snapshot, &session));
                    pending.answer(
                        ticket,
                        result.map_err(|panic| Error::new(INTERNAL_ERROR, panic.to_string())),
                    );
                }
            };
            // The job guards against panics itself.
            let _ = tokio::task::spawn_blocking(job).await;
        });
    }

    /// Takes a request back.
    pub(crate) fn cancel(&self, id: &RequestId) {
        let error = Error::new(REQUEST_CANCELLED, "the request was cancelled");
        self.answer_all(|read| read.answer.id() == id, &error);
    }

    /// Ends the reads that an edit of `uri` has made worthless.
    pub(crate) fn edited(&self, uri: &DocumentUri) {
        let error = Error::new(CONTENT_MODIFIED, "the document was edited while the answer was being made");
        self.answer_all(|read| read.outdated_by_edits && read.uri == *uri, &error);
    }

    fn answer_all(&self, which: impl Fn(&PendingRead) -> bool, error: &Error) {
        let answered: Vec<PendingRead> =
            self.pending.lock().extract_if(|_, read| which(read)).map(|(_, read)| read).collect();
        for read in answered {
            read.answer.give(Err(error.clone()));
        }
    }
}
