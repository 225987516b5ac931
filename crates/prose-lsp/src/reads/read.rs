//! Requests that look at documents.

use std::sync::Arc;

use crate::documents::snapshot::Snapshot;
use crate::protocol::answer::Answer;
use crate::protocol::json::Json;
use crate::protocol::lsp::Position;
use crate::protocol::request::{Failure, RequestId};
use crate::protocol::session::Session;
use crate::protocol::uri::DocumentUri;
use crate::reads::views::Views;

/// The work that answers a request.
pub(crate) enum Work {
    /// Work on the tree of the document alone. Edits do not wait for it.
    Tree(TreeWork),
    /// Work on the analysis. The next edit of any document cancels it, and it is retried if
    /// the answer is still wanted.
    Analysis(AnalysisWork),
}

/// Work that is done once.
pub(crate) type TreeWork = Box<dyn FnOnce(&[Snapshot], &Session) -> Json + Send>;

/// Work that may be done several times.
pub(crate) type AnalysisWork = Arc<dyn Fn(&Views) -> Result<Json, Failure> + Send + Sync>;

/// A request that only looks at one document.
pub(crate) struct Read {
    pub(crate) id: RequestId,
    pub(crate) method: &'static str,
    pub(crate) uri: DocumentUri,
    /// The position that it is about, if it is about one.
    pub(crate) position: Option<Position>,
    /// Whether an edit of the document makes the answer worthless.
    pub(crate) outdated_by_edits: bool,
    pub(crate) work: Work,
    /// The answer about a document that is no program.
    pub(crate) nothing: fn() -> Json,
    pub(crate) answer: Answer,
}

/// Work on its way to an answer.
pub(crate) struct Attempt {
    pub(super) ticket: u64,
    pub(super) method: &'static str,
    pub(crate) uri: DocumentUri,
    pub(super) work: AnalysisWork,
}

impl Attempt {
    /// The method of the request.
    pub(crate) fn method(&self) -> &'static str {
        self.method
    }
}

/// A message to the owner about requests that look at documents.
pub(crate) enum ReadMessage {
    /// Answer a request.
    Start(Read),
    /// The client cancelled a request.
    Cancel(RequestId),
    /// An edit ended a read whose answer is still wanted.
    Retry(Attempt),
    /// A request for news found none in the state of the server with this number.
    NothingNew(Attempt, u64),
    /// The requests for news can be tried again.
    NewsDue,
}
