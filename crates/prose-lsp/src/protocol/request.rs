//! Requests of the client: their ids and parameters, and how they are answered.

use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::oneshot;

use crate::panics::Panicked;
use crate::protocol::json::Json;
use crate::protocol::lsp::Uri;
use crate::protocol::uri::DocumentUri;

/// The name that a request has in place of a document's if it is about none.
pub(crate) const ANYWHERE: &str = "";

/// The request for the diagnostics of all programs, which clients make again and again.
pub(crate) const NEWS: &str = "workspace/diagnostic";

/// The id of a request, as the client chose it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RequestId {
    Number(i64),
    Text(String),
    Null,
}

/// Why a request has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The client took the request back.
    Cancelled,
    /// The document was edited before the read was done.
    ContentModified,
    /// The document is not open.
    NotOpen(DocumentUri),
    /// There is no news yet, and the request waits for some. No client is told this.
    NothingNew,
    /// What is asked for cannot be done, and why.
    Refused(String),
    /// Another request with this id has no answer yet.
    DuplicateId,
    /// The work panicked.
    Panicked(Panicked),
}

/// Where the answer to a request goes.
pub(crate) type Answer = oneshot::Sender<Result<Json, Failure>>;

/// Gives an answer. Nobody waits for it any more when the connection is gone.
pub(crate) fn send(answer: Answer, result: Result<Json, Failure>) {
    let _ = answer.send(result);
}

/// Answers a request with a refusal.
pub(crate) fn refuse(answer: Answer, reason: impl Into<String>) {
    send(answer, Err(Failure::Refused(reason.into())));
}

/// Decodes the parameters of a request or notification.
pub(crate) fn decode<T: DeserializeOwned>(params: Value) -> serde_json::Result<T> {
    serde_json::from_value(params)
}

pub(crate) fn name(uri: &Uri) -> DocumentUri {
    uri.as_str().into()
}
