//! Requests of the client: their ids and parameters, and how they are answered.

use std::borrow::Cow;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::panics::Panicked;
use crate::protocol::lsp::Uri;
use crate::protocol::uri::DocumentUri;

/// The name that a request has in place of a document's if it is about none.
pub(crate) const ANYWHERE: &str = "";

/// The request for the diagnostics of all programs, which clients make again and again.
pub(crate) const WORKSPACE_DIAGNOSTIC: &str = "workspace/diagnostic";

/// The request for lenses, which test files have as well as programs.
pub(crate) const CODE_LENS: &str = "textDocument/codeLens";

/// The request for the command of a lens.
pub(crate) const RESOLVE_CODE_LENS: &str = "codeLens/resolve";

/// The request for completions, likewise.
pub(crate) const COMPLETION: &str = "textDocument/completion";

/// The request for documentation at a position, likewise.
pub(crate) const HOVER: &str = "textDocument/hover";

/// The id of a request, as the client chose it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum RequestId {
    Number(i64),
    Text(String),
    Null,
}

/// Why a request has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The client cancelled the request.
    Cancelled,
    /// The document was edited before the read was done.
    ContentModified,
    /// The document is not open.
    NotOpen(DocumentUri),
    /// There are no changes yet, and the request waits for some. Never sent to a client.
    NothingNew,
    /// The request cannot be fulfilled, with the reason.
    Refused(String),
    /// Another request with this id has no answer yet.
    DuplicateId,
    /// The work panicked.
    Panicked(Panicked),
    /// The request was dropped without an answer, which is a bug.
    Dropped,
    /// No request has this method.
    MethodNotFound(String),
    /// The parameters are wrong.
    InvalidParams(String),
    /// The request came at the wrong time, or is no request.
    InvalidRequest(String),
    /// A request came before `initialize`.
    NotInitialized(String),
    /// The message cannot be read.
    Unreadable(String),
}

impl Failure {
    /// The code of the protocol, and the message for the client.
    pub(crate) fn code_and_message(&self) -> (i64, Cow<'_, str>) {
        match self {
            Failure::Cancelled => (REQUEST_CANCELLED, "the request was cancelled".into()),
            Failure::ContentModified => {
                (CONTENT_MODIFIED, "the document was edited while the answer was being made".into())
            }
            Failure::NotOpen(uri) => {
                (INVALID_PARAMS, format!("{uri} is not open; `textDocument/didOpen` must come first").into())
            }
            Failure::NothingNew => (REQUEST_CANCELLED, "there is nothing new".into()),
            Failure::Refused(reason) => (REQUEST_FAILED, reason.into()),
            Failure::DuplicateId => {
                (INVALID_REQUEST, "another request with this id has not been answered yet".into())
            }
            Failure::Panicked(panicked) => (INTERNAL_ERROR, panicked.to_string().into()),
            Failure::Dropped => {
                (INTERNAL_ERROR, "the server could not answer this request; see its log".into())
            }
            Failure::MethodNotFound(message) => (METHOD_NOT_FOUND, message.into()),
            Failure::InvalidParams(message) => (INVALID_PARAMS, message.into()),
            Failure::InvalidRequest(message) => (INVALID_REQUEST, message.into()),
            Failure::NotInitialized(message) => (SERVER_NOT_INITIALIZED, message.into()),
            Failure::Unreadable(message) => (PARSE_ERROR, message.into()),
        }
    }
}

const PARSE_ERROR: i64 = -32700;
const INVALID_REQUEST: i64 = -32600;
const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;
const INTERNAL_ERROR: i64 = -32603;
const SERVER_NOT_INITIALIZED: i64 = -32002;
const REQUEST_FAILED: i64 = -32803;
const REQUEST_CANCELLED: i64 = -32800;
const CONTENT_MODIFIED: i64 = -32801;

/// Decodes the parameters of a request or notification.
pub(crate) fn decode<T: DeserializeOwned>(params: Value) -> serde_json::Result<T> {
    serde_json::from_value(params)
}

pub(crate) fn name(uri: &Uri) -> DocumentUri {
    uri.as_str().into()
}
