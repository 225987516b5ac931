//! Reads under way: each runs on a snapshot, in a bounded pool, and is answered exactly once.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use prose_analysis::Cancelled;

use crate::documents::snapshot::Snapshot;
use crate::mailbox::Mailbox;
use crate::panics::guard;
use crate::protocol::answer::{Answer, send};
use crate::protocol::json::Json;
use crate::protocol::request::{CODE_LENS, Failure, RESOLVE_CODE_LENS, RequestId};
use crate::protocol::session::Session;
use crate::protocol::uri::DocumentUri;
use crate::reads::pool::Pool;
use crate::reads::read::{Attempt, Read, ReadMessage, Work};
use crate::reads::views::Views;

/// The reads that have no answer yet, and the pool that they run in.
pub(crate) struct Reads {
    pool: Pool,
    pending: Pending,
    next_ticket: u64,
    owner: Mailbox<ReadMessage>,
    /// The views that wait for the pool to have room.
    waiting: Vec<Weak<Waiting>>,
}

/// A view that waits for the pool to have room. Nothing can be changed while there are views, so an edit takes it away.
type Waiting = Mutex<Option<Views>>;

struct PendingRead {
    id: RequestId,
    method: &'static str,
    uri: DocumentUri,
    outdated_by_edits: bool,
    answer: Answer,
}

/// The thread that takes a read out of here answers it, so there is one answer: the result or the cancellation.
///
/// The keys are the server's own: a client may use the id of a cancelled request again while the old work still runs.
#[derive(Clone, Default)]
struct Pending(Arc<Mutex<HashMap<u64, PendingRead>>>);

impl Pending {
    fn lock(&self) -> MutexGuard<'_, HashMap<u64, PendingRead>> {
        // The map is whole after each of the operations below, even if a thread panicked between them.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, ticket: u64, result: Result<Json, Failure>) {
        let read = self.lock().remove(&ticket);
        if let Some(read) = read {
            send(read.answer, result);
        }
    }
}

impl Reads {
    /// `owner` receives the work that an edit has ended.
    pub(crate) fn new(owner: Mailbox<ReadMessage>) -> Self {
        let threads = std::thread::available_parallelism().map_or(2, usize::from).clamp(2, 8);
        Self {
            pool: Pool::new(threads),
            pending: Pending::default(),
            next_ticket: 0,
            owner,
            waiting: Vec::new(),
        }
    }

    /// Starts `read` on `snapshots` as soon as the pool has room. `view` is called for work that takes the analysis.
    pub(crate) fn start(
        &mut self,
        read: Read,
        snapshots: Vec<Snapshot>,
        session: Arc<Session>,
        view: impl FnOnce(Vec<Snapshot>) -> Views,
    ) {
        let Read { id, method, uri, outdated_by_edits, work, answer, .. } = read;
        let ticket = self.next_ticket;
        self.next_ticket += 1;
        if method == CODE_LENS {
            // Visual Studio Code puts the command of a lens that it asked for before into the new lenses, at the same index.
            self.answer_all(
                |other| other.method == RESOLVE_CODE_LENS && other.uri == uri,
                Failure::ContentModified,
            );
        }
        {
            let mut pending = self.pending.lock();
            if pending.values().any(|other| other.id == id) {
                drop(pending);
                return send(answer, Err(Failure::DuplicateId));
            }
            pending
                .insert(ticket, PendingRead { id, method, uri: Arc::clone(&uri), outdated_by_edits, answer });
        }
        match work {
            Work::Tree(work) => {
                let pending = self.pending.clone();
                self.pool.run(move || {
                    if pending.lock().contains_key(&ticket) {
                        let result = guard(format!("answering {method}"), || work(&snapshots, &session));
                        pending.answer(ticket, result.map_err(Failure::Panicked));
                    }
                });
            }
            Work::Analysis(work) => {
                let attempt = Attempt { ticket, method, uri, work };
                self.try_on(attempt, view(snapshots));
            }
        }
    }

    /// Does work in the pool that looks at no document.
    pub(crate) fn spawn(&self, work: impl FnOnce() + Send + 'static) {
        self.pool.run(work);
    }

    /// Whether the request still waits for an answer.
    pub(crate) fn is_wanted(&self, attempt: &Attempt) -> bool {
        self.pending.lock().contains_key(&attempt.ticket)
    }

    /// Gives up an attempt.
    pub(crate) fn fail(&self, attempt: &Attempt, failure: Failure) {
        self.pending.answer(attempt.ticket, Err(failure));
    }

    /// How many requests wait for an answer.
    pub(crate) fn pending(&self) -> usize {
        self.pending.lock().len()
    }

    /// Does work that takes the analysis, perhaps again after an edit has ended it, if its answer is still wanted.
    pub(crate) fn try_on(&mut self, attempt: Attempt, view: Views) {
        let pending = self.pending.clone();
        let owner = self.owner.clone();
        let waiting = Arc::new(Mutex::new(Some(view)));
        self.waiting.retain(|waiting| waiting.strong_count() > 0);
        self.waiting.push(Arc::downgrade(&waiting));
        self.pool.run(move || {
            if !pending.lock().contains_key(&attempt.ticket) {
                return;
            }
            let Some(view) = take(&waiting) else {
                return try_again(&owner, &pending, attempt);
            };
            let result = guard(format!("answering {}", attempt.method), || {
                Cancelled::catch(AssertUnwindSafe(|| (attempt.work)(&view)))
            });
            let state = view.state;
            // The next edit waits until the view is gone.
            drop(view);
            match result {
                Ok(Ok(Err(Failure::NothingNew))) => hold(&owner, &pending, attempt, state),
                Ok(Ok(result)) => pending.answer(attempt.ticket, result),
                Ok(Err(_)) => try_again(&owner, &pending, attempt),
                Err(panicked) => pending.answer(attempt.ticket, Err(Failure::Panicked(panicked))),
            }
        });
    }

    /// Takes away the views of work that has not begun, so that a change need not wait for the pool to have room.
    pub(crate) fn recall_views(&mut self) {
        for waiting in self.waiting.drain(..).filter_map(|waiting| waiting.upgrade()) {
            drop(take(&waiting));
        }
    }

    /// Takes a request back.
    pub(crate) fn cancel(&self, id: &RequestId) {
        self.answer_all(|read| read.id == *id, Failure::Cancelled);
    }

    /// Ends the reads that an edit of `uri` has made worthless.
    pub(crate) fn edited(&self, uri: &DocumentUri) {
        self.answer_all(|read| read.outdated_by_edits && read.uri == *uri, Failure::ContentModified);
    }

    fn answer_all(&self, which: impl Fn(&PendingRead) -> bool, failure: Failure) {
        let answered: Vec<PendingRead> =
            self.pending.lock().extract_if(|_, read| which(read)).map(|(_, read)| read).collect();
        for read in answered {
            send(read.answer, Err(failure.clone()));
        }
    }
}

fn take(waiting: &Waiting) -> Option<Views> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner).take()
}

fn hold(owner: &Mailbox<ReadMessage>, pending: &Pending, attempt: Attempt, state: u64) {
    let ticket = attempt.ticket;
    if !owner.send(ReadMessage::NothingNew(attempt, state)) {
        pending.answer(ticket, Err(Failure::Cancelled));
    }
}

fn try_again(owner: &Mailbox<ReadMessage>, pending: &Pending, attempt: Attempt) {
    let ticket = attempt.ticket;
    if !owner.send(ReadMessage::Retry(attempt)) {
        pending.answer(ticket, Err(Failure::ContentModified));
    }
}
